/// @file
/// @brief Study gauss-lambda: generalization error of ridge regression in Gaussian masked modelling
/// against the penalty, with the penalty that theory calls optimal.

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "attica/core/parallel.hpp"
#include "attica/studies/gauss/ridge_sweep.hpp"
#include "attica/theory/gauss/ridge_limits.hpp"

namespace attica::gauss_lambda {
namespace {

/// Sample ratios along the line of optima, and by what factor it goes on beyond the simulated ones.
constexpr int kOptima = 30;
constexpr double kBeyond = 3;

constexpr RidgeQuantity kError = {
    "test_error", &RidgePoint::test_error, &RidgePoint::finite_size_test, &RidgeFit::test};

/// A penalty that is wrong by this factor, either way, is to be seen to be worse.
constexpr double kOff = 2;

class PenaltySweep : public RidgeSweep {
 public:
  explicit PenaltySweep(Configuration& c)
      : RidgeSweep(c, RidgeAxis::lambda, {kError}), optima_([this] {
          std::vector<double> alphas;
          for (std::size_t k = 0; k < sizes().count(); ++k) alphas.push_back(sizes().alpha(k));
          return optima_at(alphas);
        }) {}

  TheoryResult theory(TheoryGrid grid) const override {
    TheoryResult result = RidgeSweep::theory(grid);
    // The curve (lambda*(alpha), E(lambda*(alpha))) passes through the minimum of every error
    // curve.
    Curves best({}, "alpha", {"optimal_lambda"});
    Curves locus({}, "lambda", {"optimal_test_error"});
    std::vector<double> ratios = sizes().alphas(grid);
    if (grid == TheoryGrid::run) {
      const double fewest = std::max(ratios.front() / kBeyond, 1 / model().inputs());
      const std::vector<double> line = log_grid(fewest, ratios.back() * kBeyond, kOptima);
      ratios.insert(ratios.end(), line.begin(), line.end());
      ratios = ascending(std::move(ratios));
    }
    const std::vector<OptimalPenalty> optima = optima_at(ratios);
    for (std::size_t k = 0; k < ratios.size(); ++k) {
      const double alpha = ratios[k];
      const OptimalPenalty& found = optima[k];
      best.add(alpha,
               {found.at_edge ? std::numeric_limits<double>::infinity() : configured(found)});
      if (!has_place(found)) continue;
      const RidgePoint there = ridge().average(sizes().samples(alpha), found.lambda);
      locus.add(configured(found), {told(there, kError)});
    }
    best.into(result);
    locus.into(result);
    return result;
  }

 protected:
  void observe(const std::vector<RidgeFits>& sets,
               const Replicate& replicate,
               Outcome& outcome) const override {
    const OptimalPenalty& found = optima_.get()[replicate.point()];
    if (!has_place(found)) return;
    const auto error = [&](double lambda) {
      return mean_over(sets, [&](const RidgeFits& set) { return set.fit(lambda).test.mean(); });
    };
    const double least = error(found.lambda);
    Curves({}, "lambda", {"optimal_test_error"}).add(configured(found), {least}).into(outcome);
    Curves({}, "alpha", {"rise_below", "rise_above"})
        .add(sizes().alpha(replicate.point()),
             {error(found.lambda / kOff) - least, error(found.lambda * kOff) - least})
        .into(outcome);
  }

 private:
  std::vector<OptimalPenalty> optima_at(const std::vector<double>& alphas) const {
    return parallel_map(
        alphas, [&](double alpha) { return optimal_penalty(ridge(), sizes().samples(alpha)); });
  }
  double configured(const OptimalPenalty& found) const {
    return found.lambda / model().absolute_lambda(1);
  }
  /// On a logarithmic axis.
  static bool has_place(const OptimalPenalty& found) { return !found.at_edge && found.lambda > 0; }

  Lazy<std::vector<OptimalPenalty>> optima_;  ///< of the simulated sample sizes
};

/// That a minimum of the simulated error lies within a factor of the predicted one: it is higher on
/// either side, on the same data sets.
std::vector<ClaimResult> claims(const Configuration&, const Observed& observed) {
  std::vector<ClaimResult> all;
  for (const auto& [series, where] : {std::pair{"rise_below", "half"}, {"rise_above", "twice"}}) {
    const ObservedCurve* curve = observed.curve(series);
    if (curve == nullptr) continue;
    for (std::size_t k = 0; k < curve->mean.x.size(); ++k) {
      all.push_back(claim_above(
          fmt::format("{}[alpha={:.4g}]", series, curve->mean.x[k]),
          fmt::format("the test error at {} the predicted optimal penalty is above that at it",
                      where),
          curve->values[k],
          0));
    }
  }
  return all;
}

}  // namespace

Study study() {
  return described({.name = "gauss-lambda", .make = make<PenaltySweep>, .claims = claims});
}

}  // namespace attica::gauss_lambda
