/// First passage of the mean field, and what it is made of.

#include "attica/theory/bigrams/passage.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>
#include <random>

#include "attica/theory/bigrams/boosting.hpp"
#include "attica/theory/bigrams/recursion.hpp"
#include "theory/bigrams/reference.hpp"

namespace bigrams_passage_test {

using namespace attica;
using namespace attica::testing;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

TEST_CASE("bigram passage: the rounded error without noise, from the matrices",
          "[theory][bigrams]") {
  // Without noise and with weights everywhere, A, V and what rounding makes of them can be written
  // down entry by entry. (The law of entries off the support has a grid as wide as its noise.)
  const std::vector<SparseColumn> weights(3, {{0, 1, 2, 3}, {0.1, 0.2, 0.3, 0.4}});
  const BigramModel model(tiny_model().chain(), 4, 4, weights);
  const VectorXd& mu = model.stationary();
  const MatrixXd start = transfer_start(model, 0.7, model.transition());
  constexpr double kEta = 0.1;
  constexpr double kLambda = 0.01;
  L1MeanField field(model, {kEta, kEta}, 1e12, kLambda, start);
  MatrixXd v = start;
  MatrixXd a = uniform_attention(model);
  const MatrixXd q = model.dense_attention();
  const Index n = model.tokens();
  const Index t = model.context();
  for (int step = 0; step < 30; ++step) {
    field.step();
    const double k_v = (v * model.covariance() * v.transpose()).trace();
    const double k_vp = (v * model.covariance() * model.transition().transpose()).trace();
    const AttentionSums s = attention_sums(model, a);
    MatrixXd gradient_v = mu.dot(s.norm2) * v - mu.dot(s.overlap) * model.transition();
    gradient_v.colwise() -= (gradient_v * mu).eval();
    gradient_v.rowwise() -= gradient_v.colwise().mean().eval();
    MatrixXd next = a;
    for (Index k = 0; k < n; ++k) {
      VectorXd gradient = k_v * a.col(k) - k_vp * q.col(k);
      gradient.array() -= (k_v * s.sum[k] - k_vp) / static_cast<double>(t);
      next.col(k) -= kEta * gradient;
    }
    a = next.unaryExpr(
        [](double x) { return std::copysign(std::max(std::abs(x) - kEta * kLambda, 0.0), x); });
    v -= kEta * gradient_v;
  }
  const double k_v = (v * model.covariance() * v.transpose()).trace();
  double c = 0;
  double attention = 0;
  for (Index k = 0; k < n; ++k) {
    VectorXd kept = (q.col(k).array() > 0).select((a.col(k).array() + kLambda / k_v).matrix(), 0);
    const double sum = kept.sum();
    c += mu[k] * sum;
    attention += mu[k] * (kept / sum - q.col(k)).squaredNorm();
  }
  const MatrixXd value = (c * (v.colwise() - mu)).colwise() + mu;
  const BigramRounding found = field.rounded();
  CHECK(found.value ==
        Approx((value - model.transition()).colwise().squaredNorm().dot(mu) / model.k_p())
            .epsilon(1e-6));
  CHECK(found.attention == Approx(attention / model.k_q()).epsilon(1e-6));
  CHECK(found.alpha_v == Approx(bigram_value_state(model, value).alpha_v).epsilon(1e-6));
}

TEST_CASE("bigram passage: the rounded error with noise of V, averaged over its draws",
          "[theory][bigrams]") {
  // A rests at Q less the bias of l1, V has noise; every draw adds λ over the K_V that it has.
  const BigramModel model = circulant_model(3, 0.8, 2, 100);
  constexpr double kLambda = 0.02;
  constexpr double kEta = 0.02;
  constexpr double kHardly = 1e-5;  // the rate of A
  L1MeanField field(model, {kEta, kHardly}, 16, kLambda, {1, 1, 0, 0}, 0);
  constexpr int kSteps = 150;
  for (int n = 0; n < kSteps; ++n) field.step();
  const double k_p = model.k_p();
  const double remainder = field.noise_v() - k_p * field.noise_alpha();
  REQUIRE(remainder > 0);
  REQUIRE(field.noise_alpha() > 0);
  // Half of a column sits at either position of its support: Σ (a + λ/K_V) = 1 + 2 λ/K_V.
  const double alpha = field.alpha_v();
  double value = 0;
  double signal = 0;
  constexpr int kNodes = 20001;  // of the normal law of α_V, a rule of rectangles over 8 deviations
  constexpr double kReach = 8;
  constexpr double kWidth = 2 * kReach / (kNodes - 1);
  for (int i = 0; i < kNodes; ++i) {
    const double z = -kReach + kWidth * i;
    const double weight = kWidth * std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
    const double drawn = alpha + z * std::sqrt(field.noise_alpha());
    const double c = 1 + 2 * kLambda / (drawn * drawn * k_p + remainder);
    value += weight * ((c * drawn - 1) * (c * drawn - 1) * k_p + c * c * remainder);
    signal += weight * c * drawn;
  }
  const BigramRounding found = field.rounded();
  // The third order of the noise and what A has moved are below 0.2 %.
  CHECK(found.value == Approx(value / k_p).epsilon(0.002));
  CHECK(found.alpha_v == Approx(signal).epsilon(2e-4));
  // Without it the error would be that of two independent factors.
  const double mean = 1 + 2 * kLambda / field.k_v();
  const double apart = mean * mean * field.k_v() - 2 * mean * field.k_vp() + k_p;
  CHECK(apart / k_p > 1.005 * found.value);
}

TEST_CASE("bigram passage: rounding keeps the support as often as draws do", "[theory][bigrams]") {
  // A field that starts at the truth, with noise of A: entries drawn from its laws.
  const BigramModel model = circulant_model(3, 0.8, 2, 100);
  constexpr double kVariance = 0.0125;  // of every entry: some miss the support, some exceed it
  constexpr double kTail = 0.02;
  L1MeanField field(model,
                    {0.05, 0.05},
                    64,
                    0.01,
                    {.alpha_v = 1, .alpha_a = 1, .d_v = 0, .d_a = 100 * kVariance},
                    0);
  std::mt19937 random(1);
  std::normal_distribution<double> normal(0, std::sqrt(kVariance));
  constexpr int kDraws = 20000;
  int kept = 0;
  // The largest entry is taken to be that of the largest mean: of two equal means the first.
  for (int draw = 0; draw < kDraws; ++draw) {
    bool right = true;
    for (int column = 0; column < 3; ++column) {
      const double most = 0.5 + normal(random);
      right = right && 0.5 + normal(random) >= 0.5 * most;
    }
    kept += right ? 1 : 0;
  }
  // Off the support, 98 entries in each of three columns against a quarter, the half of 0.5.
  const double beyond = 0.5 * std::erfc(0.25 / std::sqrt(2 * kVariance));
  CHECK(beyond < kTail);
  const double expected = static_cast<double>(kept) / kDraws * std::pow(1 - beyond, 3 * 98);
  // The grid moves its edge by half a cell, 2 % of the deviation.
  CHECK(std::log(field.rounding_probability(0.5)) == Approx(std::log(expected)).epsilon(0.08));
}

TEST_CASE("bigram passage: steps without noise, and their average", "[theory][bigrams]") {
  const BigramModel model = circulant_model(3, 0.8, 2, 400);
  PassageTask task{.rates = {0.02, 0.02},
                   .batch = 1e9,
                   .lambda = 0,
                   .theta = 0.2,
                   .epsilon = 0.05,
                   .most_steps = 20000};
  // Whole steps of descent close in α_V and α_A. Rounding gives V the sum of the kept entries:
  // c = (1 - α_A) Q/T + α_A, error (1 - c α_V)².
  double alpha_v = 0;
  double alpha_a = 0;
  double before = 1;
  double error = 1;
  double steps = 0;
  for (; error >= task.epsilon; ++steps) {
    before = error;
    const double nbar = 1.0 / 400 + alpha_a * alpha_a * model.k_q();
    const double next_v = alpha_v + 0.02 * (1.0 / 400 + alpha_a * model.k_q() - nbar * alpha_v);
    alpha_a += 0.02 * model.k_p() * (alpha_v - alpha_v * alpha_v * alpha_a);
    alpha_v = next_v;
    const double c = (1 - alpha_a) * 2 / 400 + alpha_a;
    error = (1 - c * alpha_v) * (1 - c * alpha_v);
  }
  const double exact = steps - 1 + std::log(before / task.epsilon) / std::log(before / error);
  CHECK(passage_from_scratch(model, task) == Approx(exact).epsilon(1e-4));
  // l1 stage alone, from the standard start: the law off the support has a grid as wide as its
  // noise, so that almost without noise the entries 1/T are lost to the sums, 2 in 1000 of the
  // steps.
  CHECK(passage_after_transfer(model, task, stationary_value(model)) ==
        Approx(exact).epsilon(3e-3));
  // Where the amplitude is normal the time is shorter by ln(1 + z/snr)/ω, averaged.
  task.batch = BoostingTheory(constants(model), task.rates).batch_for(6, model.kappa_v());
  double delay = 0;
  double total = 0;
  for (double z = -4; z <= 4; z += 0.01) {
    const double weight = std::exp(-z * z / 2);
    delay -= weight * std::log(1 + z / 6) / BoostingTheory(constants(model), task.rates).omega();
    total += weight;
  }
  PassageTask typical = task;
  double middle = 0;
  {
    const BigramRecursion boosted = boosted_recursion(model, task.rates, task.batch, task.theta);
    middle =
        static_cast<double>(boosted.steps()) +
        passage_steps(L1MeanField(model, task.rates, task.batch, 0, boosted.signals(), 0), task);
  }
  // Growth is (1 + ω) a step, not e^ω, and stage 1 ends at a whole step: half a step in 1.5.
  CHECK(passage_from_scratch(model, task) - middle == Approx(delay / total).margin(0.6));
  typical.most_steps = 1;
  CHECK(std::isnan(passage_from_scratch(model, typical)));
}

}  // namespace bigrams_passage_test
