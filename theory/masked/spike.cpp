#include "attica/theory/masked/spike.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "attica/core/error.hpp"
#include "attica/theory/masked/spectrum.hpp"

namespace attica {

namespace {

/// The root of an increasing function, to rounding.
double bisect(double low, double high, const std::function<double(double)>& f) {
  constexpr int kHalvings = 200;
  for (int k = 0; k < kHalvings; ++k) {
    const double middle = low + (high - low) / 2;
    if (middle == low || middle == high) break;
    (f(middle) < 0 ? low : high) = middle;
  }
  return low + (high - low) / 2;
}

/// e = -1/(1 + exp t) runs over (-1, 0).
constexpr double kLargest = 40;

}  // namespace

DelocalisedSpike::DelocalisedSpike(SpikeEstimator estimator,
                                   std::vector<SpikedGroup> groups,
                                   double gamma,
                                   double lambda)
    : groups_(std::move(groups)), gamma_(gamma) {
  std::vector<SiteGroup> sites;
  for (const SpikedGroup& group : groups_) sites.push_back({group.variance, group.share});
  const bool masked = estimator == SpikeEstimator::masked;
  const MaskedEquivalent noise = masked_equivalent(sites, gamma, masked ? lambda : 1.0);
  for (std::size_t p = 0; p < groups_.size(); ++p) {
    const double psi = groups_[p].variance;
    a_.push_back(masked ? lambda : estimator == SpikeEstimator::hollow ? -psi : 0.0);
    b_.push_back(masked ? 1 / noise.g[p] : estimator == SpikeEstimator::correlation ? psi : 1.0);
  }
  // Above the bulk z falls with e where Γ > 1, and rises where Γ < 1.
  edge_t_ = bisect(-kLargest, kLargest, [&](double t) { return 1 - state(t).gamma; });
  const State at = state(edge_t_);
  edge_ = at.z;
  threshold_ = -1 / (at.c * spike_sum(at, 1, 0));
  if (!std::isfinite(edge_) || !(threshold_ > 0)) {
    throw Error(ErrorKind::numerical,
                fmt::format("masked spike: no upper edge of the spectrum found at gamma = {}{}",
                            gamma,
                            masked ? fmt::format(", lambda = {}", lambda) : ""));
  }
}

DelocalisedSpike::State DelocalisedSpike::state(double t) const {
  const double e = -1 / (1 + std::exp(t));
  State at{.c = 1 + std::exp(-t), .z = 0, .q = std::vector<double>(groups_.size()), .gamma = 0};
  double top = -std::numeric_limits<double>::infinity();
  for (std::size_t p = 0; p < groups_.size(); ++p) {
    top = std::max(top, (groups_[p].variance * at.c + a_[p]) / b_[p]);
  }
  // Q from z = top + distance, so that nothing cancels where z is next to top.
  const auto fill = [&](double log_distance) {
    const double distance = std::exp(log_distance);
    double f = 0;
    for (std::size_t p = 0; p < groups_.size(); ++p) {
      const double own = (groups_[p].variance * at.c + a_[p]) / b_[p];
      at.q[p] = -1 / (b_[p] * ((top - own) + distance));
      f += gamma_ * groups_[p].share * groups_[p].variance * at.q[p];
    }
    at.z = top + distance;
    return f;
  };
  constexpr double kWidest = 120;
  fill(bisect(-kWidest, kWidest, [&](double log_distance) { return fill(log_distance) - e; }));
  for (std::size_t p = 0; p < groups_.size(); ++p) {
    const double product = groups_[p].variance * at.q[p] * at.c;
    at.gamma += gamma_ * groups_[p].share * product * product;
  }
  return at;
}

double DelocalisedSpike::spike_sum(const State& at, int power, double exponent) const {
  double sum = 0;
  for (std::size_t p = 0; p < groups_.size(); ++p) {
    sum += groups_[p].weight * std::pow(at.q[p], power) * std::pow(b_[p], exponent);
  }
  return sum;
}

DelocalisedSpike::State DelocalisedSpike::outlier(double theta) const {
  // 1 + θ c Σ u²Q rises from below 0 at the edge to 1 far away.
  return state(bisect(edge_t_, kLargest, [&](double t) {
    const State at = state(t);
    return 1 + theta * at.c * spike_sum(at, 1, 0);
  }));
}

double DelocalisedSpike::eigenvalue(double theta) const {
  require(std::isfinite(theta) && theta >= 0, "theta", theta, "0 <= theta < infinity");
  return theta > threshold_ ? outlier(theta).z : edge_;
}

/// By how much F = 1 + θ c Σ u²Q changes when diag(b^power) ds is added to the pencil.
double DelocalisedSpike::response(const State& at, double theta, double power) const {
  double e_slope = 0;
  for (std::size_t p = 0; p < groups_.size(); ++p) {
    e_slope -= gamma_ * groups_[p].share * groups_[p].variance * at.q[p] * at.q[p] *
               std::pow(b_[p], power) / (1 - at.gamma);
  }
  const double c_slope = -at.c * at.c * e_slope;
  double weighted = 0;
  for (std::size_t p = 0; p < groups_.size(); ++p) {
    weighted += groups_[p].weight * at.q[p] * at.q[p] *
                (groups_[p].variance * c_slope + std::pow(b_[p], power));
  }
  return theta * (c_slope * spike_sum(at, 1, 0) - at.c * weighted);
}

SpikeOverlaps DelocalisedSpike::overlaps(double theta) const {
  require(std::isfinite(theta) && theta >= 0, "theta", theta, "0 <= theta < infinity");
  if (theta <= threshold_) return {};
  const State at = outlier(theta);
  // (uᵀ b^(k/2) v)² / |b^((k-1)/2) v|² for k = 1, 2, 0
  const auto squared = [&](double exponent) {
    const double amplitude = spike_sum(at, 1, exponent);
    return theta * at.c * amplitude * amplitude / -response(at, theta, 2 * exponent);
  };
  return {.symmetric = squared(0.5), .right = squared(1), .left = squared(0)};
}

LocalisedSpike localised_spike(double gamma, double lambda, double theta) {
  require(std::isfinite(theta) && theta >= 0, "theta", theta, "0 <= theta < infinity");
  const MaskedEquivalent noise = masked_equivalent({SiteGroup{}}, gamma, lambda);
  const double kappa = noise.kappa;
  const double g = noise.g.front();
  const double g1 = kappa / lambda / (1 + theta + kappa);
  // ℓ(ℓ+γ)(1+κ)(1+κ+θ) = θκγ(1+κ+ℓ), divided by (1+κ)(1+κ+θ)
  const double product = -theta * kappa * gamma / (1 + kappa + theta);
  const double half = (gamma + product / (1 + kappa)) / 2;
  const double root = std::sqrt(half * half - product);
  const auto outlier = [&](double l) -> std::optional<LocalisedOutlier> {
    if (!(l * l > gamma)) return {};
    const double x = (1 + l) * (1 + gamma / l);
    const double v2 = 1 / (1 + g1 / g * (1 + theta) * gamma / (l * l - gamma));
    const auto tilted = [&](double own, double other) {
      return v2 * own / (v2 * own + (1 - v2) * other);
    };
    return LocalisedOutlier{
        .strength = l,
        .w = 1 - 1 / (g * (x + lambda)),
        .overlaps = {.symmetric = v2, .right = tilted(1 / g1, 1 / g), .left = tilted(g1, g)}};
  };
  return {.upper = outlier(root - half), .lower = outlier(-root - half)};
}

std::optional<double> localised_threshold_upper(double gamma, double lambda) {
  const double kappa = isotropic_spectrum(gamma, lambda).kappa;
  const double root = std::sqrt(gamma);
  const double rest = kappa * kappa - 1 - root;
  if (rest <= 0) return {};
  return (1 + root) * (1 + kappa) * (1 + kappa) / rest;
}

std::optional<double> localised_threshold_lower(double gamma, double lambda) {
  if (gamma > 1) return 0.0;
  const double kappa = isotropic_spectrum(gamma, lambda).kappa;
  const double root = std::sqrt(gamma);
  const double rest = kappa * kappa - 1 + root;
  if (rest <= 0) return {};
  return (1 - root) * (1 + kappa) * (1 + kappa) / rest;
}

}  // namespace attica
