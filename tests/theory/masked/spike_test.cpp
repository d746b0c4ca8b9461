#include "attica/theory/masked/spike.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "attica/theory/masked/spectrum.hpp"
#include "reference_values.hpp"
#include "refused.hpp"

using attica::testing::Reference;
using namespace attica;
using attica::testing::number;
using attica::testing::reference_values;
using attica::testing::refused;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace masked_spike_test {

std::vector<SpikedGroup> halves(double ratio, const std::string& signal) {
  const double quiet = signal == "uniform" ? 0.5 : signal == "quiet" ? 1 : 0;
  return {{1, 0.5, quiet}, {ratio, 0.5, 1 - quiet}};
}

DelocalisedSpike of(Reference entry) {
  static const std::map<std::string, SpikeEstimator> kinds = {{"masked", SpikeEstimator::masked},
                                                              {"pca", SpikeEstimator::pca},
                                                              {"corr", SpikeEstimator::correlation},
                                                              {"hollow", SpikeEstimator::hollow}};
  return {kinds.at(entry.at("method").get<std::string>()),
          halves(number(entry.at("ratio")), entry.at("signal").get<std::string>()),
          number(entry.at("gamma")),
          entry.at("lambda_").is_null() ? 1.0 : number(entry.at("lambda_"))};
}

TEST_CASE("DelocalisedSpike: reference thresholds and edges", "[theory][masked]") {
  for (const auto entry : reference_values("masked").at("thresholds")) {
    CAPTURE(entry.dump());
    const DelocalisedSpike spike = of(entry);
    CHECK_THAT(spike.threshold(), WithinRel(number(entry.at("theta_c")), 1e-10));
    CHECK_THAT(spike.edge(), WithinRel(number(entry.at("edge_z")), 1e-10));
  }
}

TEST_CASE("DelocalisedSpike: reference outliers and overlaps", "[theory][masked]") {
  for (const char* table : {"spike", "overlaps"}) {
    for (const auto entry : reference_values("masked").at(table)) {
      CAPTURE(entry.dump());
      const DelocalisedSpike spike = of(entry);
      const double theta = number(entry.at("theta"));
      const SpikeOverlaps overlaps = spike.overlaps(theta);
      if (entry.contains("z")) {
        CHECK_THAT(spike.eigenvalue(theta), WithinRel(number(entry.at("z")), 1e-9));
      }
      CHECK_THAT(overlaps.symmetric, WithinAbs(number(entry.at("symmetric")), 1e-8));
      CHECK_THAT(overlaps.right, WithinAbs(number(entry.at("right")), 1e-8));
      CHECK_THAT(overlaps.left, WithinAbs(number(entry.at("left")), 1e-8));
    }
  }
}

TEST_CASE("DelocalisedSpike: equal noise is the BBP transition for every estimator",
          "[theory][masked]") {
  for (const double gamma : {0.2, 0.5, 2.0}) {
    for (const auto estimator : {SpikeEstimator::masked,
                                 SpikeEstimator::pca,
                                 SpikeEstimator::correlation,
                                 SpikeEstimator::hollow}) {
      constexpr double kLambda = 0.3;
      const DelocalisedSpike spike(estimator, {SpikedGroup{}}, gamma, kLambda);
      CHECK_THAT(spike.threshold(), WithinRel(std::sqrt(gamma), 1e-12));
      const double theta = 2.5 * std::sqrt(gamma);
      const double x = (1 + theta) * (1 + gamma / theta);
      const double g = isotropic_spectrum(gamma, kLambda).g;
      const double z = estimator == SpikeEstimator::masked   ? g * (x + kLambda)
                       : estimator == SpikeEstimator::hollow ? x - 1
                                                             : x;
      CHECK_THAT(spike.eigenvalue(theta), WithinRel(z, 1e-10));
      const double cosine = (1 - gamma / (theta * theta)) / (1 + gamma / theta);
      const SpikeOverlaps overlaps = spike.overlaps(theta);
      CHECK_THAT(overlaps.symmetric, WithinRel(cosine, 1e-9));
      CHECK_THAT(overlaps.right, WithinRel(cosine, 1e-9));
      CHECK_THAT(overlaps.left, WithinRel(cosine, 1e-9));
      CHECK(spike.overlaps(0.9 * spike.threshold()).symmetric == 0);
      CHECK(spike.eigenvalue(0) == spike.edge());
    }
  }
}

TEST_CASE("DelocalisedSpike: masking lies between correlations and hollow PCA",
          "[theory][masked]") {
  const auto groups = halves(9, "uniform");
  const DelocalisedSpike correlation(SpikeEstimator::correlation, groups, 0.5, 1);
  const DelocalisedSpike hollow(SpikeEstimator::hollow, groups, 0.5, 1);
  // Σ u²/ψ = 5/9
  CHECK_THAT(correlation.threshold(), WithinRel(std::sqrt(0.5) * 9 / 5, 1e-12));
  double last = 0;
  for (const double lambda : {1e-7, 1e-2, 1.0, 1e2, 1e7}) {
    const DelocalisedSpike masked(SpikeEstimator::masked, groups, 0.5, lambda);
    CHECK(masked.threshold() > last);
    last = masked.threshold();
    const SpikeOverlaps of_masked = masked.overlaps(8);
    if (lambda < 1e-6) {
      CHECK_THAT(masked.threshold(), WithinRel(correlation.threshold(), 1e-5));
      CHECK_THAT(of_masked.left, WithinRel(correlation.overlaps(8).left, 1e-5));
    }
    if (lambda > 1e6) {
      CHECK_THAT(masked.threshold(), WithinRel(hollow.threshold(), 1e-5));
      CHECK_THAT(of_masked.symmetric, WithinRel(hollow.overlaps(8).symmetric, 1e-4));
    }
  }
  // The edge of the bulk is the spectrum's.
  const DelocalisedSpike masked(SpikeEstimator::masked, groups, 0.5, 1);
  const MaskedEquivalent m = masked_equivalent({{1, 0.5}, {9, 0.5}}, 0.5, 1);
  CHECK_THAT(1 - 1 / masked.edge(), WithinAbs(masked_support(m).upper, 1e-4));
}

TEST_CASE("localised_spike: reference values and thresholds", "[theory][masked]") {
  for (const auto entry : reference_values("masked").at("local")) {
    CAPTURE(entry.dump());
    const double gamma = number(entry.at("gamma"));
    const double lambda = number(entry.at("lambda_"));
    const LocalisedSpike spike = localised_spike(gamma, lambda, number(entry.at("theta")));
    for (const auto known : entry.at("outliers")) {
      const auto& found = number(known.at("l")) > 0 ? spike.upper : spike.lower;
      REQUIRE(found.has_value());
      CHECK_THAT(found->strength, WithinRel(number(known.at("l")), 1e-10));
      CHECK_THAT(found->w, WithinRel(number(known.at("w")), 1e-10));
      CHECK_THAT(found->overlaps.symmetric, WithinRel(number(known.at("sym")), 1e-10));
      CHECK_THAT(found->overlaps.right, WithinRel(number(known.at("right")), 1e-10));
      CHECK_THAT(found->overlaps.left, WithinRel(number(known.at("left")), 1e-10));
    }
    const auto upper = localised_threshold_upper(gamma, lambda);
    REQUIRE(upper.has_value() == !entry.at("theta_c_upper").is_null());
    if (upper) {
      CHECK_THAT(*upper, WithinRel(number(entry.at("theta_c_upper")), 1e-10));
      CHECK_FALSE(localised_spike(gamma, lambda, *upper * 0.999).upper.has_value());
      const LocalisedSpike just = localised_spike(gamma, lambda, *upper * 1.001);
      REQUIRE(just.upper.has_value());
      // It leaves the bulk at its edge, with no overlap.
      CHECK_THAT(just.upper->w, WithinAbs(isotropic_spectrum(gamma, lambda).upper, 1e-5));
      CHECK(just.upper->overlaps.symmetric < 0.01);
    }
    if (gamma < 1) {
      CHECK_THAT(*localised_threshold_lower(gamma, lambda),
                 WithinRel(number(entry.at("theta_c_lower")), 1e-10));
    }
  }
  // Measured independently (d = 400, γ = 0.5, λ = 3, θ = 20): .3600(21), v .296(8), right .691(9).
  const LocalisedSpike spike = localised_spike(0.5, 3, 20);
  CHECK_THAT(spike.upper->w, WithinAbs(0.3576, 1e-4));
  CHECK_THAT(spike.upper->overlaps.symmetric, WithinAbs(0.267, 1e-3));
  CHECK_THAT(spike.upper->overlaps.right, WithinAbs(0.670, 1e-3));
  // γ > 1: below the atom for every θ.
  CHECK(localised_spike(2, 1, 1e-3).lower->w < *isotropic_spectrum(2, 1).atom);
}

TEST_CASE("masked spike: bad input names the argument", "[theory][masked]") {
  CHECK(refused([] {
          static_cast<void>(DelocalisedSpike(SpikeEstimator::masked, {SpikedGroup{}}, 0.5, 0));
        }) == "lambda");
  CHECK(refused([] {
          static_cast<void>(DelocalisedSpike(SpikeEstimator::pca, {SpikedGroup{}}, 0, 1));
        }) == "gamma");
  CHECK(refused([] {
          static_cast<void>(
              DelocalisedSpike(SpikeEstimator::pca, {SpikedGroup{}}, 1, 1).overlaps(-1));
        }) == "theta");
  CHECK(refused([] { static_cast<void>(localised_spike(0.5, 1, -2)); }) == "theta");
}

}  // namespace masked_spike_test
