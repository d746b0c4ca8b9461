/// @file
/// @brief Study icl-double-descent: errors of linear attention in context against the number of
/// pretraining sequences.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attica/solvers/statistics/claim_tests.hpp"
#include "attica/studies/icl/ridge_sweep.hpp"

namespace attica::icl_double_descent {
namespace {

struct DoubleDescent : ContextSweep {
  explicit DoubleDescent(Configuration& c) : ContextSweep(c, ContextAxis::tau) {}
};

/// With the smallest penalty the mean ICL error is largest at the τ nearest the threshold
/// n = d (d + 1), where the theory says so: the penalty is small and the τ enclose the threshold.
std::vector<ClaimResult> peak(const Configuration& c, const Observed& observed) {
  const double lambda = ascending(c.reals("sweep.lambda")).front();
  const ObservedCurve* curve = observed.curve("icl", {{"lambda", lambda}});
  const double threshold = 1 + 1 / static_cast<double>(c.integer("model.dimension"));
  if (curve == nullptr || curve->mean.x.size() < 3) return {};
  const std::vector<double>& x = curve->mean.x;
  const auto nearest = std::min_element(x.begin(), x.end(), [&](double a, double b) {
    return std::abs(std::log(a / threshold)) < std::abs(std::log(b / threshold));
  });
  double highest = -std::numeric_limits<double>::infinity();
  double highest_at = 0;
  for (const Prediction& p : observed.theory) {
    if (p.series.name != "icl" || p.series.point != curve->mean.point) continue;
    for (std::size_t k = 0; k < p.series.x.size(); ++k) {
      const bool simulated = std::find(x.begin(), x.end(), p.series.x[k]) != x.end();
      if (!simulated || p.series.y[k] <= highest) continue;
      highest = p.series.y[k];
      highest_at = p.series.x[k];
    }
  }
  if (nearest == x.begin() || nearest == x.end() - 1 || highest_at != *nearest) return {};
  const auto top = static_cast<std::size_t>(nearest - x.begin());
  std::vector<std::vector<double>> others = curve->values;
  const std::vector<std::vector<double>> first = {others[top]};
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(top));
  return {
      claim_tested("peak_at_one",
                   "with the smallest penalty the ICL error is largest at the tau nearest 1 + 1/d",
                   some_above_all(first, others),
                   fmt::format("lambda = {}, tau = {}", lambda, *nearest))};
}

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  std::vector<ClaimResult> all = {above_bayes(observed)};
  for (ClaimResult& claim : peak(c, observed)) all.push_back(std::move(claim));
  return all;
}

}  // namespace

Study study() {
  return described({.name = "icl-double-descent", .make = make<DoubleDescent>, .claims = claims});
}

}  // namespace attica::icl_double_descent
