/// @file
/// @brief Study masked-transfer: a direction that masked regression finds on unlabelled samples, as
/// the only feature of a regression with few labels, against ridge regression on all coordinates.

#include "attica/theory/masked/transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "attica/core/normal_matrix.hpp"
#include "attica/core/parallel.hpp"
#include "attica/sim/gauss/labels.hpp"
#include "attica/solvers/largest_eigenpair.hpp"
#include "attica/studies/masked/model.hpp"
#include "attica/studies/sample_ratios.hpp"

namespace attica::masked_transfer {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

TransferTask task_of(const Configuration& c) {
  return {.dimension = static_cast<double>(c.integer("model.dimension")),
          .theta = c.real("model.theta"),
          .noise = c.real("model.noise")};
}

/// The squared overlap that masked regression of αd samples comes to in the limit. Below the
/// threshold the direction is the top of the bulk, whose overlap at finite size is of order
/// (1+θ)/(d (1-θ/θ_c)²): too large an allowance for a comparison.
PredictedValue pretrained(const Configuration& c, double alpha) {
  const double theta = c.real("model.theta");
  const DelocalisedSpike spike(
      SpikeEstimator::masked, {SpikedGroup{}}, 1 / alpha, c.real("model.lambda"));
  PredictedValue overlap = overlap_value(spike.overlaps(theta).right,
                                         theta,
                                         spike.threshold(),
                                         static_cast<double>(c.integer("model.dimension")));
  overlap.compared = overlap.compared && overlap.y > 0;
  return overlap;
}

class Transfer : public PointwiseExperiment {
 public:
  explicit Transfer(Configuration& c)
      : configuration_(c),
        task_(task_of(c)),
        lambda_(c.real("model.lambda")),
        sizes_(masked_sizes(
            with_distinct_ratios(c, static_cast<double>(c.integer("model.dimension"))))),
        labels_(ascending(c.integers("sweep.labels"))),
        data_sets_(c.integer("sim.data_sets")),
        best_([this] {
          return parallel_map(as_reals(labels_),
                              [this](double n) { return best_raw_ridge(task_, n); });
        }) {
    warnings_ = rounded_ratios(c, sizes_);
    for (std::size_t k = 0; k < sizes_.count(); ++k) {
      if (pretrained(c, sizes_.alpha(k)).compared) continue;
      warnings_.push_back(fmt::format(
          "alpha = {:.4g}: theta is below 1.3 of the threshold; simulated and drawn, not compared",
          sizes_.alpha(k)));
    }
  }

  void require_simulable() const override {
    require_distinct_samples(sizes_);
    require_masked_memory(configuration_,
                          std::max(static_cast<double>(sizes_[sizes_.count() - 1]),
                                   static_cast<double>(labels_.back())));
  }

  TheoryResult theory(TheoryGrid grid) const override {
    constexpr int kParts = 8;
    TheoryResult result;
    const std::vector<double> labels =
        line_between(as_reals(labels_), AxisScale::log, grid, kParts);
    const auto raw = parallel_map(labels, [this](double n) { return best_raw_ridge(task_, n); });
    Curves rival({}, "labels", {"raw_risk", "raw_lambda"});
    for (std::size_t k = 0; k < labels.size(); ++k) {
      const LabelRidge& ridge = raw[k].ridge;
      rival.add(labels[k], {{ridge.test_error, ridge.finite_size_test}, {raw[k].lambda, 0, false}});
    }
    rival.into(result);
    for (const double alpha : sizes_.alphas(grid)) {
      const PredictedValue overlap = pretrained(configuration_, alpha);
      Curves curves = of_feature(alpha);
      for (std::size_t k = 0; k < labels.size(); ++k) {
        const double risk = feature_risk(task_, overlap.y, labels[k]);
        const double allowance =
            -feature_risk_slope(task_, overlap.y, labels[k]) * overlap.finite_size;
        const LabelRidge& ridge = raw[k].ridge;
        curves.add(labels[k],
                   {{risk, allowance, overlap.compared},
                    {ridge.test_error - risk, allowance + ridge.finite_size_test, overlap.compared},
                    feature_risk(task_, 1, labels[k]) / least_risk(1)});
      }
      curves.into(result);
      add_constant(result, "overlap_right", overlap, {{"alpha", alpha}});
    }
    crossings(grid, result);
    return result;
  }

 protected:
  double flops(std::size_t) const override {
    double all = 0;
    for (std::size_t k = 0; k < sizes_.count(); ++k) {
      all += masked_flops(task_.dimension, static_cast<double>(sizes_[k])) +
             eigenpair_flops(task_.dimension);
    }
    for (const std::int64_t m : labels_) {
      all +=
          static_cast<double>(data_sets_) * masked_flops(task_.dimension, static_cast<double>(m));
    }
    return all;
  }

  Outcome run(const Replicate& replicate) const override {
    const auto d = static_cast<Index>(task_.dimension);
    RandomStream signs = replicate.stream(StreamId::model);
    const SpikedNoise noise = noisy_sites(d, 1, Signal::uniform, task_.theta, signs);
    const VectorXd& u = noise.direction;
    RandomStream unlabelled = replicate.stream();
    Outcome outcome;
    std::vector<VectorXd> features;
    std::vector<double> least;
    for (std::size_t size = 0; size < sizes_.count(); ++size) {
      const MaskedRidge ridge(sample_covariance(noise, sizes_[size], unlabelled), lambda_);
      const VectorXd v =
          largest_eigenpair(ridge.inverse_form).vector.cwiseQuotient(ridge.diagonal.cwiseSqrt());
      features.push_back(v.normalized());
      const double overlap = squared_cosine(v, u);
      least.push_back(least_risk(overlap));
      add_constant(outcome, "overlap_right", overlap, {{"alpha", sizes_.alpha(size)}});
    }
    RandomStream labelled = replicate.stream(StreamId::test_data);
    std::vector<Curves> curves;
    for (std::size_t size = 0; size < sizes_.count(); ++size) {
      curves.push_back(of_feature(sizes_.alpha(size)));
    }
    Curves rival({}, "labels", {"raw_risk"});
    for (std::size_t k = 0; k < labels_.size(); ++k) {
      double raw = 0;
      std::vector<double> transferred(features.size());
      for (std::int64_t set = 0; set < data_sets_; ++set) {
        const double share = 1 / static_cast<double>(data_sets_);
        const Labelled data = draw(u, labels_[k], labelled);
        const LabelFits fits(data.inputs, data.labels);
        raw += share * risk(fits.weights(best_.get()[k].lambda), u);
        for (std::size_t size = 0; size < features.size(); ++size) {
          const VectorXd& v = features[size];
          const VectorXd feature = data.inputs * v;
          transferred[size] +=
              share * risk(v * (feature.dot(data.labels) / feature.squaredNorm()), u);
        }
      }
      const auto x = static_cast<double>(labels_[k]);
      rival.add(x, std::vector<double>{raw});
      for (std::size_t size = 0; size < features.size(); ++size) {
        curves[size].add(
            x,
            std::vector<double>{
                transferred[size], raw - transferred[size], transferred[size] / least[size]});
      }
    }
    rival.into(outcome);
    for (const Curves& of : curves) of.into(outcome);
    return outcome;
  }

 private:
  struct Labelled {
    MatrixXd inputs;
    VectorXd labels;
  };

  static Curves of_feature(double alpha) {
    return {{{"alpha", alpha}}, "labels", {"feature_risk", "gain", "head_factor"}};
  }

  /// The risk of the best multiple of a direction with this overlap.
  double least_risk(double overlap) const { return task_.noise + 1 / (1 + task_.theta * overlap); }

  /// x = z + √θ s u, y = s + √τ² ε
  Labelled draw(const VectorXd& u, Index samples, RandomStream& stream) const {
    const VectorXd s = normal_matrix(samples, 1, stream);
    Labelled data{.inputs = normal_matrix(samples, u.size(), stream), .labels = {}};
    data.inputs.noalias() += std::sqrt(task_.theta) * s * u.transpose();
    data.labels = s + std::sqrt(task_.noise) * normal_matrix(samples, 1, stream);
    return data;
  }

  /// Population error of w·x: of s nothing is left but s (1 - √θ w·u), of z all of w·z.
  double risk(const VectorXd& w, const VectorXd& u) const {
    const double missed = 1 - std::sqrt(task_.theta) * w.dot(u);
    return task_.noise + missed * missed + w.squaredNorm();
  }

  void crossings(TheoryGrid grid, TheoryResult& result) const {
    constexpr int kParts = 20;
    const std::vector<double> alphas =
        line_between(sizes_.alphas(grid), AxisScale::log, grid, kParts);
    const auto found = parallel_map(alphas, [this](double alpha) {
      return transfer_crossing(task_, pretrained(configuration_, alpha).y);
    });
    Curves curve({}, "alpha", {"crossing"});
    for (std::size_t k = 0; k < alphas.size(); ++k) {
      if (found[k]) curve.add(alphas[k], {{*found[k] / task_.dimension, 0, false}});
    }
    if (!curve.empty()) curve.into(result);
  }

  Configuration configuration_;
  TransferTask task_;
  double lambda_;
  SampleSizes sizes_;
  std::vector<std::int64_t> labels_;
  std::int64_t data_sets_;
  Lazy<std::vector<BestRidge>> best_;  ///< at the simulated numbers of labels
};

Figure figure(const Configuration& c) {
  const SampleSizes sizes = masked_sizes(c);
  std::vector<double> marks;
  for (std::size_t k = 0; k < sizes.count(); ++k) {
    const auto found = transfer_crossing(task_of(c), pretrained(c, sizes.alpha(k)).y);
    if (found) marks.push_back(*found);
  }
  const Axis labels{.label = "labels {/:Italic M}", .scale = AxisScale::log};
  const char* feature = "feature, {/:Italic n} = {alpha} {/:Italic d}";
  std::vector<Panel> panels = {
      {.x = labels,
       .y = {.label = "risk", .scale = AxisScale::log},
       .layers = {{.series = "raw_risk", .label = "all coordinates"},
                  {.series = "feature_risk", .label = feature, .hollow = true}},
       .x_name = "labels"},
      {.x = labels,
       .y = {.label = "gain by transfer"},
       .layers = {{.series = "gain", .label = feature, .hollow = true}},
       .x_name = "labels",
       .vertical_marks = marks}};
  if (!marks.empty()) {
    panels.push_back(
        {.x = {.label = "unlabelled samples {/:Italic n} / {/:Italic d}", .scale = AxisScale::log},
         .y = {.label = "crossing {/:Italic M}_× / {/:Italic d}", .scale = AxisScale::log},
         .layers = {{.series = "crossing", .label = "transfer helps below"}},
         .x_name = "alpha"});
  }
  return {
      .name = "masked-transfer",
      .panels = panels,
      .columns = 2,
      .caption =
          "Labels y, with the strength of a spike as their signal, regressed on the direction "
          "that masked regression of n unlabelled samples finds, and by ridge regression at its "
          "best penalty on all coordinates: risk, risk saved by transfer, and the number of "
          "labels beyond which it loses (dotted in the second panel). Lines: theory in both "
          "numbers of samples; points: simulation, mean and standard error over replicates."};
}

/// Where transfer helps: well below the predicted crossing, and not well above; nowhere if there is
/// none.
std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  constexpr double kWell = 1.5;
  std::vector<ClaimResult> all;
  const SampleSizes sizes = masked_sizes(c);
  for (std::size_t size = 0; size < sizes.count(); ++size) {
    const double alpha = sizes.alpha(size);
    const PredictedValue overlap = pretrained(c, alpha);
    const ObservedCurve* gain = observed.curve("gain", {{"alpha", alpha}});
    // Near the threshold the limit does not tell; below it the direction knows nothing.
    if (gain == nullptr || (overlap.y > 0 && !overlap.compared)) continue;
    const auto crossing = transfer_crossing(task_of(c), overlap.y);
    const std::vector<double>& x = gain->mean.x;
    const auto where = [&](std::size_t k) {
      return fmt::format("[alpha={:.4g},labels={:g}]", alpha, x[k]);
    };
    if (crossing) {
      const auto above = std::lower_bound(x.begin(), x.end(), *crossing / kWell);
      if (above != x.begin()) {
        const auto k = static_cast<std::size_t>(above - x.begin()) - 1;
        all.push_back(claim_above("helps" + where(k),
                                  fmt::format("transfer has the lower risk, with fewer than {:.4g} "
                                              "labels",
                                              *crossing),
                                  gain->values[k],
                                  0));
      }
    }
    const double least = crossing ? *crossing * kWell : x.back();
    const auto beyond = std::lower_bound(x.begin(), x.end(), least);
    if (beyond == x.end() || (!crossing && overlap.y > 0)) continue;
    const auto k = static_cast<std::size_t>(beyond - x.begin());
    all.push_back(claim_below("hurts" + where(k),
                              crossing ? fmt::format("transfer has the higher risk, with more than "
                                                     "{:.4g} labels",
                                                     *crossing)
                                       : "transfer of a direction found below the threshold has "
                                         "the higher risk",
                              gain->values[k],
                              0));
  }
  return all;
}

}  // namespace

Study study() {
  return described(
      {.name = "masked-transfer", .make = make<Transfer>, .figure = figure, .claims = claims});
}

}  // namespace attica::masked_transfer
