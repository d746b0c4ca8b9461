#include "attica/theory/bigrams/flow.hpp"

#include <gsl/gsl_cdf.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "attica/core/bigrams/instances.hpp"
#include "attica/core/error.hpp"
#include "attica/theory/bigrams/boosting.hpp"
#include "attica/theory/bigrams/l1.hpp"
#include "attica/theory/bigrams/population.hpp"
#include "attica/theory/bigrams/recursion.hpp"
#include "theory/bigrams/reference.hpp"

namespace bigrams_flow_test {

using namespace attica;
using namespace attica::testing;
using Eigen::Index;
using Eigen::MatrixXd;

BigramModel circulant(Reference r) {
  return circulant_model(
      r["N"].get<Index>(), r["p_diag"].get<double>(), r["Qs"].get<Index>(), r["T"].get<Index>());
}

TEST_CASE("bigram flow: four numbers describe the flow of all entries", "[theory][bigrams]") {
  const BigramModel model = tiny_model();
  const Reference start = reference_values("bigrams")["population"]["tiny_constrained"];
  const Reference reference = reference_values("bigrams")["flow"]["flow_tiny_constrained"];
  const MatrixXd v = matrix(start["V"]);
  const MatrixXd a = matrix(start["A"]);
  const BigramState s = bigram_state(model, v, attention_sums(model, a));
  const std::vector<double> times = numbers(reference["t"]);
  const BigramCurve full = full_flow(model, {}, v, a, times);
  const BigramCurve reduced =
      reduced_flow(constants(model), {}, {s.alpha_v, s.alpha_a, s.d_v, s.d_a}, times);
  REQUIRE(full.signals.size() == times.size());
  REQUIRE(reduced.signals.size() == times.size());
  for (std::size_t k = 0; k < times.size(); ++k) {
    const BigramSignals& x = full.signals[k];
    const BigramSignals& y = reduced.signals[k];
    const Reference row = reference["alpha"][k];
    for (const auto& [left, right, known] : {std::tuple{x.alpha_v, y.alpha_v, row[0].get<double>()},
                                             std::tuple{x.alpha_a, y.alpha_a, row[1].get<double>()},
                                             std::tuple{x.d_v, y.d_v, row[2].get<double>()},
                                             std::tuple{x.d_a, y.d_a, row[3].get<double>()}}) {
      CHECK(left == Approx(right).margin(1e-9));   // two integrations to 1e-10
      CHECK(right == Approx(known).margin(1e-8));  // the reference was integrated to about 1e-9
    }
  }
  // The excess loss in the four numbers, against the loss of the matrices.
  CHECK(reduced_excess_loss(constants(model), reduced.signals[0]) ==
        Approx(s.excess_loss).epsilon(1e-12));
}

TEST_CASE("bigram flow: reference trajectory from the standard start, long times included",
          "[theory][bigrams]") {
  const Reference r = reference_values("bigrams")["flow"]["reduced_trajectory"];
  const BigramModel model = circulant(r);
  const std::vector<double> times = numbers(r["t"]);
  const BigramCurve curve = reduced_flow(constants(model), {}, {}, times);
  REQUIRE(curve.signals.size() == times.size());
  for (std::size_t k = 0; k < times.size(); ++k) {
    CHECK(curve.signals[k].alpha_v ==
          Approx(r["alpha_V"][k].get<double>()).epsilon(1e-7).margin(1e-12));
    CHECK(curve.signals[k].alpha_a ==
          Approx(r["alpha_A"][k].get<double>()).epsilon(1e-7).margin(1e-12));
    CHECK(reduced_excess_loss(constants(model), curve.signals[k]) ==
          Approx(r["excess_loss"][k].get<double>()).epsilon(1e-5));
  }
  // The stiff solver takes over for long times and agrees with the explicit one.
  const std::vector<double> longer{20, 2000, 40000};
  const BigramCurve stiff = reduced_flow(constants(model), {}, {}, longer);
  REQUIRE(stiff.signals.size() == 3);
  const std::vector<double> shorter{20, 2000};
  const BigramCurve explicit_curve = reduced_flow(constants(model), {}, {}, shorter);
  CHECK(stiff.signals[1].alpha_v == Approx(explicit_curve.signals[1].alpha_v).epsilon(1e-8));
  CHECK(stiff.signals[2].alpha_v == Approx(1).epsilon(1e-6));
}

TEST_CASE("bigram flow: closed forms", "[theory][bigrams]") {
  for (const Reference r : reference_values("bigrams")["boost_closed_forms"]) {
    const BigramModel model = circulant(r);
    const BoostingTheory theory(constants(model),
                                {r["eta_V"].get<double>(), r["eta_A"].get<double>()});
    const double batch = r["B"].get<double>();
    constexpr double kSteps = 100;
    CHECK(theory.omega() == Approx(r["omega"].get<double>()).epsilon(1e-12));
    CHECK(model.kappa_v() == Approx(r["kappa_V"].get<double>()).epsilon(1e-12));
    CHECK(theory.snr(model.kappa_v(), batch) == Approx(r["snr"].get<double>()).epsilon(1e-12));
    CHECK(theory.boosting_time(r["theta"].get<double>()) ==
          Approx(r["boost_steps_continuous"].get<double>()).epsilon(1e-12));
    CHECK(theory.alpha_v_discrete(kSteps) ==
          Approx(r["alpha_V_100_discrete"].get<double>()).epsilon(1e-11));
    CHECK(theory.alpha_a_discrete(kSteps) ==
          Approx(r["alpha_A_100_discrete"].get<double>()).epsilon(1e-10));
    CHECK(theory.alpha_v_deviation(kSteps, model.kappa_v(), batch) ==
          Approx(r["sd_alpha_V_100"].get<double>()).epsilon(1e-12));
    CHECK(theory.plateau_alpha_v() == Approx(r["plateau_alpha_V"].get<double>()).epsilon(1e-12));
    CHECK(theory.slow_rate() == Approx(r["slow_rate_per_step"].get<double>()).epsilon(1e-12));
  }
}

TEST_CASE("bigram flow: boosting, saturation, plateau and slow tail of the integrated flow",
          "[theory][bigrams]") {
  const BigramModel model = circulant_model(3, 0.8, 2, 1000);
  const BigramConstants c = constants(model);
  const BoostingTheory theory(c, {});
  // The linear regime leaves out -η α_V/T (here 7/T) and order α²; saturation and plateau hold to
  // order 1/T.
  const double boost = theory.boosting_time(0.02);
  const double saturation = theory.saturation_time(0.01);
  const double tail = 10 / theory.omega() + saturation;
  const std::vector<double> times{boost, saturation, tail, tail + 9000, tail + 10000};
  const BigramCurve curve = reduced_flow(c, {}, {}, times);
  REQUIRE(curve.signals.size() == times.size());
  CHECK(curve.signals[0].alpha_v == Approx(0.02).epsilon(7e-3));
  CHECK(curve.signals[0].alpha_a == Approx(theory.alpha_a(boost)).epsilon(7e-3));
  CHECK(curve.signals[1].alpha_v * curve.signals[1].alpha_a == Approx(0.99).margin(1e-3));
  CHECK(curve.signals[2].alpha_v == Approx(theory.plateau_alpha_v()).epsilon(3e-3));
  const double measured =
      std::log((curve.signals[3].alpha_v - 1) / (curve.signals[4].alpha_v - 1)) / 1000;
  CHECK(measured == Approx(theory.slow_rate()).epsilon(5e-3));  // α - 1 = 0.003 there
}

TEST_CASE("bigram flow: where V and A saturate at different levels the product rests below 1",
          "[theory][bigrams]") {
  // K_P from 0.33 down to what a text has, levels from 1.1 to 2.2.
  for (const double diagonal : {0.8, 0.55, 0.45}) {
    constexpr double kDelta = 0.01;
    const BigramModel model = circulant_model(3, diagonal, 2, 1000);
    const BigramConstants c = constants(model);
    const BoostingTheory theory(c, {});
    const double saturation = theory.saturation_time(kDelta);
    // Left out is the decay of α_V at rate 1/T, half of which slows the growth; to order 1 in ωt.
    const double delay = saturation / (2 * c.context * theory.omega());
    const std::vector<double> times{saturation, saturation + delay};
    const BigramCurve curve = reduced_flow(c, {}, {}, times);
    REQUIRE(curve.signals.size() == 2);
    CHECK(curve.signals[0].alpha_v * curve.signals[0].alpha_a < 1 - kDelta);
    CHECK(curve.signals[1].alpha_v * curve.signals[1].alpha_a > 1 - kDelta);
  }
  const BoostingTheory slow(constants(circulant_model(3, 0.36, 2, 1000)), {});
  CHECK(std::isinf(slow.saturation_time(0.001)));
}

TEST_CASE("bigram flow: the growing part of the start decides its sign", "[theory][bigrams]") {
  // g = α_V + √(η_V K_Q/η_A K_P) α_A + η_V/(Tω): the linear stage's growing mode with the drift.
  // What is left out is n̄ α_V, of relative order 1/T ω, and d_A, d_V (none here).
  const BigramConstants c = constants(circulant_model(3, 0.8, 2, 3000));
  const BigramRates rates{0.05, 0.02};
  const double omega = std::sqrt(rates.eta_v * rates.eta_a * c.k_p * c.k_q);
  const double drift = rates.eta_v / (c.context * omega);
  const double of_a = std::sqrt(rates.eta_v * c.k_q / (rates.eta_a * c.k_p));
  const std::vector<double> late = {5e3};
  for (const double alpha_a : {-3 * drift, 0.0, 3 * drift}) {
    for (const double g : {-0.1 * drift, 0.1 * drift}) {
      CAPTURE(alpha_a, g);
      const BigramSignals start{g - drift - of_a * alpha_a, alpha_a, 0, 0};
      const BigramSignals end = reduced_flow(c, rates, start, late).signals[0];
      CHECK(end.alpha_v * end.alpha_a == Approx(1).epsilon(0.01));
      CHECK((end.alpha_v > 0) == (g > 0));
    }
  }
}

TEST_CASE("bigram recursion: reference rows and the flow as its limit of large batches",
          "[theory][bigrams]") {
  const Reference r = reference_values("bigrams")["meanfield_recursion"];
  const BigramModel model = circulant(r);
  const double eta = r["eta"].get<double>();
  BigramRecursion recursion(model, {eta, eta}, r["B"].get<double>());
  recursion.set_value_noise(ValueNoise::leading_order);  // the reference's
  double step = 0;
  for (const Reference row : r["rows"]) {
    for (; step < row[0].get<double>(); ++step) recursion.step();
    const BigramSignals s = recursion.signals();
    CHECK(s.alpha_v == Approx(row[1].get<double>()).epsilon(1e-11));
    CHECK(s.alpha_a == Approx(row[2].get<double>()).epsilon(1e-11));
    // The reference counts all noise of V. Of a circulant law it is isotropic in columns and rows
    // of N - 1 dimensions, one of which in all is that of P.
    CHECK(recursion.noise_v() == Approx(row[3].get<double>()).epsilon(1e-10).margin(1e-18));
    const double elsewhere = 1 - std::pow(static_cast<double>(model.tokens()) - 1, -2);
    CHECK(s.d_v == Approx(elsewhere * row[3].get<double>()).epsilon(1e-10).margin(1e-16));
    CHECK(s.d_a == Approx(row[4].get<double>()).epsilon(1e-10).margin(1e-18));
  }
  constexpr double kSmall = 1e-3;
  BigramRecursion quiet(model, {kSmall, kSmall}, 1e12);
  for (int n = 0; n < 12000; ++n) quiet.step();
  const std::vector<double> time{12000};
  const BigramSignals flow = reduced_flow(constants(model), {kSmall, kSmall}, {}, time).signals[0];
  CHECK(quiet.signals().alpha_v == Approx(flow.alpha_v).epsilon(3e-3));  // Euler: ω² t/2
  CHECK(quiet.excess_loss() ==
        Approx(reduced_excess_loss(constants(model), quiet.signals())).epsilon(1e-6));
}

TEST_CASE("bigram recursion: reference rows from a transfer start", "[theory][bigrams]") {
  const Reference r = reference_values("bigrams")["transfer_recursion"];
  const BigramModel model = circulant(r);
  const double eta = r["eta"].get<double>();
  const double theta = r["theta"].get<double>();
  const MatrixXd source = matrix(reference_values("bigrams")["correlated_pair"]["Phat_matrix"]);
  BigramRecursion recursion(model,
                            {eta, eta},
                            r["B"].get<double>(),
                            theta * source + (1 - theta) * stationary_value(model));
  recursion.set_value_noise(ValueNoise::leading_order);
  double step = 0;
  for (const Reference row : r["rows"]) {
    for (; step < row[0].get<double>(); ++step) recursion.step();
    const BigramSignals s = recursion.signals();
    CHECK(s.alpha_v == Approx(row[1].get<double>()).epsilon(1e-10));
    CHECK(s.alpha_a == Approx(row[2].get<double>()).epsilon(1e-10));
    CHECK(recursion.k_v() == Approx(row[3].get<double>()).epsilon(1e-10));
    CHECK(s.d_a == Approx(row[4].get<double>()).epsilon(1e-10));
  }
}

TEST_CASE("bigram l1: stationary second moment, closed form against chain and limits",
          "[theory][bigrams]") {
  for (const Reference r : reference_values("bigrams")["l1_stationary_second_moment"]) {
    CHECK(l1_second_moment(r["K"].get<double>(), r["lam"].get<double>(), r["D"].get<double>()) ==
          Approx(r["value"].get<double>()).epsilon(1e-10));
  }
  CHECK(l1_second_moment(0.3, 0, 0.01) == Approx(0.01 / 0.6));
  CHECK(l1_second_moment(0.01, 1, 1e-4) == Approx(1e-8 / 2).epsilon(0.02));  // D²/(2λ²)
  // Without l1 the chain is a Gaussian autoregression with variance noise²/(1 - contraction²).
  SoftThresholdChain chain(1.0 / 8, 30);
  for (int n = 0; n < 400; ++n) chain.step({.contraction = 0.95, .noise = 1});
  CHECK(chain.second_moment() == Approx(1 / (1 - 0.95 * 0.95)).epsilon(5e-3));
  // Small steps: the closed form.
  constexpr double kEta = 0.01;
  constexpr double kLambda = 0.3;
  SoftThresholdChain slow(kEta / 8, 0.6);
  for (int n = 0; n < 2000; ++n)
    slow.step({.contraction = 1 - kEta, .noise = kEta, .shrink = kEta * kLambda});
  CHECK(slow.second_moment() == Approx(l1_second_moment(1, kLambda, kEta)).epsilon(0.1));
}

TEST_CASE("bigram l1: stationary second moment by quadrature, on both sides of every branch",
          "[theory][bigrams]") {
  // D = K = 1: E z² of the law ∝ exp(-z² - 2cz), by Simpson's rule in s = (1 + 2c) z.
  const auto quadrature = [](double c) {
    constexpr int kSteps = 20000;
    constexpr double kEnd = 60;
    double moment = 0;
    double mass = 0;
    for (int i = 0; i <= kSteps; ++i) {
      const double z = kEnd * i / kSteps / (1 + 2 * c);
      const double weight = i == 0 || i == kSteps ? 1 : i % 2 == 0 ? 2 : 4;
      const double density = weight * std::exp(-z * z - 2 * c * z);
      mass += density;
      moment += density * z * z;
    }
    return moment / mass;
  };
  for (const double c : {0.0, 0.3, 0.999, 1.0, 1.001, 3.0, 8.0, 19.999, 20.001, 60.0, 1000.0}) {
    CAPTURE(c);
    CHECK(l1_second_moment(1, c, 1) == Approx(quadrature(c)).epsilon(1e-9));
  }
}

TEST_CASE("bigram l1: floors settle for every penalty, and fall as it grows", "[theory][bigrams]") {
  RandomStream stream({.seed = 3, .id = StreamId::model});
  const BigramModel model(cyclic_chain(3, 0.8, 3),
                          500,
                          2,
                          random_attention(3, 500, 2, AttentionWeights::random, stream));
  double last = std::numeric_limits<double>::infinity();
  for (double lambda = 1e-3; lambda < 1; lambda *= 1.3) {
    CAPTURE(lambda);
    const L1Floor floor = l1_floor_closed_form(model, 0.05, lambda, 64);
    CHECK(floor.status == L1FloorStatus::settled);
    // Noise off the support alone: on it the penalty adds its bias, 2 (λ/K_P)².
    const double noise = floor.distance_a2 - 2 * std::pow(lambda / model.k_p(), 2);
    CHECK(noise < last);
    last = noise;
  }
}

TEST_CASE("bigram l1: mean field relaxes to the floor when V stays at P", "[theory][bigrams]") {
  const BigramModel model = circulant_model(3, 0.8, 2, 500);
  constexpr double kEta = 0.05;
  constexpr double kLambda = 0.01;
  constexpr double kBatch = 64;
  // V at rest at P. The formula is for small steps and leaves out the noise of support entries.
  L1MeanField field(model, {0, kEta}, kBatch, kLambda, {1, 1, 0, 0}, 0);
  for (int n = 0; n < 600; ++n) field.step();
  const L1Floor closed = l1_floor_closed_form(model, kEta, kLambda, kBatch);
  CHECK(field.state().distance_a2 == Approx(closed.distance_a2).epsilon(0.1));
  CHECK(field.zero_fraction() > 0.02);
  // Without l1 it is the recursion.
  BigramRecursion recursion(model, {kEta, kEta}, kBatch);
  for (int n = 0; n < 250; ++n) recursion.step();
  L1MeanField free(model, {kEta, kEta}, kBatch, 0, recursion.signals(), 0);
  for (int n = 0; n < 100; ++n) {
    recursion.step();
    free.step();
  }
  CHECK(free.alpha_v() == Approx(recursion.signals().alpha_v).epsilon(0.01));
  CHECK(free.state().distance_a2 == Approx(recursion.distance_a2()).epsilon(0.02));
}

TEST_CASE("bigram l1: support entries lie about q - lambda/K_P, with the variance of their noise",
          "[theory][bigrams]") {
  const BigramModel model = circulant_model(3, 0.8, 2, 500);  // q = 1/2
  constexpr double kEta = 0.05;
  const auto probability = [&](double mean) {
    L1MeanField field(model, {0, kEta}, 64, (0.5 - mean) * model.k_p(), {1, 1, 0, 0}, 0);
    for (int n = 0; n < 1500; ++n) field.step();
    return field.support_probability();
  };
  // In units of their standard deviation. The drift of the sums, (s - 1)/T with s = 0, is below a
  // tenth of it, and noise hardly depends on so small a mean.
  const auto deviations = [&](double mean) { return gsl_cdf_ugaussian_Pinv(probability(mean)); };
  const double zero = deviations(0);
  CHECK(zero < 0);
  CHECK(zero > -0.1);
  const double unit = deviations(0.02) - zero;
  CHECK(unit / 0.02 == Approx(zero / (-1.0 / 500)).epsilon(0.05));
  CHECK(zero - deviations(-0.02) == Approx(unit).epsilon(0.05));
  CHECK(probability(0.4) > 0.9999);
}

TEST_CASE("column_sum_variance: that of coupled chains, sampled", "[theory][bigrams]") {
  // T entries whose noise sums to zero and whose drift follows their sum; two are attended.
  constexpr int kContext = 120;
  constexpr int kAttended = 2;
  constexpr int kSteps = 40;
  constexpr int kRuns = 4000;
  constexpr double kKeep = 0.92;
  constexpr double kNoise = 0.02;
  constexpr double kShrink = 0.004;
  constexpr double kTarget = 0.5;   // an attended entry tends to it
  constexpr double kSpread = 0.03;  // at the start
  constexpr double kCut = 0.05;
  const auto soft = [](double x) { return std::copysign(std::max(std::abs(x) - kShrink, 0.0), x); };
  // The theory's mean field: drift (1 - c)(s - 1)/T with the mean of s.
  SoftThresholdChain chain(kNoise / 8, 0.3);
  ChainPast past{.variance = kSpread * kSpread, .threshold = kCut};
  chain.start(0, past.variance, kCut);
  double mean_attended = kTarget;
  for (int n = 0; n < kSteps; ++n) {
    const double sum = (kContext - kAttended) * chain.mean() + kAttended * mean_attended;
    const double drift = (1 - kKeep) * (sum - 1) / kContext;
    past.steps.push_back(
        {.contraction = kKeep, .drift = drift, .noise = kNoise, .shrink = kShrink});
    past.laws.push_back(chain.law());
    past.kernels.push_back(chain.backward_kernel(past.steps.back()));
    chain.step(past.steps.back());
    mean_attended = kKeep * mean_attended + (1 - kKeep) * kTarget + drift - kShrink;
  }
  const double predicted = column_sum_variance(chain, past, kSteps, kContext, kAttended);

  RandomStream stream({.seed = 12});
  double first = 0;
  double second = 0;
  Eigen::ArrayXd x(kContext);
  Eigen::ArrayXd z(kContext);
  for (int run = 0; run < kRuns; ++run) {
    stream.fill_normal({z.data(), kContext});
    x = kSpread * (z - z.mean());
    for (double& entry : x.tail(kContext - kAttended)) entry = std::abs(entry) < kCut ? 0 : entry;
    x.head(kAttended) += kTarget;
    for (int n = 0; n < kSteps; ++n) {
      const double drift = (1 - kKeep) * (x.sum() - 1) / kContext;
      stream.fill_normal({z.data(), kContext});
      x = kKeep * x + drift + kNoise * (z - z.mean());
      x.head(kAttended) += (1 - kKeep) * kTarget - kShrink;
      for (double& entry : x.tail(kContext - kAttended)) entry = soft(entry);
    }
    first += x.sum() / kRuns;
    second += x.sum() * x.sum() / kRuns;
  }
  const double sampled = second - first * first;
  // Standard error √(2/4000) = 2.2 %; linear response neglects O(1/T).
  CHECK(sampled == Approx(predicted).epsilon(0.08));
  // Without thresholds sums are kept; what is left is the grid's.
  for (ChainStep& step : past.steps) step.shrink = 0;
  SoftThresholdChain free(kNoise / 8, 0.3);
  past.threshold = 0;
  free.start(0, past.variance, 0);
  for (std::size_t n = 0; n < past.steps.size(); ++n) {
    past.laws[n] = free.law();
    past.kernels[n] = free.backward_kernel(past.steps[n]);
    free.step(past.steps[n]);
  }
  CHECK(std::abs(column_sum_variance(free, past, kSteps, kContext, kAttended)) < 0.02 * predicted);
}

TEST_CASE("bigram l1: a law starts with the mean that it is given", "[theory][bigrams]") {
  SoftThresholdChain chain(0.1, 1);
  chain.start(0.025, 0, 0);
  CHECK(chain.mean() == Approx(0.025));
  chain.start(0.025, 0, 0.03);
  CHECK(chain.mean() == 0);
  // Without l1 uniform A keeps its column sums.
  const BigramModel model = circulant_model(3, 0.8, 2, 500);
  L1MeanField field(model, {0.05, 0.05}, 64, 0, model.transition());
  CHECK(field.state().mean_sum == Approx(1).epsilon(1e-12));
  for (int n = 0; n < 20; ++n) field.step();
  // The kernel ends at six deviations.
  CHECK(field.state().mean_sum == Approx(1).epsilon(1e-5));
}

TEST_CASE("bigram l1: a floor says whether it was found", "[theory][bigrams]") {
  const BigramModel model = circulant_model(3, 0.8, 2, 500);
  constexpr double kBatch = 64;
  const double limit = attention_rate_limit(model, model.transition(), kBatch);
  // Close below the limit a sweep takes off 5 % of the distance: 200 of them are too few.
  const L1Floor found = l1_floor_closed_form(model, 0.95 * limit, 0, kBatch);
  CHECK(found.status == L1FloorStatus::settled);
  CHECK(found.sweeps > 200);
  CHECK(found.residual <= 1e-10);
  CHECK(found.stated(found.distance_a2) == found.distance_a2);
  const L1Floor early = l1_floor_closed_form(model, 0.95 * limit, 0, kBatch, 200);
  CHECK(early.status == L1FloorStatus::unsettled);
  CHECK(early.sweeps == 200);
  CHECK(early.distance_a2 < found.distance_a2);
  CHECK(std::isnan(early.stated(early.distance_a2)));
  const L1Floor none = l1_floor_closed_form(model, 1.05 * limit, 0, kBatch);
  CHECK(none.status == L1FloorStatus::unstable);
  CHECK(std::isinf(none.stated(none.distance_a2)));
  // Tokens that hardly tell each other apart: floors larger than T are floors, too.
  const BigramModel weak = circulant_model(3, 0.35, 2, 500);
  const double highest = attention_rate_limit(weak, weak.transition(), kBatch);
  const L1Floor high = l1_floor_closed_form(weak, 0.98 * highest, 0, kBatch);
  CHECK(high.status == L1FloorStatus::settled);
  CHECK(high.distance_a2 > 500);
  CHECK(l1_floor_closed_form(weak, 1.02 * highest, 0, kBatch).status == L1FloorStatus::unstable);
}

TEST_CASE("bigram l1: noise of A has a stationary law 2 % below the limit, and none 2 % above",
          "[theory][bigrams][study:bigrams-stability]") {
  constexpr int kSweeps = 100000;
  const BigramModel model =
      GENERATE(circulant_model(3, 0.8, 2, 500), circulant_model(3, 0.5, 2, 300));
  const double batch = GENERATE(16.0, 64.0);
  const double limit = attention_rate_limit(model, model.transition(), batch);
  CAPTURE(batch, limit);
  CHECK(l1_floor_closed_form(model, 0.98 * limit, 0, batch, kSweeps).status ==
        L1FloorStatus::settled);
  CHECK(l1_floor_closed_form(model, 1.02 * limit, 0, batch, kSweeps).status ==
        L1FloorStatus::unstable);
}

TEST_CASE("bigram l1: a staged mean field without l1 is the recursion after boosting",
          "[theory][bigrams]") {
  const BigramModel model = circulant_model(3, 0.8, 2, 500);
  constexpr double kTheta = 0.5;
  BigramRecursion run(model, {0.05, 0.05}, 64);
  while (run.k_v() < kTheta * kTheta * model.k_p()) run.step();
  const auto plain =
      staged_mean_field(model, {0.05, 0.05}, 64, 0, kTheta, 0.05, std::vector<std::int64_t>{0, 20});
  CHECK(plain[0].state.alpha_v == run.signals().alpha_v);
  for (int n = 0; n < 20; ++n) run.step();
  CHECK(plain[1].state.distance_a2 == run.distance_a2());
  CHECK(plain[1].noise_v == run.noise_v());
  const auto l1 =
      staged_mean_field(model, {0.05, 0.05}, 64, 0.02, kTheta, 0.05, std::vector<std::int64_t>{20});
  CHECK(l1[0].state.distance_a2 < plain[1].state.distance_a2);
  // Sums that fluctuate cost loss, and change nothing else.
  const auto fluctuating = staged_mean_field(model,
                                             {0.05, 0.05},
                                             64,
                                             0.02,
                                             kTheta,
                                             0.05,
                                             std::vector<std::int64_t>{20},
                                             ColumnSums::fluctuating);
  // What sums cost at a step does not depend on the steps that follow.
  const auto longer = staged_mean_field(model,
                                        {0.05, 0.05},
                                        64,
                                        0.02,
                                        kTheta,
                                        0.05,
                                        std::vector<std::int64_t>{0, 20, 30},
                                        ColumnSums::fluctuating);
  CHECK(longer[1].state.excess_loss == fluctuating[0].state.excess_loss);
  CHECK(fluctuating[0].state.distance_a2 == l1[0].state.distance_a2);
  CHECK(fluctuating[0].state.excess_loss > 1.001 * l1[0].state.excess_loss);
  for (const StagedMeanField& field : {l1[0], fluctuating[0]})
    CHECK(field.state.excess_loss == Approx(field.state.loss - model.bayes_loss()));
  CHECK_THROWS_AS(boosted_recursion(model, {0.05, 0.05}, 64, 2), Error);
}

TEST_CASE("bigram flow: no signal, no theory", "[theory][bigrams]") {
  CHECK_THROWS_WITH(BoostingTheory({0, 0.5, 100}, {}), Catch::Matchers::Contains("K_P"));
  CHECK_THROWS_WITH(BoostingTheory({0.3, 0, 100}, {}), Catch::Matchers::Contains("K_Q"));
}

TEST_CASE("bigram flow: whole steps of all entries close in the four numbers, from any start",
          "[theory][bigrams]") {
  RandomStream stream({.seed = 5});
  const BigramChain chain = sinkhorn_chain(4, 2, 6, stream);
  const BigramModel model(
      chain, 60, 3, random_attention(4, 60, 3, AttentionWeights::random, stream));
  const BigramStart start = perturbed_start(model, 0.5, stream);
  const BigramState s = bigram_state(model, start.value, attention_sums(model, start.attention));
  // The deviation was asked for: signals and remainders together.
  CHECK(s.alpha_v * s.alpha_v * model.k_p() + s.d_v == Approx(0.5 * model.k_p()).epsilon(1e-12));
  CHECK(s.alpha_a * s.alpha_a * model.k_q() + s.d_a == Approx(0.5 * model.k_q()).epsilon(1e-12));
  const std::vector<std::int64_t> steps{1, 10, 200};
  const BigramRates rates{.eta_v = 0.2, .eta_a = 0.3};
  const std::vector<BigramSignals> four =
      reduced_descent(constants(model), rates, {s.alpha_v, s.alpha_a, s.d_v, s.d_a}, steps);
  const std::vector<BigramState> all =
      full_descent(model, rates, start.value, start.attention, steps);
  REQUIRE(four.size() == steps.size());
  for (std::size_t k = 0; k < steps.size(); ++k) {  // rounding of 200 steps
    CHECK(four[k].alpha_v == Approx(all[k].alpha_v).epsilon(1e-11));
    CHECK(four[k].alpha_a == Approx(all[k].alpha_a).epsilon(1e-11));
    CHECK(four[k].d_v == Approx(all[k].d_v).epsilon(1e-10).margin(1e-15));
    CHECK(four[k].d_a == Approx(all[k].d_a).epsilon(1e-10).margin(1e-15));
  }
}

}  // namespace bigrams_flow_test
