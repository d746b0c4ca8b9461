/// @file
/// @brief Study masked-vs-pca: a spike under noise of two variances, seen by masked ridge
/// regression, PCA, PCA of correlations and hollow PCA of the same samples.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "attica/solvers/largest_eigenpair.hpp"
#include "attica/solvers/statistics/replicates.hpp"
#include "attica/studies/masked/model.hpp"
#include "attica/studies/sample_ratios.hpp"

namespace attica::masked_vs_pca {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

const Choices<Signal>& signals() {
  static const Choices<Signal> all = {
      {"uniform", Signal::uniform}, {"quiet", Signal::quiet}, {"noisy", Signal::noisy}};
  return all;
}

const std::vector<std::string> kMasked = {"masked", "masked_right", "masked_left"};
const std::vector<std::string> kCorrelation = {
    "correlation", "correlation_right", "correlation_left"};

/// The spike's limit for all four estimators at one γ.
struct Limits {
  DelocalisedSpike pca, correlation, hollow;
  std::vector<DelocalisedSpike> masked;  ///< one a penalty

  Limits(const std::vector<SpikedGroup>& groups, double gamma, const std::vector<double>& lambdas)
      : pca(SpikeEstimator::pca, groups, gamma, 1),
        correlation(SpikeEstimator::correlation, groups, gamma, 1),
        hollow(SpikeEstimator::hollow, groups, gamma, 1) {
    for (const double lambda : lambdas) {
      masked.emplace_back(SpikeEstimator::masked, groups, gamma, lambda);
    }
  }
};

std::vector<SpikedGroup> groups_of(const Configuration& c) {
  return noise_groups(c.real("model.noise_ratio"), signals().of(c, "model.signal"));
}

class MaskedVsPca : public PointwiseExperiment {
 public:
  explicit MaskedVsPca(Configuration& c)
      : configuration_(c),
        dimension_(c.integer("model.dimension")),
        ratio_(c.real("model.noise_ratio")),
        signal_(signals().of(c, "model.signal")),
        groups_(groups_of(c)),
        lambdas_(ascending(c.reals("sweep.lambda"))),
        thetas_(ascending(c.reals("sweep.theta"))),
        sizes_(masked_sizes(
            with_distinct_ratios(c, static_cast<double>(c.integer("model.dimension"))))) {
    require_halves(c);
    warnings_ = rounded_ratios(c, sizes_);
    bool near = false;
    for (const double alpha : sizes_.alphas(TheoryGrid::run)) {
      const Limits limits =
          at_point({{"alpha", alpha}}, [&] { return Limits(groups_, 1 / alpha, lambdas_); });
      for (const double theta : thetas_) {
        for (const DelocalisedSpike& spike : limits.masked) {
          near = near || !away_from(theta, spike.threshold());
        }
        for (const DelocalisedSpike* spike : {&limits.pca, &limits.correlation, &limits.hollow}) {
          near = near || !away_from(theta, spike->threshold());
        }
      }
    }
    if (near) {
      warnings_.emplace_back(
          "theta between 0.7 and 1.3 of an estimator's threshold is simulated and drawn, not "
          "compared for that estimator");
    }
  }

  void require_simulable() const override {
    require_distinct_samples(sizes_);
    require_masked_memory(configuration_, static_cast<double>(sizes_[sizes_.count() - 1]));
  }

  TheoryResult theory(TheoryGrid grid) const override {
    TheoryResult result;
    constexpr int kParts = 30;
    const std::vector<double> thetas = line_between(thetas_, AxisScale::log, grid, kParts);
    for (const double alpha : sizes_.alphas(grid)) {
      const Limits limits(groups_, 1 / alpha, lambdas_);
      const Point point = {{"alpha", alpha}};
      overlaps(limits.pca, point, thetas, {"pca"}, result);
      overlaps(limits.correlation, point, thetas, kCorrelation, result);
      overlaps(limits.hollow, point, thetas, {"hollow"}, result);
      for (std::size_t k = 0; k < lambdas_.size(); ++k) {
        overlaps(
            limits.masked[k], {{"alpha", alpha}, {"lambda", lambdas_[k]}}, thetas, kMasked, result);
      }
      const auto estimator = [&](const char* name) {
        return Point{{"alpha", alpha}, {"estimator", name}};
      };
      constexpr double kLow = 1e-3;
      constexpr double kHigh = 1e2;
      constexpr int kLine = 31;
      std::vector<double> lambdas = lambdas_;
      if (grid == TheoryGrid::run) {
        for (const double lambda : log_grid(kLow, kHigh, kLine)) lambdas.push_back(lambda);
        lambdas = ascending(std::move(lambdas));
      }
      Curves threshold(estimator("masked"), "lambda", {"threshold"});
      for (const double lambda : lambdas) {
        const DelocalisedSpike spike(SpikeEstimator::masked, groups_, 1 / alpha, lambda);
        threshold.add(lambda, {{spike.threshold(), 0, false}});
      }
      threshold.into(result);
      const auto constant = [&](const char* name, const DelocalisedSpike& spike) {
        add_constant(result, "threshold", {spike.threshold(), 0, false}, estimator(name));
      };
      constant("PCA", limits.pca);
      constant("correlations", limits.correlation);
      constant("hollow PCA", limits.hollow);
    }
    return result;
  }

  std::size_t points() const override { return sizes_.count() * thetas_.size(); }

 protected:
  double flops(std::size_t point) const override {
    constexpr double kOthers = 3;
    const auto n = static_cast<double>(sizes_[point / thetas_.size()]);
    const auto lambdas = static_cast<double>(lambdas_.size());
    return masked_flops(dimension(), n) * lambdas +
           eigenpair_flops(dimension()) * (kOthers + lambdas);
  }

  Outcome run(const Replicate& replicate) const override {
    const std::size_t size = replicate.point() / thetas_.size();
    const double alpha = sizes_.alpha(size);
    const double theta = thetas_[replicate.point() % thetas_.size()];
    RandomStream signs = replicate.stream(StreamId::model);
    const SpikedNoise noise = noisy_sites(dimension_, ratio_, signal_, theta, signs);
    RandomStream stream = replicate.stream();
    const MatrixXd s = sample_covariance(noise, sizes_[size], stream);
    const VectorXd variances = s.diagonal();
    Outcome outcome;
    const auto cosine = [&](const VectorXd& v) { return squared_cosine(v, noise.direction); };
    // Eigenvector v of the symmetric form, right one b^½ v, left one b^-½ v.
    const auto observe = [&](const Point& point,
                             const std::vector<std::string>& names,
                             const MatrixXd& form,
                             const VectorXd& b) {
      const VectorXd v = largest_eigenpair(form).vector;
      const VectorXd root = b.cwiseSqrt();
      std::vector<double> values = {
          cosine(v), cosine(v.cwiseProduct(root)), cosine(v.cwiseQuotient(root))};
      values.resize(names.size());
      Curves(point, "theta", names).add(theta, values).into(outcome);
    };
    const Point point = {{"alpha", alpha}};
    observe(point, {"pca"}, s, variances);
    const VectorXd scale = variances.cwiseSqrt().cwiseInverse();
    observe(point, kCorrelation, scale.asDiagonal() * s * scale.asDiagonal(), variances);
    MatrixXd hollow = s;
    hollow.diagonal().setZero();
    observe(point, {"hollow"}, hollow, variances);
    for (const double lambda : lambdas_) {
      const MaskedRidge ridge(s, lambda);
      observe({{"alpha", alpha}, {"lambda", lambda}},
              kMasked,
              ridge.inverse_form,
              ridge.diagonal.cwiseInverse());
    }
    return outcome;
  }

 private:
  double dimension() const { return static_cast<double>(dimension_); }

  void overlaps(const DelocalisedSpike& spike,
                const Point& point,
                const std::vector<double>& thetas,
                const std::vector<std::string>& names,
                TheoryResult& result) const {
    Curves curves(point, "theta", names);
    for (const double theta : thetas) {
      const SpikeOverlaps at = spike.overlaps(theta);
      std::vector<PredictedValue> values;
      for (const double overlap : {at.symmetric, at.right, at.left}) {
        values.push_back(overlap_value(overlap, theta, spike.threshold(), dimension()));
      }
      values.resize(names.size(), PredictedValue(0));
      curves.add(theta, values);
    }
    curves.into(result);
  }

  Configuration configuration_;
  Index dimension_;
  double ratio_;
  Signal signal_;
  std::vector<SpikedGroup> groups_;
  std::vector<double> lambdas_;
  std::vector<double> thetas_;
  SampleSizes sizes_;
};

/// Two panels for every number of samples, and the thresholds.
Figure figure(const Configuration& c) {
  const Axis theta{.label = "spike {/:Italic θ}", .scale = AxisScale::log};
  const Axis overlap{.label = "squared overlap", .low = 0.0, .high = 1.0};
  const SampleSizes sizes = masked_sizes(c);
  const bool several = c.reals("sweep.lambda").size() > 1;
  std::vector<Panel> panels;
  for (std::size_t k = 0; k < sizes.count(); ++k) {
    const double alpha = sizes.alpha(k);
    const auto layer = [&](const char* series, const char* words) {
      const bool penalised = several && std::string_view(series).starts_with("masked");
      return Layer{.series = series,
                   .label = words + std::string(penalised ? ", {/:Italic λ} = {lambda}" : ""),
                   .only = {{"alpha", alpha}}};
    };
    const auto panel = [&](std::vector<Layer> layers) {
      const std::string title =
          sizes.count() > 1 ? fmt::format("{{/:Italic α}} = {:g}", alpha) : "";
      return Panel{
          .x = theta, .y = overlap, .layers = std::move(layers), .x_name = "theta", .title = title};
    };
    panels.push_back(panel({layer("masked_left", "masked, left"),
                            layer("pca", "PCA"),
                            layer("correlation_left", "correlations, left"),
                            layer("hollow", "hollow PCA")}));
    panels.push_back(panel({layer("masked", "masked"),
                            layer("masked_right", "masked, right"),
                            layer("correlation", "correlations"),
                            layer("correlation_right", "correlations, right")}));
  }
  // In the order, hence in the colours, of the first panel.
  std::vector<Layer> thresholds;
  for (const char* estimator : {"masked", "PCA", "correlations", "hollow PCA"}) {
    thresholds.push_back(
        {.series = "threshold",
         .label = estimator + std::string(sizes.count() > 1 ? ", {/:Italic α} = {alpha}" : ""),
         .only = {{"estimator", estimator}}});
  }
  panels.push_back({.x = {.label = "penalty {/:Italic λ}", .scale = AxisScale::log},
                    .y = {.label = "{/:Italic θ}_c", .scale = AxisScale::log},
                    .layers = thresholds,
                    .x_name = "lambda"});
  return {.name = "masked-vs-pca",
          .panels = panels,
          .columns = sizes.count() == 1 ? std::size_t{3} : std::size_t{2},
          .caption =
              "A spike under noise of two variances: squared overlaps of the spike with the "
              "eigenvectors of masked ridge regression, PCA, PCA of correlations and hollow PCA of "
              "the same samples, and their thresholds. Lines: limit of many coordinates; points: "
              "simulation, mean and standard error over replicates."};
}

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  constexpr double kBelow = 0.7;
  constexpr double kAbove = 1.3;
  std::vector<ClaimResult> all;
  const SampleSizes sizes = masked_sizes(c);
  const std::vector<double> lambdas = ascending(c.reals("sweep.lambda"));
  const auto d = static_cast<double>(c.integer("model.dimension"));
  const double ratio = c.real("model.noise_ratio");
  const Signal signal = signals().of(c, "model.signal");
  for (std::size_t size = 0; size < sizes.count(); ++size) {
    const double alpha = sizes.alpha(size);
    const Limits limits(groups_of(c), 1 / alpha, lambdas);
    for (std::size_t k = 0; k < lambdas.size(); ++k) {
      const DelocalisedSpike& masked = limits.masked[k];
      for (const double theta : ascending(c.reals("sweep.theta"))) {
        const std::string where =
            fmt::format("[alpha={:.4g},lambda={:.4g},theta={:.4g}]", alpha, lambdas[k], theta);
        const auto of_masked = [&](const char* series) {
          const Point point = {{"alpha", alpha}, {"lambda", lambdas[k]}};
          return by_replicate(observed, {{series, point, theta}}).column();
        };
        const auto of = [&](const std::string& series) {
          return by_replicate(observed, {{series, Point{{"alpha", alpha}}, theta}}).column();
        };
        if (ratio == 1) {
          const std::vector<double> gap = differences(of_masked("masked"), of("pca"));
          const std::string words = "equal noise: masked and PCA differ by less than 2/d";
          all.push_back(claim_below("no-gain" + where, words, gap, 2 / d));
          all.push_back(claim_above("no-loss" + where, words, gap, -2 / d));
          continue;
        }
        // What the theory says of the order, well away from the thresholds, is to be seen.
        if (signal != Signal::noisy && theta > kAbove * masked.threshold() &&
            theta < kBelow * limits.pca.threshold()) {
          all.push_back(claim_above(
              "before-pca" + where,
              fmt::format("masked regression sees the spike (threshold {:.4g}) better than PCA "
                          "({:.4g})",
                          masked.threshold(),
                          limits.pca.threshold()),
              differences(of_masked("masked_left"), of("pca")),
              0));
        }
        if (signal == Signal::noisy && theta > kAbove * limits.pca.threshold()) {
          all.push_back(claim_above("pca-first" + where,
                                    "PCA sees a spike on the noisy half better",
                                    differences(of("pca"), of_masked("masked_left")),
                                    0));
        }
        if (signal != Signal::uniform || theta < kAbove * limits.pca.threshold() - 1) continue;
        // An intermediate penalty whitens enough, and not too much.
        constexpr double kVisible = 0.01;
        const double own = masked.overlaps(theta).symmetric;
        const SpikeOverlaps rivals = limits.correlation.overlaps(theta);
        const std::map<std::string, double> predicted = {
            {"pca", limits.pca.overlaps(theta).symmetric},
            {"correlation", rivals.symmetric},
            {"correlation_right", rivals.right},
            {"correlation_left", rivals.left}};
        const bool best = std::all_of(predicted.begin(), predicted.end(), [&](const auto& rival) {
          return own > rival.second + kVisible;
        });
        if (!best) continue;
        for (const auto& [rival, value] : predicted) {
          all.push_back(claim_above(
              "better-than-" + rival + where,
              fmt::format("masked regression ({:.4g}) sees the spike better than {} ({:.4g})",
                          own,
                          rival,
                          value),
              differences(of_masked("masked"), of(rival)),
              0));
        }
      }
    }
  }
  return all;
}

}  // namespace

Study study() {
  return described(
      {.name = "masked-vs-pca", .make = make<MaskedVsPca>, .figure = figure, .claims = claims});
}

}  // namespace attica::masked_vs_pca
