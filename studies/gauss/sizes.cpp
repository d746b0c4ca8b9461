/// @file
/// @brief Study gauss-sizes: how fast simulation approaches the theory of ridge regression in
/// Gaussian masked modelling as the number of sites grows at fixed samples per input.

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "attica/core/gauss/ensembles.hpp"
#include "attica/studies/gauss/ridge_sweep.hpp"
#include "attica/studies/mean_claims.hpp"
#include "attica/studies/sample_ratios.hpp"
#include "attica/theory/gauss/ridge_limits.hpp"

namespace attica::gauss_sizes {
namespace {

using Eigen::Index;

/// One covariance of the family, with everything that its data sets share.
struct Size {
  Size(const Configuration& c, Index sites)
      : model(GaussianModel::family(c, sites)), ridge(model.problem()), samples(model.sizes(c)) {}

  double sites() const { return static_cast<double>(model.problem().sites()); }
  Index realised(double alpha) const { return realised_samples(alpha, model.inputs()); }
  /// At the realised number of samples.
  RidgePoint theory(double alpha, double lambda) const {
    return ridge.average(static_cast<double>(realised(alpha)), lambda);
  }

  GaussianModel model;
  GaussianRidge ridge;
  SampleSizes samples;
};

class SizeSweep : public PointwiseExperiment {
 public:
  explicit SizeSweep(Configuration& c)
      : alphas_(c.reals("sweep.alpha")), lambdas_(c.reals("sweep.lambda")) {
    for (const std::int64_t l : ascending(c.integers("sweep.sites"))) {
      sizes_.emplace_back(c, l).model.require_penalties(lambdas_, "sweep.lambda");
    }
  }

  void require_simulable() const override {
    for (const Size& size : sizes_) require_distinct_samples(size.samples);
  }

  TheoryResult theory(TheoryGrid grid) const override {
    if (grid == TheoryGrid::run) {
      for (const Size& size : sizes_) size.samples.require_usable(grid);
    }
    TheoryResult result;
    for (const double alpha : alphas_) {
      for (const double lambda : lambdas_) {
        Curves all = curves(alpha, lambda, {"test_error", "scaled_deviation", "allowance"});
        for (const Size& size : sizes_) {
          const RidgePoint p = size.theory(alpha, lambda);
          const bool valid = p.status == RidgeStatus::converged;
          const double allowance = p.samples * p.finite_size_test / p.test_error;
          all.add(
              size.sites(),
              std::vector<PredictedValue>{{valid ? p.test_error : std::nan(""), p.finite_size_test},
                                          0.0,  // at leading order
                                          valid ? allowance : std::nan("")});
        }
        all.into(result);
      }
    }
    add_constant(result,
                 "limit_error",
                 precision_ridge_limit(ensemble(2), kLimitAlpha, kLimitLambda).test_error);
    return result;
  }

  std::size_t points() const override { return sizes_.size() * alphas_.size(); }

 protected:
  double flops(std::size_t point) const override {
    const Size& size = sizes_[point / alphas_.size()];
    return ridge_flops(size.realised(alphas_[point % alphas_.size()]),
                       size.model.problem().sites(),
                       lambdas_.size());
  }

  Outcome run(const Replicate& replicate) const override {
    const Size& size = sizes_[replicate.point() / alphas_.size()];
    const double alpha = alphas_[replicate.point() % alphas_.size()];
    RandomStream stream = replicate.stream();
    const RidgeFits fits(size.model.samples(size.realised(alpha), stream), size.model.factor());
    Outcome outcome;
    for (const double lambda : lambdas_) {
      const double error = fits.fit(lambda).test.mean();
      const RidgePoint expected = size.theory(alpha, lambda);
      // Signed: its mean tends to the coefficient of 1/M, while the mean of absolute values would
      // tend to the noise of a single data set.
      const double deviation = (error / expected.test_error - 1) * expected.samples;
      curves(alpha, lambda, {"test_error", "scaled_deviation"})
          .add(size.sites(), {error, deviation})
          .into(outcome);
    }
    constexpr std::uint64_t kDraws = 400;
    if (replicate.point() == 0 && replicate.number < kDraws) {
      add_constant(outcome, "limit_error", towards_limit(replicate.stream(StreamId::model)));
    }
    return outcome;
  }

 private:
  /// Samples for each site, and penalty, at which the limit of the precision ensemble is compared.
  static constexpr double kLimitAlpha = 0.5;
  static constexpr double kLimitLambda = 0.05;
  static PrecisionEnsemble ensemble(Index sites) { return {.sites = sites, .nu = 2.5, .tau = 0.8}; }

  /// The theory's error of drawn covariances of the precision ensemble, extrapolated in 1/L.
  static double towards_limit(RandomStream stream) {
    const auto at = [&](Index sites) {
      const GaussianMlm problem(precision_covariance(ensemble(sites), stream));
      const double samples = kLimitAlpha * static_cast<double>(sites - 1);
      return GaussianRidge(problem).average(samples, kLimitLambda).test_error;
    };
    constexpr Index kSites = 50;
    return 2 * at(2 * kSites) - at(kSites);
  }

  static Curves curves(double alpha, double lambda, const std::vector<std::string>& names) {
    return {{{"alpha", alpha}, {"lambda", lambda}}, "sites", names};
  }

  std::vector<double> alphas_;
  std::vector<double> lambdas_;
  std::vector<Size> sizes_;
};

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// The deviation falls as 1/M: the scaled deviation has no trend in L.
std::vector<ClaimResult> claims(const Configuration&, const Observed& observed) {
  // A tenth of what the allowance lets the scaled deviation be, per doubling of L. A theory with a
  // wrong constant shows a trend that doubles from one doubling to the next.
  constexpr double kLargestTrend = 0.1;
  std::vector<MeanClaim> trends;
  for (const Prediction& prediction : observed.theory) {
    const Series& allowance = prediction.series;
    if (allowance.name != "allowance" || allowance.x.size() < 2) continue;
    const ObservedCurve* curve = observed.curve("scaled_deviation", allowance.point);
    if (curve == nullptr || curve->mean.x.size() < 2) continue;
    // Least-squares slope against log2 L, replicate by replicate: data sets of different sizes are
    // independent, so that the slopes are independent samples of one distribution.
    std::vector<double> weights;
    for (const double l : curve->mean.x) weights.push_back(std::log2(l));
    const double centre = mean(weights);
    for (double& w : weights) w -= centre;
    const double norm = std::inner_product(weights.begin(), weights.end(), weights.begin(), 0.0);
    std::vector<double> slopes;
    for (const std::vector<double>& path : observed.paths("scaled_deviation", allowance.point)) {
      if (path.size() != weights.size()) continue;
      slopes.push_back(std::inner_product(path.begin(), path.end(), weights.begin(), 0.0) / norm);
    }
    const double limit = kLargestTrend * mean(allowance.y);
    trends.push_back(
        {.name = fmt::format("one_over_m[{}]", describe(allowance.point)),
         .statement =
             fmt::format("scaled_deviation changes by less than {:.3g} per doubling of L", limit),
         .point = {.theory = 0.0, .replicates = std::move(slopes), .margin = {.absolute = limit}}});
  }
  return claims_within(std::move(trends));
}

}  // namespace

Study study() {
  return described({.name = "gauss-sizes", .make = make<SizeSweep>, .claims = claims});
}

}  // namespace attica::gauss_sizes
