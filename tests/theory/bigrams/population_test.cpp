#include "attica/theory/bigrams/population.hpp"

#include <Eigen/Eigenvalues>
#include <catch2/catch.hpp>
#include <functional>

#include "attica/theory/bigrams/flow.hpp"
#include "finite_differences.hpp"
#include "theory/bigrams/reference.hpp"

namespace bigrams_population_test {

using namespace attica;
using namespace attica::testing;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kExact = 1e-12;  // relative to the largest entry: sums of a few hundred terms

void check_close(const MatrixXd& found, const MatrixXd& expected, double tolerance = kExact) {
  REQUIRE(found.rows() == expected.rows());
  REQUIRE(found.cols() == expected.cols());
  const double error = (found - expected).cwiseAbs().maxCoeff();
  CAPTURE(found, expected, error);
  CHECK(error <= tolerance * expected.cwiseAbs().maxCoeff());
}

/// Calls visit(probability, X one-hot N x T, k, y) for every sequence and next token.
void enumerate(const BigramModel& model,
               const std::function<void(double, const MatrixXd&, Index, Index)>& visit) {
  const Index n = model.tokens();
  const Index t = model.context();
  const MatrixXd q = model.dense_attention();
  Index sequences = 1;
  for (Index i = 0; i < t; ++i) sequences *= n;
  for (Index code = 0; code < sequences; ++code) {
    MatrixXd x = MatrixXd::Zero(n, t);
    double weight = 1;
    for (Index i = 0, rest = code; i < t; ++i, rest /= n) {
      x(rest % n, i) = 1;
      weight *= model.stationary()[rest % n];
    }
    for (Index k = 0; k < n; ++k) {
      const VectorXd law = model.transition() * x * q.col(k);
      for (Index y = 0; y < n; ++y) visit(weight * model.stationary()[k] * law[y], x, k, y);
    }
  }
}

struct Enumerated {
  double loss = 0;
  BigramGradient gradient;
  std::vector<MatrixXd> residual;         // E[r r^T | k]
  std::vector<MatrixXd> attention_noise;  // E[g g^T | k]
  VectorXd value_noise;                   // E[|r (u/μ - s)ᵀ|²_μ | k]
  double value_noise_along = 0;           // along P, over all k
};

Enumerated enumerated(const BigramModel& model, const MatrixXd& v, const MatrixXd& a) {
  const Index n = model.tokens();
  const Index t = model.context();
  const auto columns = static_cast<std::size_t>(n);
  Enumerated e{0,
               {MatrixXd::Zero(n, n), MatrixXd::Zero(t, n)},
               std::vector<MatrixXd>(columns, MatrixXd::Zero(n, n)),
               std::vector<MatrixXd>(columns, MatrixXd::Zero(t, t)),
               VectorXd::Zero(n)};
  const VectorXd& mu = model.stationary();
  enumerate(model, [&](double p, const MatrixXd& x, Index k, Index y) {
    const VectorXd u = x * a.col(k);
    VectorXd r = v * u;
    r[y] -= 1;
    const VectorXd g = x.transpose() * v.transpose() * r;
    const VectorXd g_centred = (x.colwise() - mu).transpose() * v.transpose() * r;
    e.loss += p * 0.5 * r.squaredNorm();
    e.gradient.value += p * r * u.transpose();
    e.gradient.attention.col(k) += p * g;
    e.residual[static_cast<std::size_t>(k)] += p / mu[k] * r * r.transpose();
    e.attention_noise[static_cast<std::size_t>(k)] += p / mu[k] * g_centred * g_centred.transpose();
    const VectorXd hat = u.cwiseQuotient(mu).array() - a.col(k).sum();
    e.value_noise[k] += p / mu[k] * r.squaredNorm() * hat.cwiseAbs2().dot(mu);
    const MatrixXd truth = model.transition().colwise() - mu;
    const MatrixXd noise = r * hat.transpose();
    e.value_noise_along += p * std::pow((truth.cwiseProduct(noise) * mu).sum(), 2) / model.k_p();
  });
  return e;
}

/// All positions of a column.
AttendedColumn attended_column(const BigramModel& model, const MatrixXd& a, Index k) {
  const AttentionSums sums = attention_sums(model, a);
  return {a.col(k), model.dense_attention().col(k), sums.sum[k], sums.norm2[k], sums.overlap[k]};
}

TEST_CASE("bigram population: every expectation equals the enumeration of all sequences",
          "[theory][bigrams]") {
  const BigramModel model = tiny_model();
  for (const char* name : {"tiny", "tiny_constrained"}) {
    const Reference reference = reference_values("bigrams")["population"][name];
    const MatrixXd v = matrix(reference["V"]);
    const MatrixXd a = matrix(reference["A"]);
    const AttentionSums sums = attention_sums(model, a);
    const Enumerated e = enumerated(model, v, a);
    CHECK(bigram_state(model, v, sums).loss == Approx(e.loss).epsilon(kExact));
    const BigramGradient g = population_gradient(model, v, a);
    check_close(g.value, e.gradient.value);
    check_close(g.attention, e.gradient.attention);
    const NoiseMoments moments = value_moments(model, v);
    std::vector<AttendedColumn> columns;
    for (Index k = 0; k < model.tokens(); ++k) columns.push_back(attended_column(model, a, k));
    const TruthMoments truth = truth_moments(model);
    const MatrixXd along = truth.w.transpose() * (v.colwise() - moments.v);
    CHECK(value_noise_along(model, truth, along, moments, columns) ==
          Approx(e.value_noise_along).epsilon(kExact));
    for (Index k = 0; k < model.tokens(); ++k) {
      check_close(residual_covariance(model, moments, sums.sum[k], sums.norm2[k], sums.overlap[k]),
                  e.residual[static_cast<std::size_t>(k)]);
      const AttendedColumn& column = columns[static_cast<std::size_t>(k)];
      check_close(attention_noise(model, v, moments, column),
                  e.attention_noise[static_cast<std::size_t>(k)]);
      CHECK(value_noise(model, moments, column) == Approx(e.value_noise[k]).epsilon(kExact));
    }
  }
}

TEST_CASE("bigram population: reference values", "[theory][bigrams]") {
  const BigramModel model = tiny_model();
  for (const char* name : {"tiny", "tiny_constrained"}) {
    const Reference reference = reference_values("bigrams")["population"][name];
    const MatrixXd v = matrix(reference["V"]);
    const MatrixXd a = matrix(reference["A"]);
    const AttentionSums sums = attention_sums(model, a);
    const BigramState s = bigram_state(model, v, sums);
    CHECK(s.loss == Approx(reference["loss"].get<double>()).epsilon(kExact));
    CHECK(s.excess_loss ==
          Approx(reference["loss"].get<double>() - reference["loss_min"].get<double>())
              .epsilon(1e-11));  // the reference loses a digit in this difference
    CHECK(model.bayes_loss() == Approx(reference["loss_min"].get<double>()).epsilon(kExact));
    CHECK(model.initial_loss() == Approx(reference["loss_init"].get<double>()).epsilon(kExact));
    CHECK(model.k_p() == Approx(reference["K_P"].get<double>()).epsilon(kExact));
    CHECK(model.k_q() == Approx(reference["K_Q"].get<double>()).epsilon(kExact));
    CHECK(s.alpha_v == Approx(reference["alpha_V"].get<double>()).epsilon(kExact));
    CHECK(s.alpha_a == Approx(reference["alpha_A"].get<double>()).epsilon(kExact));
    CHECK(s.d_v == Approx(reference["d_V"].get<double>()).epsilon(kExact));
    CHECK(s.d_a == Approx(reference["d_A"].get<double>()).epsilon(kExact));
    const BigramGradient g = population_gradient(model, v, a);
    check_close(g.value, matrix(reference["grad_V"]));
    check_close(g.attention, matrix(reference["grad_A"]));
    const BigramGradient hat = population_hat_gradient(model, v, a);
    check_close(hat.value, matrix(reference["hat_grad_V"]));
    check_close(hat.attention, matrix(reference["hat_grad_A"]));
    for (Index k = 0; k < model.tokens(); ++k) {
      check_close(attention_noise(model, v, value_moments(model, v), attended_column(model, a, k)),
                  matrix(reference["A_second_moment_unprojected"][static_cast<std::size_t>(k)]));
    }
  }
}

TEST_CASE("bigram population: gradients equal finite differences of the loss",
          "[theory][bigrams]") {
  const BigramModel model = tiny_model();
  MatrixXd v = matrix(reference_values("bigrams")["population"]["tiny"]["V"]);
  MatrixXd a = matrix(reference_values("bigrams")["population"]["tiny"]["A"]);
  const BigramGradient g = population_gradient(model, v, a);
  const auto loss = [&] { return bigram_state(model, v, attention_sums(model, a)).loss; };
  testing::check_gradient(loss, testing::entries(v), testing::entries(g.value));
  testing::check_gradient(loss, testing::entries(a), testing::entries(g.attention));
}

TEST_CASE("bigram population: the truth and its mirror", "[theory][bigrams]") {
  const BigramModel model = tiny_model();
  const MatrixXd q = model.dense_attention();
  const BigramState truth = bigram_state(model, model.transition(), attention_sums(model, q));
  CHECK(truth.excess_loss == Approx(0).margin(1e-15));
  CHECK(truth.alpha_v == Approx(1));
  CHECK(truth.distance_a2 == Approx(0).margin(1e-15));
  const MatrixXd mirror_v = 2 * stationary_value(model) - model.transition();
  const MatrixXd mirror_a =
      MatrixXd::Constant(q.rows(), q.cols(), 2.0 / static_cast<double>(q.rows())) - q;
  const BigramState mirror = bigram_state(model, mirror_v, attention_sums(model, mirror_a));
  CHECK(mirror.excess_loss ==
        Approx(2 * model.k_p() / static_cast<double>(model.context())).epsilon(kExact));
  CHECK(mirror.alpha_v == Approx(-1));
}

TEST_CASE("bigram population: noise of V averaged over steps", "[theory][bigrams]") {
  // Followed step by step: variance of x' = keep x + z, of the sum over the last half, and of both.
  const BigramModel model = tiny_model();
  constexpr double kEta = 0.3;
  constexpr double kBatch = 8;
  constexpr int kSteps = 7;
  const Enumerated e = enumerated(model, model.transition(), model.dense_attention());
  const double z = kEta * kEta / kBatch * e.value_noise.dot(model.stationary());
  const double keep = 1 - kEta * model.stationary().dot(model.attention_norm2());
  double x2 = 0;
  double sum2 = 0;
  double mixed = 0;
  for (int step = 0; step < kSteps; ++step) {
    x2 = keep * keep * x2 + z;
    mixed *= keep;
    if (step < kSteps / 2) continue;
    sum2 += 2 * mixed + x2;
    mixed += x2;
  }
  CHECK(averaged_value_noise(model, kEta, kBatch, kSteps) == Approx(sum2 / 16).epsilon(1e-12));
}

TEST_CASE("bigram population: rate limit of the attention matrix", "[theory][bigrams]") {
  const Reference check = reference_values("bigrams")["l1_stability"]["check"];
  const BigramModel model = circulant_model(3, 0.8, 2, 300);
  CHECK(attention_rate_limit(model, model.transition(), 16) ==
        Approx(check["limit"].get<double>()).epsilon(kExact));
}

/// Steps with softmax attention from V = P and logits that are off by 1e-3 at the positions of Q:
/// the distance of A from Q after them over the one before.
double distance_kept(const BigramModel& model, double eta_w) {
  const MatrixXd q = model.dense_attention();
  constexpr double kNowhere = -60;  // logit of a position without weight
  MatrixXd logits = (q.array() > 0).select(q.array().max(1e-300).log(), kNowhere);
  for (Index k = 0; k < model.tokens(); ++k)
    logits(model.attention()[static_cast<std::size_t>(k)].positions.front(), k) += 1e-3;
  MatrixXd value = model.transition();
  const double before = (column_softmax(logits) - q).norm();
  for (int step = 0; step < 100; ++step) softmax_descent_step(model, 0.01, eta_w, value, logits);
  return (column_softmax(logits) - q).norm() / before;
}

TEST_CASE("bigram population: rate limit of softmax attention's logits", "[theory][bigrams]") {
  // Two equal weights: J has the eigenvalue 1/2.
  const BigramModel pair = circulant_model(3, 0.8, 2, 300);
  CHECK(logit_rate_limit(pair) == Approx(8 / pair.k_p()).epsilon(kExact));
  const BigramModel single = circulant_model(3, 0.8, 1, 300);
  CHECK(std::isinf(logit_rate_limit(single)));

  RandomStream stream({.seed = 5, .id = StreamId::model});
  const BigramModel model(cyclic_chain(3, 0.95, 2.5),
                          40,
                          4,
                          random_attention(3, 40, 4, AttentionWeights::random, stream));
  double largest = 0;
  for (const SparseColumn& column : model.attention()) {
    const VectorXd q = Eigen::Map<const VectorXd>(column.weights.data(), 4);
    const MatrixXd j = MatrixXd(q.asDiagonal()) - q * q.transpose();
    largest =
        std::max(largest, Eigen::SelfAdjointEigenSolver<MatrixXd>(j).eigenvalues().maxCoeff());
  }
  const double limit = logit_rate_limit(model);
  CHECK(limit == Approx(2 / (model.k_p() * largest * largest)).epsilon(1e-10));

  // Descent itself: deviations change sign and shrink below it, grow above. V follows at a rate
  // that moves it too little to matter.
  for (const BigramModel& m : {pair, model}) {
    CHECK(distance_kept(m, 0.9 * logit_rate_limit(m)) < 0.5);
    CHECK(distance_kept(m, 1.1 * logit_rate_limit(m)) > 2);
  }
}

TEST_CASE("bigram population: softmax attention leaves one of two positions in a time 1/a",
          "[theory][bigrams]") {
  // There V = μ1ᵀ + (P - μ1ᵀ)/2, and d(1/a)/dn = -η_w K_P/2 for the attention a at the other one:
  // its gradient is -K_P/4, and J² moves both logits apart.
  const BigramModel model = circulant_model(3, 0.8, 2, 300);
  constexpr double kEta = 0.5;
  constexpr double kEtaW = 1;
  constexpr double kOther = 1e-4;
  MatrixXd logits = MatrixXd::Constant(300, 3, -60);
  for (Index k = 0; k < 3; ++k) {
    const std::vector<Index>& positions = model.attention()[static_cast<std::size_t>(k)].positions;
    logits(positions[0], k) = 0;
    logits(positions[1], k) = std::log(kOther);
  }
  MatrixXd value = (model.transition() + stationary_value(model)) / 2;
  constexpr int kSteps = 25000;
  for (int n = 0; n < kSteps; ++n) softmax_descent_step(model, kEta, kEtaW, value, logits);
  const double a = column_softmax(logits)(model.attention()[0].positions[1], 0);
  // Next order in a: a share of a few a = 1.7e-4.
  CHECK(1 / a == Approx(1 / kOther - kSteps * kEtaW * model.k_p() / 2).epsilon(2e-3));
  CHECK(a > 1.5 * kOther);
}

TEST_CASE("bigram population: descent with linear and with softmax attention",
          "[theory][bigrams]") {
  const Reference r = reference_values("bigrams")["misc_deterministic"]["softmax_vs_linear"];
  const double eta = r["eta"].get<double>();
  const auto t = r["T"].get<double>();
  const BigramModel model = circulant_model(3, 0.8, 2, r["T"].get<Index>());
  std::vector<std::int64_t> steps;
  for (std::size_t row = 0; row < 5; ++row) {
    steps.push_back(r["softmax"][row][0].get<std::int64_t>());
  }
  const SoftmaxDescent with_softmax = softmax_descent(model, eta, t * t * eta, steps);
  const std::vector<BigramState> without =
      full_descent(model, {eta, eta}, stationary_value(model), uniform_attention(model), steps);
  for (std::size_t row = 0; row < 5; ++row) {
    const BigramState& soft = with_softmax.states[row];
    const BigramState& linear = without[row];
    // Rounding grows with the instability, e^{omega t}.
    CHECK(soft.alpha_v == Approx(r["softmax"][row][1].get<double>()).epsilon(1e-8).margin(1e-12));
    CHECK(soft.alpha_a == Approx(r["softmax"][row][2].get<double>()).epsilon(1e-8).margin(1e-12));
    CHECK(linear.alpha_v == Approx(r["linear"][row][1].get<double>()).epsilon(1e-8).margin(1e-12));
    CHECK(linear.alpha_a == Approx(r["linear"][row][2].get<double>()).epsilon(1e-8).margin(1e-12));
  }
}

}  // namespace bigrams_population_test
