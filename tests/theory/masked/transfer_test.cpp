#include "attica/theory/masked/transfer.hpp"

#include <Eigen/Dense>
#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/random.hpp"
#include "refused.hpp"

using namespace attica;
using attica::testing::refused;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace masked_transfer_theory_test {

constexpr TransferTask kTask{.dimension = 40, .theta = 3, .noise = 0.2};

TEST_CASE("feature_risk: that of sampled regressions on a direction", "[theory][masked]") {
  // v at squared overlap q: v·x = √q √θ s + a normal number of variance 1.
  constexpr double kOverlap = 0.6;
  constexpr int kSets = 200000;
  for (const int samples : {7, 20}) {
    RandomStream stream({.seed = 4, .point = static_cast<std::uint64_t>(samples)});
    const double amplitude = std::sqrt(kOverlap * kTask.theta);
    double sum = 0;
    double squares = 0;
    for (int set = 0; set < kSets; ++set) {
      double fy = 0;
      double ff = 0;
      for (int mu = 0; mu < samples; ++mu) {
        const double s = stream.normal();
        const double f = amplitude * s + stream.normal();
        fy += f * (s + std::sqrt(kTask.noise) * stream.normal());
        ff += f * f;
      }
      const double w = fy / ff;
      const double risk = kTask.noise + std::pow(1 - amplitude * w, 2) + w * w;
      sum += risk;
      squares += risk * risk;
    }
    const double mean = sum / kSets;
    const double sem = std::sqrt((squares / kSets - mean * mean) / kSets);
    CAPTURE(samples, mean, sem);
    // Four standard errors, below 0.4 %.
    CHECK(sem < 1e-3 * mean);
    CHECK(std::abs(mean - feature_risk(kTask, kOverlap, samples)) <= 4 * sem);
  }
}

TEST_CASE("feature_risk: limits", "[theory][masked]") {
  // A direction that knows nothing leaves the labels' variance; one that knows all, the risk of the
  // best predictor.
  CHECK_THAT(feature_risk(kTask, 0, 1e12), WithinRel(1.2, 1e-10));
  CHECK_THAT(feature_risk(kTask, 1, 1e12), WithinRel(raw_task(kTask).noise, 1e-10));
  CHECK_THAT(feature_risk(kTask, 0.5, 3), WithinRel(2 * feature_risk(kTask, 0.5, 1e12), 1e-9));
  const double step = 1e-5;
  CHECK_THAT(feature_risk_slope(kTask, 0.4, 9),
             WithinRel((feature_risk(kTask, 0.4 + step, 9) - feature_risk(kTask, 0.4 - step, 9)) /
                           (2 * step),
                       1e-8));
}

TEST_CASE("raw_task: the regression of y on x = z + √θ s u", "[theory][masked]") {
  // Cov(x) = 1 + θuuᵀ and Cov(x, y) = √θ u, solved as it stands.
  const Eigen::Index d = 40;
  const Eigen::VectorXd u = Eigen::VectorXd::Constant(d, 1 / std::sqrt(40.0));
  const Eigen::MatrixXd covariance =
      Eigen::MatrixXd::Identity(d, d) + kTask.theta * u * u.transpose();
  const Eigen::VectorXd cross = std::sqrt(kTask.theta) * u;
  const Eigen::VectorXd best = covariance.llt().solve(cross);
  const LinearTask raw = raw_task(kTask);
  CHECK_THAT(raw.weights2.sum(), WithinRel(best.squaredNorm(), 1e-12));
  CHECK_THAT(raw.noise, WithinRel(1 + kTask.noise - best.dot(cross), 1e-12));
  CHECK_THAT(raw.spectrum.sum(), WithinRel(covariance.trace(), 1e-12));
  CHECK_THAT(raw.spectrum.maxCoeff(), WithinRel(1 + kTask.theta, 1e-12));
}

TEST_CASE("best_raw_ridge: no other penalty is better", "[theory][masked]") {
  for (const double samples : {30.0, 60.0, 400.0}) {
    const BestRidge best = best_raw_ridge(kTask, samples);
    CHECK(best.lambda > 0);
    const auto error = [&](double lambda) {
      return label_ridge(raw_task(kTask), samples, lambda, RidgeOrder::leading).test_error;
    };
    for (const double factor : {0.5, 0.9, 1.1, 2.0}) {
      CHECK(error(best.lambda) < error(factor * best.lambda));
    }
  }
  // With many labels nothing is left but what x does not tell.
  CHECK_THAT(best_raw_ridge(kTask, 1e7).ridge.test_error, WithinRel(raw_task(kTask).noise, 1e-4));
}

TEST_CASE("transfer_crossing: the feature is better just below, and never above",
          "[theory][masked]") {
  double before = 0;
  for (const double overlap : {0.5, 0.7, 0.9}) {
    const auto crossing = transfer_crossing(kTask, overlap);
    REQUIRE(crossing);
    CHECK(*crossing > before);
    before = *crossing;
    const auto gain = [&](double samples) {
      return best_raw_ridge(kTask, samples).ridge.test_error -
             feature_risk(kTask, overlap, samples);
    };
    CHECK_THAT(gain(*crossing), WithinAbs(0, 1e-8));
    CHECK(gain(0.9 * *crossing) > 0);
    for (const double factor : {1.1, 3.0, 30.0, 1000.0}) CHECK(gain(factor * *crossing) < 0);
  }
  CHECK_FALSE(transfer_crossing(kTask, 0));
  // All of the spike: never beaten.
  CHECK_FALSE(transfer_crossing(kTask, 1));
}

TEST_CASE("transfer: bad input is named", "[theory][masked]") {
  CHECK(refused([] { feature_risk(kTask, 0.5, 2); }) == "samples");
  CHECK(refused([] { feature_risk(kTask, 1.5, 10); }) == "overlap");
  CHECK(refused([] { feature_risk({.dimension = 4, .theta = -1, .noise = 0}, 0, 9); }) == "theta");
  CHECK(refused([] { raw_task({.dimension = 0, .theta = 1, .noise = 0}); }) == "dimension");
  CHECK(refused([] { raw_task({.dimension = 4, .theta = 1, .noise = -1}); }) == "noise");
}

}  // namespace masked_transfer_theory_test
