/// Reference values of the sparse contextual bigrams that no other test uses.

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/theory/bigrams/boosting.hpp"
#include "attica/theory/bigrams/flow.hpp"
#include "attica/theory/bigrams/population.hpp"
#include "attica/theory/bigrams/recursion.hpp"
#include "theory/bigrams/reference.hpp"

namespace bigrams_values_test {

using namespace attica;
using namespace attica::testing;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kExact = 1e-12;
constexpr double kNoNoise = std::numeric_limits<double>::infinity();

void check_close(const MatrixXd& found, const MatrixXd& expected, double tolerance = 1e-14) {
  CAPTURE(found, expected);
  CHECK((found - expected).cwiseAbs().maxCoeff() <= tolerance);
}

BigramModel circulant(Reference r) {
  return circulant_model(
      r["N"].get<Index>(), number(r["p_diag"]), r["Qs"].get<Index>(), r["T"].get<Index>());
}

TEST_CASE("bigram values: residual covariances and the traces of the noise", "[theory][bigrams]") {
  const BigramModel model = tiny_model();
  for (const char* name : {"tiny", "tiny_constrained"}) {
    const Reference reference = reference_values("bigrams")["population"][name];
    const MatrixXd v = matrix(reference["V"]);
    const AttentionSums sums = attention_sums(model, matrix(reference["A"]));
    for (Index k = 0; k < model.tokens(); ++k) {
      check_close(residual_covariance(
                      model, value_moments(model, v), sums.sum[k], sums.norm2[k], sums.overlap[k]),
                  matrix(reference["R"][static_cast<std::size_t>(k)]));
    }
  }
  const Reference r = reference_values("bigrams")["noise_tiny_constrained"];
  const Reference point = reference_values("bigrams")["population"]["tiny_constrained"];
  const MatrixXd v = matrix(point["V"]);
  const MatrixXd a = matrix(point["A"]);
  const AttentionSums sums = attention_sums(model, a);
  const BigramState state = bigram_state(model, v, sums);
  CHECK(state.k_v == Approx(number(r["K_V"])).epsilon(kExact));
  CHECK(state.k_vp == Approx(number(r["K_VP"])).epsilon(kExact));
  const NoiseMoments moments = value_moments(model, v);
  check_close(moments.s_v, matrix(r["S_V"]));
  CHECK(moments.s_v.cwiseProduct(model.covariance()).sum() ==
        Approx(number(r["traces"]["SV_Sigma"])).epsilon(kExact));
  CHECK(moments.s_v.squaredNorm() == Approx(number(r["traces"]["SV2"])).epsilon(kExact));
  CHECK(0.5 * moments.s_v.cwiseProduct(moments.cross).sum() ==
        Approx(number(r["traces"]["SV_VSP"])).epsilon(kExact));
  MatrixXd r_v = MatrixXd::Zero(3, 3);
  const VectorXd& mu = model.stationary();
  for (Index k = 0; k < model.tokens(); ++k) {
    const MatrixXd residual =
        residual_covariance(model, moments, sums.sum[k], sums.norm2[k], sums.overlap[k]);
    CHECK(moments.s_v.cwiseProduct(residual).sum() / mu[k] ==
          Approx(number(r["sigma2_off_support_per_sample"][static_cast<std::size_t>(k)]))
              .epsilon(kExact));
    r_v += mu[k] * sums.norm2[k] * residual;
  }
  check_close(r_v / mu.dot(sums.norm2), matrix(r["R_bar"]));
  // Traces weighted by μ; on the constraint set column means of r uᵀ vanish.
  CHECK(2 * r_v.trace() == Approx(number(r["V_noise_trace_kron"])).epsilon(kExact));
  double trace = 0;
  for (Index k = 0; k < model.tokens(); ++k) {
    trace += mu[k] * value_noise(model,
                                 moments,
                                 {a.col(k),
                                  model.dense_attention().col(k),
                                  sums.sum[k],
                                  sums.norm2[k],
                                  sums.overlap[k]});
  }
  CHECK(trace == Approx(number(r["V_noise_trace_exact"])).epsilon(kExact));
}

TEST_CASE("bigram values: boosting, saturation, plateau and slow tail of the reduced flow",
          "[theory][bigrams]") {
  for (const Reference r : reference_values("bigrams")["flow"]["reduced_from_init"]) {
    const BigramModel model = circulant(r);
    const BigramConstants c = constants(model);
    const BigramRates rates{number(r["eta_V"]), number(r["eta_A"])};
    const BoostingTheory theory(c, rates);
    constexpr double kTheta = 0.1;
    constexpr double kDelta = 0.01;
    CHECK(c.k_p == Approx(number(r["K_P"])).epsilon(kExact));
    CHECK(c.k_q == Approx(number(r["K_Q"])).epsilon(kExact));
    CHECK(theory.omega() == Approx(number(r["omega"])).epsilon(kExact));
    CHECK(theory.boosting_time(kTheta) == Approx(number(r["t_boost_formula"])).epsilon(kExact));
    // The reference's formula has not what the product comes to rest at; both leave out the decay
    // of α_V, which takes half of t η_V/(T ω).
    const double decay = number(r["eta_V"]) / (2 * c.context * theory.omega());
    const double saturation = theory.saturation_time(kDelta);
    CHECK(saturation == Approx(number(r["t_product_formula"])).epsilon(1e-3));
    CHECK(std::abs(number(r["t_product_0p99"]) - saturation) < decay * saturation);
    CHECK(theory.plateau_alpha_v() == Approx(number(r["plateau_alpha_V_formula"])).epsilon(kExact));
    CHECK(theory.slow_rate() == Approx(number(r["slow_rate_formula"])).epsilon(kExact));
    const double half = number(r["half_boost_time"]);
    CHECK(theory.alpha_v(half) ==
          Approx(number(r["alpha_at_half_boost_linear"][0])).epsilon(1e-11));
    CHECK(theory.alpha_a(half) ==
          Approx(number(r["alpha_at_half_boost_linear"][1])).epsilon(1e-11));
    // The integrated flow: times found on its dense output, hence 1e-6.
    const double product = number(r["t_product_0p99"]);
    const std::vector<double> times{
        half, number(r["t_boost_0p1"]), product, product + 10 / theory.omega()};
    const BigramCurve curve = reduced_flow(c, rates, {}, times);
    REQUIRE(curve.signals.size() == times.size());
    CHECK(curve.signals[0].alpha_v == Approx(number(r["alpha_at_half_boost"][0])).epsilon(1e-6));
    CHECK(curve.signals[0].alpha_a == Approx(number(r["alpha_at_half_boost"][1])).epsilon(1e-6));
    CHECK(curve.signals[1].alpha_v == Approx(kTheta).epsilon(1e-6));
    CHECK(curve.signals[2].alpha_v * curve.signals[2].alpha_a == Approx(1 - kDelta).epsilon(1e-6));
    const Reference late = r["alpha_at_tprod_plus_10_over_omega"];
    CHECK(curve.signals[3].alpha_v == Approx(number(late[0])).epsilon(1e-6));
    CHECK(curve.signals[3].alpha_a == Approx(number(late[1])).epsilon(1e-6));
  }
}

TEST_CASE("bigram values: whole steps close in four numbers, a first-order step from the flow",
          "[theory][bigrams]") {
  const Reference r = reference_values("bigrams")["flow"]["population_gd"];
  const BigramModel model = circulant(r);
  const BigramRates rates{number(r["eta_V"]), number(r["eta_A"])};
  BigramRecursion whole(model, rates, kNoNoise);
  std::vector<std::int64_t> steps;
  for (const Reference row : r["rows"]) steps.push_back(std::llround(number(row[0])));
  const std::vector<BigramState> states =
      full_descent(model, rates, stationary_value(model), uniform_attention(model), steps);
  std::int64_t step = 0;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const Reference row = r["rows"][k];
    for (; step < steps[k]; ++step) whole.step();
    CHECK(whole.signals().alpha_v == Approx(number(row[1])).epsilon(1e-10).margin(1e-15));
    CHECK(whole.signals().alpha_a == Approx(number(row[2])).epsilon(1e-10).margin(1e-15));
    const BigramState& s = states[k];
    CHECK(whole.state().loss == Approx(s.loss).epsilon(kExact));
    CHECK(s.loss == Approx(number(row[3])).epsilon(kExact));
    CHECK(s.alpha_v == Approx(number(row[1])).epsilon(1e-10).margin(1e-14));
    CHECK(whole.excess_loss() == Approx(s.excess_loss).epsilon(1e-9).margin(1e-15));
  }
  // Against the flow in the boosting stage: behind by ω·ωt/2, so by half when η is halved.
  const auto behind = [&](double eta) {
    constexpr double kTime = 12;  // of the flow with rates 1
    BigramRecursion slow(model, {eta, eta}, kNoNoise);
    for (int n = 0; n < std::lround(kTime / eta); ++n) slow.step();
    const std::vector<double> times{kTime};
    return 1 - slow.signals().alpha_v /
                   reduced_flow(constants(model), {}, {}, times).signals[0].alpha_v;
  };
  CHECK(behind(0.01) == Approx(behind(0.02) / 2).epsilon(0.05));
  CHECK(behind(0.005) == Approx(behind(0.01) / 2).epsilon(0.03));
}

TEST_CASE("bigram values: a uniform start of V keeps its mismatch with mu", "[theory][bigrams]") {
  const Reference r = reference_values("bigrams")["misc_deterministic"]["uniform_V_init"];
  const BigramModel model = tiny_model();
  BigramRecursion run(model, {0.5, 0.5}, kNoNoise, MatrixXd::Constant(3, 3, 1.0 / 3));
  for (int n = 0; n < 20000; ++n) run.step();
  CHECK(run.excess_loss() == Approx(number(r["half_mismatch"])).epsilon(1e-9));
  CHECK(run.excess_loss() == Approx(number(r["excess"])).epsilon(1e-9));
  CHECK(run.distance_v2() == Approx(2 * number(r["half_mismatch"])).epsilon(1e-9));
}

TEST_CASE("bigram values: five proximal steps of the population", "[theory][bigrams]") {
  const Reference r = reference_values("bigrams")["prox_population_5_steps"];
  const Reference start = reference_values("bigrams")["population"]["tiny_constrained"];
  const BigramModel model = tiny_model();
  MatrixXd v = matrix(start["V"]);
  MatrixXd a = matrix(start["A"]);
  const double eta_a = number(r["eta_A"]);
  const double h = eta_a * number(r["lam"]);
  for (int n = 0; n < 5; ++n) {
    const BigramGradient g = population_hat_gradient(model, v, a);
    v -= number(r["eta_V"]) * g.value;
    a = (a - eta_a * g.attention).unaryExpr([&](double x) {
      return x > h ? x - h : x < -h ? x + h : 0;
    });
  }
  check_close(v, matrix(r["V"]), 1e-14);
  check_close(a, matrix(r["A"]), 1e-14);
}

TEST_CASE("bigram values: a correlated pair", "[theory][bigrams]") {
  const Reference r = reference_values("bigrams")["correlated_pair"];
  const BigramModel model = circulant_model(3, 0.8, 2, 100);
  const MatrixXd source = matrix(r["Phat_matrix"]);
  const VectorXd& mu = model.stationary();
  const double overlap = (source.cwiseProduct(model.transition()) * mu).sum() - mu.squaredNorm();
  CHECK(overlap / model.k_p() == Approx(number(r["rho"])).epsilon(kExact));
  CHECK((source.cwiseAbs2() * mu).sum() - mu.squaredNorm() ==
        Approx(number(r["K_Phat"])).epsilon(kExact));
}

TEST_CASE("bigram recursion: averaging over amplitudes", "[theory][bigrams]") {
  const BigramModel model = circulant_model(3, 0.8, 2, 300);
  const BigramRates rates{0.05, 0.05};
  const std::vector<std::int64_t> steps{20, 100, 300};
  const auto read = [](const BigramRecursion& r) {
    return Eigen::RowVector2d(r.signals().alpha_v, r.excess_loss());
  };
  // Quadrature with five nodes against a fine sum over amplitudes.
  constexpr double kBatch = 64;
  const MatrixXd averaged =
      averaged_over_amplitudes(model, rates, kBatch, {}, ValueNoise::exact, steps, read);
  const BoostingTheory boosting(constants(model), rates);
  const double unit = 0.05 / (300 * boosting.omega() * boosting.snr(model.kappa_v(), kBatch));
  MatrixXd fine = MatrixXd::Zero(3, 2);
  double total = 0;
  for (double z = -4; z <= 4; z += 0.1) {
    const double weight = std::exp(-z * z / 2);
    BigramRecursion run(model, rates, kBatch, unit * z);
    std::int64_t step = 0;
    for (Index k = 0; k < 3; ++k) {
      for (; step < steps[static_cast<std::size_t>(k)]; ++step) run.step();
      fine.row(k) += weight * read(run);
    }
    total += weight;
  }
  fine /= total;
  for (Index k = 0; k < 3; ++k) {
    CHECK(averaged(k, 0) == Approx(fine(k, 0)).epsilon(2e-3));
    CHECK(averaged(k, 1) == Approx(fine(k, 1)).epsilon(5e-3));
  }
  // The spread of the signal has the variance of all noise until then, exactly known; here with the
  // decaying mode as if it had one noise with the growing one, which makes it up to 7 % smaller
  // (all of it at the start would be three times as large after 5 steps).
  const std::vector<std::int64_t> early{5, 20, 50, 100};
  const MatrixXd squares = averaged_over_amplitudes(
      model, rates, kBatch, {}, ValueNoise::exact, early, [](const BigramRecursion& r) {
        return Eigen::RowVector2d(r.signals().alpha_v, std::pow(r.signals().alpha_v, 2));
      });
  for (Index k = 0; k < squares.rows(); ++k) {
    const double exact = boosting.alpha_v_deviation(
        static_cast<double>(early[static_cast<std::size_t>(k)]), model.kappa_v(), kBatch);
    CHECK(std::sqrt(squares(k, 1) - std::pow(squares(k, 0), 2)) == Approx(exact).epsilon(0.08));
  }
  // Linear regime: the mean amplitude; large batches: nothing to average.
  BigramRecursion plain(model, rates, kBatch);
  for (int n = 0; n < 20; ++n) plain.step();
  CHECK(averaged(0, 0) == Approx(plain.signals().alpha_v).epsilon(1e-5));
  const MatrixXd quiet =
      averaged_over_amplitudes(model, rates, 1e9, {}, ValueNoise::exact, steps, read);
  BigramRecursion same(model, rates, 1e9);
  for (int n = 0; n < 300; ++n) same.step();
  CHECK(quiet(2, 0) == Approx(same.signals().alpha_v).epsilon(1e-6));
}

TEST_CASE("bigram values: the batch of a signal-to-noise ratio", "[theory][bigrams]") {
  const BoostingTheory boosting(constants(circulant_model(3, 0.8, 2, 300)), {0.05, 0.05});
  CHECK(boosting.snr(2, boosting.batch_for(1.5, 2)) == Approx(1.5).epsilon(kExact));
  CHECK(static_cast<double>(boosting.boosting_limit(0.5)) ==
        Approx(3 * boosting.boosting_time(0.5) + 1).margin(0.5));
}

TEST_CASE("bigram signs: what the noise of A takes away", "[theory][bigrams]") {
  const BigramRates rates{0.1, 0.1};
  const auto deficit = [&](Index context, double snr) {
    const BigramModel model = circulant_model(3, 0.8, 2, context);
    const double unit = BoostingTheory(constants(model), rates).snr(model.kappa_v(), 1);
    return sign_deficit(model, rates, std::pow(snr / unit, 2), 0.15);
  };
  // To first order it is half of v - 1 times snr φ(snr); v - 1 falls like 1/T times the e-foldings
  // of the amplitude, ln(θ T ω/η): 8.7 and 11.0.
  const double phi = std::exp(-0.5) / std::sqrt(2 * std::acos(-1.0));
  const double far = deficit(100000, 1);
  CHECK(far > 0);
  CHECK(far < 0.01 * phi);
  const double ratio = 10 * deficit(1000000, 1) / far;
  CHECK(ratio > 1);
  CHECK(ratio < 11.0 / 8.7);
  // It matters for short contexts and weak signals.
  CHECK(deficit(300, 0.57) > 0.1);
  CHECK(deficit(300, 2) < 0.005);
  CHECK_THROWS_AS(sign_deficit(circulant_model(3, 0.8, 2, 300), rates, 2, 0), Error);
}

}  // namespace bigrams_values_test
