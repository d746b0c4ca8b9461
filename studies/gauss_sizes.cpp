/// @file
/// @brief Study gauss-sizes: how fast simulation approaches the theory of ridge regression in
/// Gaussian masked modelling as the number of sites grows at fixed samples per input.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attica/core/error.hpp"
#include "attica/studies/gaussian_studies.hpp"
#include "attica/studies/ridge_sweep.hpp"

namespace attica {
namespace {

using Eigen::Index;

/// One covariance of the family, with everything that its data sets share.
struct Size {
  GaussianModel model;
  GaussianRidge ridge;
};

class SizeSweep : public Experiment {
 public:
  explicit SizeSweep(const Configuration& c)
      : alphas_(c.reals("sweep.alpha")), lambdas_(c.reals("sweep.lambda")) {
    std::vector<std::int64_t> sites = c.integers("sweep.sites");
    std::sort(sites.begin(), sites.end());
    sites.erase(std::unique(sites.begin(), sites.end()), sites.end());
    for (const std::int64_t l : sites) {
      GaussianModel model = GaussianModel::family(c, l);
      GaussianRidge ridge(model.problem());
      sizes_.push_back({std::move(model), std::move(ridge)});
    }
  }

  TheoryResult theory(TheoryGrid) const override {
    TheoryResult result;
    for (const double alpha : alphas_) {
      for (const double lambda : lambdas_) {
        Prediction error{.series = series("test_error", alpha, lambda)};
        Series deviation = series("scaled_deviation", alpha, lambda);
        Series allowance = series("allowance", alpha, lambda);
        for (const Size& size : sizes_) {
          const RidgePoint point = theory_at(size, alpha, lambda);
          const bool valid = point.status == RidgeStatus::converged;
          error.series.x.push_back(sites(size));
          error.series.y.push_back(valid ? point.test_error : std::nan(""));
          error.finite_size.push_back(point.finite_size_test);
          deviation.x.push_back(sites(size));
          deviation.y.push_back(0);  // at leading order
          allowance.x.push_back(sites(size));
          allowance.y.push_back(valid ? point.samples * point.finite_size_test / point.test_error
                                      : std::nan(""));
        }
        result.predictions.push_back(std::move(error));
        result.predictions.push_back({.series = std::move(deviation)});
        result.predictions.push_back({.series = std::move(allowance)});
      }
    }
    return result;
  }

  std::size_t points() const override { return sizes_.size() * alphas_.size(); }

  std::uint64_t replicates_per_piece(std::size_t point) const override {
    const Size& size = sizes_[point / alphas_.size()];
    return ridge_replicates_per_piece(samples(size, alphas_[point % alphas_.size()]),
                                      size.model.problem().sites(),
                                      lambdas_.size());
  }

  std::vector<Outcome> simulate(const Piece& piece) const override {
    const Size& size = sizes_[piece.point / alphas_.size()];
    const double alpha = alphas_[piece.point % alphas_.size()];
    std::vector<RidgePoint> theory;
    for (const double lambda : lambdas_) theory.push_back(theory_at(size, alpha, lambda));
    return each_replicate(piece, [&](std::uint64_t replicate) {
      RandomStream stream(piece.stream(replicate));
      const RidgeFits fits(size.model.samples(samples(size, alpha), stream), size.model.factor());
      Outcome outcome;
      for (std::size_t k = 0; k < lambdas_.size(); ++k) {
        const double error = fits.fit(lambdas_[k]).test.mean();
        const double expected = theory[k].test_error;
        const auto observe = [&](const char* name, double value) {
          Series s = series(name, alpha, lambdas_[k]);
          s.x = {sites(size)};
          s.y = {value};
          outcome.series.push_back(std::move(s));
        };
        observe("test_error", error);
        // Signed: its mean tends to the coefficient of 1/M, while the mean of absolute values would
        // tend to the noise of a single data set.
        observe("scaled_deviation", (error / expected - 1) * theory[k].samples);
      }
      return outcome;
    });
  }

 private:
  static double sites(const Size& size) {
    return static_cast<double>(size.model.problem().sites());
  }
  static Index samples(const Size& size, double alpha) {
    return realised_samples(alpha, sites(size) - 1);
  }
  /// At the realised number of samples.
  static RidgePoint theory_at(const Size& size, double alpha, double lambda) {
    return size.ridge.average(static_cast<double>(samples(size, alpha)), lambda);
  }
  static Series series(const char* name, double alpha, double lambda) {
    return {.name = name,
            .point = {{"alpha", alpha}, {"lambda", lambda}},
            .x_name = "sites",
            .x = {},
            .y = {}};
  }

  std::vector<double> alphas_;
  std::vector<double> lambdas_;
  std::vector<Size> sizes_;
};

std::unique_ptr<Experiment> make(Configuration& c) { return std::make_unique<SizeSweep>(c); }

Figure figure(const Configuration&) {
  const Axis sites{.label = "sites {/:Italic L}", .scale = AxisScale::log};
  Panel flat{.x = sites,
             .y = {.label = "({/:Italic E}_{sim} / {/:Italic E}_{theory} − 1) {/:Italic M}"},
             .layers = {{.series = "scaled_deviation", .label = "deviation", .theory = false},
                        {.series = "allowance", .label = "allowance 1/(1 − {/:Italic γ})"}},
             .x_name = "sites"};
  Panel error{.x = sites,
              .y = {.label = "test error {/:Italic E}_{test}"},
              .layers = {{.series = "test_error"}},
              .x_name = "sites"};
  return {.name = "gauss-sizes",
          .panels = {flat, error},
          .columns = 1,
          .caption =
              "Ridge regression in Gaussian masked modelling at fixed samples per input: "
              "deviation of the simulated test error from theory times the number of "
              "samples, flat where the deviation falls as 1/M, with the margins' allowance "
              "dashed; and the test error itself. Lines: theory at leading order; points: "
              "mean and standard error over replicates."};
}

std::vector<AgreementRule> agreement(const Configuration&) {
  // Nothing but the allowance E/(M (1 - gamma)): what is tested is that it covers the deviation.
  return {{.series = "test_error", .relative = 0}};
}

/// The deviation falls as 1/M: the scaled deviation has no trend in L.
std::vector<ClaimResult> claims(const Configuration&, const Observed& observed) {
  // A tenth of what the allowance lets the scaled deviation be, per doubling of L. A theory with a
  // wrong constant shows a trend that doubles from one doubling to the next.
  constexpr double kLargestTrend = 0.1;
  std::vector<ClaimResult> results;
  std::vector<ComparedPoint> trends;
  for (const ObservedCurve& curve : observed.simulation) {
    const std::vector<double>& sites = curve.mean.x;
    if (curve.mean.name != "scaled_deviation" || sites.size() < 2) continue;
    const auto allowance = std::find_if(
        observed.theory.begin(), observed.theory.end(), [&](const Prediction& prediction) {
          return prediction.series.name == "allowance" &&
                 prediction.series.point == curve.mean.point;
        });
    if (allowance == observed.theory.end() || allowance->series.y.empty()) continue;
    const std::vector<double>& allowed = allowance->series.y;
    const double limit = kLargestTrend * std::accumulate(allowed.begin(), allowed.end(), 0.0) /
                         static_cast<double>(allowed.size());
    // Least-squares slope against log2 L, replicate by replicate: data sets of different sizes are
    // independent, so that the slopes are independent samples of one distribution.
    std::vector<double> weights;
    for (const double l : sites) weights.push_back(std::log2(l));
    const double centre =
        std::accumulate(weights.begin(), weights.end(), 0.0) / static_cast<double>(weights.size());
    for (double& w : weights) w -= centre;
    const double norm = std::inner_product(weights.begin(), weights.end(), weights.begin(), 0.0);
    std::size_t complete = curve.values.front().size();
    for (const auto& values : curve.values) complete = std::min(complete, values.size());
    std::vector<double> slopes(complete, 0.0);
    for (std::size_t k = 0; k < sites.size(); ++k) {
      for (std::size_t r = 0; r < complete; ++r) {
        slopes[r] += weights[k] * curve.values[k][r] / norm;
      }
    }
    trends.push_back(
        {.theory = 0.0, .replicates = std::move(slopes), .margin = {.absolute = limit}});
    results.push_back({.name = fmt::format("one_over_m[{}]", describe(curve.mean.point)),
                       .statement = fmt::format(
                           "scaled_deviation changes by less than {:.3g} per doubling of L", limit),
                       .verdict = Verdict::inconclusive,
                       .detail = {}});
  }
  const RunVerdict verdict = judge(trends);
  for (std::size_t k = 0; k < results.size(); ++k) {
    const PointVerdict& v = verdict.points[k];
    results[k].verdict = v.verdict;
    results[k].detail = fmt::format("trend {:.3g} +- {:.2g}", v.sample.mean, v.sample.sem);
  }
  return results;
}

}  // namespace

Study gauss_sizes() {
  std::vector<Parameter> parameters = gaussian_family_parameters();
  parameters.push_back(integers_parameter(
      "sweep.sites", List{20, 40, 80, 160}, "numbers of sites L", {.low = 2, .high = 100000}));
  parameters.push_back(alpha_parameter({0.5, 2.0}));
  parameters.push_back(lambda_parameter({0.01}, false));
  parameters.push_back(
      replicates_parameter(2000, "independent data sets of every size; all lambda share them"));
  return {
      .name = "gauss-sizes",
      .question = "How fast does simulation approach the theory as the sequences grow longer?",
      .neglects =
          "corrections of relative order 1/(M (1 - gamma)), whose order in M is what the "
          "study measures",
      .parameters = std::move(parameters),
      .series = {{"scaled_deviation",
                  "(E_sim / E_theory - 1) M",
                  "relative deviation of the test error from theory, times the number of samples; "
                  "0 at leading order"},
                 {"test_error",
                  "E_test",
                  "population mean squared error, averaged over sites, no factor 1/2"},
                 {"allowance",
                  "1/(1 - gamma)",
                  "largest scaled deviation that the studies' margins allow for (theory)"}},
      .presets = {{"quick", "the defaults: L = 20, 40, 80, 160, 2 alpha, 2000 replicates", {}},
                  {"paper",
                   "L = 20 to 640, 3 alpha, 4000 replicates",
                   {{"sweep.sites", List{20, 40, 80, 160, 320, 640}},
                    {"sweep.alpha", List{0.5, 1.0, 2.0}},
                    {"sim.replicates", 4000}}}},
      .sources = ridge_sources(),
      .make = make,
      .figure = figure,
      .agreement = agreement,
      .claims = claims,
  };
}

}  // namespace attica
