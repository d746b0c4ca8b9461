/// @file
/// @brief Relations that the theory of masked ridge regression satisfies whatever a simulation
/// finds, by second routes, at the settings of the studies' presets.

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <complex>
#include <numbers>
#include <optional>
#include <vector>

#include "attica/theory/masked/spectrum.hpp"
#include "attica/theory/masked/spike.hpp"
#include "theory/masked/masked_density.hpp"

using namespace attica;
using attica::testing::masked_density;

namespace masked_checks_test {

using Eigen::Index;

/// With equal variances the density in the middle of the bulk is the slope of the cumulative law:
/// relative difference, at a step of 1e-3 of the width.
double density_from_slope(double gamma, double lambda) {
  constexpr double kStep = 1e-3;
  const MaskedEquivalent m = masked_equivalent({SiteGroup{}}, gamma, lambda);
  const IsotropicSpectrum bulk = isotropic_spectrum(gamma, lambda);
  const double middle = (bulk.lower + bulk.upper) / 2;  // away from the edges
  const double step = kStep * (bulk.upper - bulk.lower);
  const double slope = (masked_cdf(m, middle + step) - masked_cdf(m, middle - step)) / (2 * step);
  return std::abs(masked_density(m, middle) / slope - 1);
}

/// (1/d) tr A² by Cauchy's formula from the resolvent, on a circle around all eigenvalues.
double contour_moment2(const MaskedEquivalent& m) {
  constexpr int kNodes = 64;
  const MaskedSupport support = masked_support(m);
  const double centre = (support.lower + support.upper) / 2;
  const double radius = support.upper - support.lower;
  double sum = 0;
  for (int k = 0; k < kNodes; ++k) {
    const auto turn = std::polar(radius, 2 * std::numbers::pi * (k + 0.5) / kNodes);
    const auto w = centre + turn;
    sum -= (w * w * masked_resolvent(m, w) * turn).real() / kNodes;
  }
  return sum;
}

/// Second moments by their closed forms against the resolvent, largest relative difference:
/// variances 1 and `ratio` on halves of the sites, by groups and as a matrix; and correlations
/// ρ^|i-j| on a ring, whose sites are all alike and whose eigenvectors are waves.
double moments_from_resolvent(
    double ratio, double rho, Index sites, double samples, double lambda) {
  const double gamma = static_cast<double>(sites) / samples;
  double worst = 0;
  const auto compare = [&](double value, double exact) {
    worst = std::max(worst, std::abs(value / exact - 1));
  };
  const MaskedEquivalent groups = masked_equivalent({{1, 0.5}, {ratio, 0.5}}, gamma, lambda);
  Eigen::VectorXd halves = Eigen::VectorXd::Ones(sites);
  halves.tail(sites / 2).setConstant(ratio);
  const double of_groups = contour_moment2(groups);
  compare(masked_moment2(groups), of_groups);
  compare(masked_moment2(halves.asDiagonal(), samples, lambda), of_groups);
  const Eigen::MatrixXd ring = Eigen::MatrixXd::NullaryExpr(sites, sites, [&](Index i, Index j) {
    const auto apart = static_cast<double>(std::abs(i - j));
    return std::pow(rho, apart) + std::pow(rho, static_cast<double>(sites) - apart);
  });
  std::vector<SiteGroup> waves;
  const Eigen::VectorXd spectrum =
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(ring).eigenvalues();
  for (const double value : spectrum) waves.push_back({value, 1 / static_cast<double>(sites)});
  compare(masked_moment2(ring, samples, lambda),
          contour_moment2(masked_stationary(waves, gamma, lambda)));
  return worst;
}

/// Outliers of a spike on one coordinate.
struct LocalisedOutliers {
  /// Largest relative defect of ℓ (ℓ+γ) (1+κ) (1+κ+θ) = θ κ γ (1+κ+ℓ).
  double defect = 0;
  /// Whether they begin at their thresholds, at the edge of the bulk, with overlap 0.
  bool begin_at_thresholds = true;
};
LocalisedOutliers localised_outliers(double gamma,
                                     double lambda,
                                     const std::vector<double>& thetas) {
  constexpr double kBeside = 1e-6;
  constexpr double kNothing = 1e-3;  // of an overlap that is proportional to kBeside there
  LocalisedOutliers found;
  const IsotropicSpectrum bulk = isotropic_spectrum(gamma, lambda);
  const double kappa = bulk.kappa;
  const auto defect = [&](const std::optional<LocalisedOutlier>& outlier, double theta) {
    if (!outlier) return;
    const double l = outlier->strength;
    const double left = l * (l + gamma) * (1 + kappa) * (1 + kappa + theta);
    const double right = theta * kappa * gamma * (1 + kappa + l);
    found.defect = std::max(found.defect, std::abs(left / right - 1));
  };
  for (const double theta : thetas) {
    const LocalisedSpike spike = localised_spike(gamma, lambda, theta);
    defect(spike.upper, theta);
    defect(spike.lower, theta);
  }
  const auto beside = [&](const std::optional<double>& threshold, auto end, double edge) {
    if (!threshold || *threshold <= 0) return;
    const auto at = [&](double share) {
      return localised_spike(gamma, lambda, share * *threshold).*end;
    };
    const std::optional<LocalisedOutlier> first = at(1 + kBeside);
    found.begin_at_thresholds = found.begin_at_thresholds && first &&
                                first->overlaps.symmetric < kNothing &&
                                std::abs(first->w - edge) < kNothing && !at(1 - kBeside);
  };
  beside(localised_threshold_upper(gamma, lambda), &LocalisedSpike::upper, bulk.upper);
  beside(localised_threshold_lower(gamma, lambda), &LocalisedSpike::lower, bulk.lower);
  return found;
}
TEST_CASE("masked theory: the density is the slope of the cumulative law",
          "[theory][masked][study:masked-spectrum]") {
  for (const double alpha : {0.25, 0.5, 2.0, 4.0}) {
    for (const double lambda : {0.3, 1.0, 3.0}) {
      CAPTURE(alpha, lambda);
      CHECK(density_from_slope(1 / alpha, lambda) < 1e-3);
    }
  }
}

TEST_CASE("masked theory: second moments of two variances and of a ring are those of the resolvent",
          "[theory][masked][study:masked-spectrum]") {
  constexpr Eigen::Index kSites = 24;
  for (const double alpha : {0.25, 0.5, 2.0, 4.0}) {
    for (const double lambda : {0.3, 1.0, 3.0}) {
      CAPTURE(alpha, lambda);
      CHECK(moments_from_resolvent(4, 0.5, kSites, alpha * kSites, lambda) < 1e-6);
    }
  }
}

TEST_CASE("masked theory: outliers of a spike on one coordinate solve their equation",
          "[theory][masked][study:masked-spike]") {
  for (const double alpha : {0.5, 0.6, 1.0, 2.0, 3.0}) {
    for (const double lambda : {0.5, 1.0, 5.0, 10.0, 80.0}) {
      CAPTURE(alpha, lambda);
      const auto found = localised_outliers(1 / alpha, lambda, {0.5, 1, 1.5, 2, 4, 8, 25});
      CHECK(found.defect < 1e-9);
      CHECK(found.begin_at_thresholds);
    }
  }
}

}  // namespace masked_checks_test
