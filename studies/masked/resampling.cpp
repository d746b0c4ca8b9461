/// @file
/// @brief Studies masked-resampling, -labels and -threshold: masked autoencoders of one tied linear
/// unit on K stored masks per sample or on fresh ones.

#include "attica/theory/masked/resampling.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "attica/core/parallel.hpp"
#include "attica/sim/masked/resampling.hpp"
#include "attica/sim/masked/ridge.hpp"
#include "attica/solvers/statistics/replicates.hpp"
#include "attica/studies/masked/model.hpp"
#include "attica/studies/sample_ratios.hpp"

namespace attica::masked_resampling {
namespace {

using Eigen::Index;

constexpr double kWell = 3;  // times the threshold: from where on cosines are compared
const std::vector<std::string> kUnit = {
    "weight_norm", "noise_norm", "train_loss", "cosine", "overlap", "test_loss", "accuracy"};
const std::vector<std::string> kEigenvectors = {"pca", "hollow", "correlation_right"};

const Choices<NoiseLaw> kNoiseLaws = {
    {"beta", NoiseLaw::beta}, {"equal", NoiseLaw::equal}, {"groups", NoiseLaw::groups}};

/// What the studies have in common: data, masks, theory and training at an α.
struct MaskedUnit {
  explicit MaskedUnit(const Configuration& c)
      : noise{kNoiseLaws.of(c, "model.noise"), c.real("model.low")},
        beta(c.real("model.beta")),
        rho(c.real("model.rho")),
        lambda(c.real("model.lambda")),
        max_memory(c.real("sim.max_memory")),
        normal(c.text("model.spike") == "gauss") {
    for (const Value& value : std::get<List>(c.at("sweep.masks"))) {
      const auto* number = std::get_if<std::int64_t>(&value);
      masks.push_back(number ? std::optional<Index>(*number) : std::nullopt);
    }
    constexpr double kLow = 0.4;  // the default: a recorded configuration gives it, too
    require(noise.law == NoiseLaw::groups || noise.low == kLow,
            "model.low",
            noise.low,
            "its default unless model.noise = \"groups\"");
  }

  ResamplingProblem problem(std::optional<Index> number, double alpha) const {
    ResamplingProblem p{
        .noise = noise_shares(noise), .alpha = alpha, .beta = beta, .rho = rho, .lambda = lambda};
    if (number) p.masks = static_cast<double>(*number);
    return p;
  }
  ResamplingPoint at(std::optional<Index> number, double alpha) const {
    return at_point(joined(point(number), {{"alpha", alpha}}),
                    [&] { return resampled_masks(problem(number, alpha)); });
  }
  UnitObjective objective(std::optional<Index> number) const {
    return {.rho = rho, .lambda = lambda, .masks = number};
  }
  static Point point(std::optional<Index> number) {
    if (number) return {{"masks", static_cast<double>(*number)}};
    return {{"masks", "fresh"}};
  }
  std::vector<double> thresholds() const {
    return parallel_map(masks, [this](std::optional<Index> number) {
      return at_point(point(number), [&] { return resampling_threshold(problem(number, 1)); });
    });
  }
  SpikedSamples drawn(const Replicate& replicate, double d, std::int64_t samples) const {
    RandomStream model = replicate.stream(StreamId::model);
    RandomStream data = replicate.stream();
    return draw_samples(
        draw_source(noise, beta, static_cast<Index>(d), normal, model), samples, data);
  }
  void require_memory(double d, std::int64_t samples, std::optional<Index> number) const {
    const double need = 1e-9 * training_bytes(d, static_cast<double>(samples), objective(number));
    require(need <= max_memory,
            "sim.max_memory",
            max_memory,
            fmt::format(
                "at least {:.3g} GB for {} samples and their masks, d = {:g}", need, samples, d));
  }
  /// With stored masks small sizes have minima of another kind.
  bool reached(std::optional<Index> number, double alpha, double d) const {
    constexpr double kLeast = 400;
    const double squares = beta * beta * weak_signal_threshold(problem({}, 1));  // E γ²
    return !number || (d >= kLeast && (*number > 1 || alpha * squares >= 1));
  }

  NoiseVariances noise;
  double beta, rho, lambda, max_memory;
  bool normal;
  std::vector<std::optional<Index>> masks;  ///< empty: fresh
};

/// A point's values with what finite size may change (measured: docs/masked-resampling.md).
/// @param distance α/α_c
std::vector<PredictedValue> with_allowances(const ResamplingPoint& p,
                                            double distance,
                                            double d,
                                            bool reached) {
  const bool below = distance <= 0.77;
  const bool norms = reached && (below || distance >= 1.3);
  const bool cosines = reached && distance >= kWell;
  // The branch M = 0 is marginal: its corrections fall as d^(-2/3).
  const double edge = 0.02 + 3 * std::pow(d, -2.0 / 3);
  const double scale = (distance < 1.6 ? 2 : 1) / d;
  const auto norm = [&](double y, double above) {
    return PredictedValue(y, std::abs(y) * (below ? edge : above * scale), norms);
  };
  return {norm(p.weight_norm, 3),
          norm(p.noise_norm, 6),
          norm(p.train_loss, 6),
          {p.cosine, p.cosine * 11 / d, cosines},
          {p.cosine * p.cosine, 8 / d, cosines},
          {p.test_loss, below ? std::abs(p.test_loss) * 2 * edge : 5 / d, below ? norms : cosines},
          {p.accuracy, 3 / d, cosines}};
}

/// Against α, or at one α against the number of labels.
class Resampling : public PointwiseExperiment {
 public:
  explicit Resampling(Configuration& c)
      : unit_(c),
        d_(static_cast<double>(c.integer("model.dimension"))),
        sizes_(masked_sizes(with_distinct_ratios(c, d_))),
        labels_(c.declares("sweep.labels") ? ascending(c.integers("sweep.labels"))
                                           : std::vector<std::int64_t>{}),
        data_sets_(labels_.empty() ? 0 : c.integer("sim.data_sets")),
        eigenvectors_(c.flag("sim.eigenvectors")),
        thresholds_([this] { return unit_.thresholds(); }) {
    if (unit_.noise.law == NoiseLaw::groups) require_halves(c);
    warnings_ = rounded_ratios(c, sizes_);
  }

  void require_simulable() const override {
    require_distinct_samples(sizes_);
    for (const auto number : unit_.masks) {
      unit_.require_memory(d_, sizes_[sizes_.count() - 1], number);
    }
  }
  std::size_t points() const override { return sizes_.count(); }

  TheoryResult theory(TheoryGrid grid) const override {
    constexpr int kParts = 12;
    TheoryResult result;
    const std::vector<double> alphas =
        line_between(sizes_.alphas(grid), AxisScale::log, grid, labels_.empty() ? kParts : 1);
    for (std::size_t k = 0; k < unit_.masks.size(); ++k) {
      const std::optional<Index> number = unit_.masks[k];
      const double threshold = thresholds_.get()[k];
      Curves curves(MaskedUnit::point(number), "alpha", kUnit);
      for (const double alpha : alphas) {
        const ResamplingPoint at = unit_.at(number, alpha);
        const auto values =
            with_allowances(at, alpha / threshold, d_, unit_.reached(number, alpha, d_));
        curves.add(alpha, values);
        if (labels_.empty()) continue;
        Curves few = labelled(number, alpha);
        for (const std::int64_t n : steps_between(labels_, grid)) {
          PredictedValue value = values.back();
          value.y = few_labels_accuracy(at.accuracy, static_cast<double>(n));
          few.add(static_cast<double>(n), {value});
        }
        few.into(result);
      }
      curves.into(result);
      add_constant(result, "threshold", {threshold, 0, false}, MaskedUnit::point(number));
    }
    rivals(alphas, result);
    return result;
  }

 protected:
  double flops(std::size_t point) const override {
    double all = eigenvectors_ ? 3 * eigenpair_flops(d_) : 0;
    for (const auto number : unit_.masks)
      all += training_flops(d_, static_cast<double>(sizes_[point]), unit_.objective(number));
    return all;
  }

  Outcome run(const Replicate& replicate) const override {
    const double alpha = sizes_.alpha(replicate.point());
    const SpikedSamples samples = unit_.drawn(replicate, d_, sizes_[replicate.point()]);
    RandomStream fresh = replicate.stream(StreamId::test_data);
    Outcome outcome;
    for (const auto number : unit_.masks) {
      const TrainedUnit unit = train_unit(samples, unit_.objective(number), replicate.address());
      // A replicate says in its status what its values do not.
      if (outcome.status == "finished") outcome.status = unit.status();
      const UnitMeasures m = measured(samples.source, unit.w, unit_.rho);
      const std::vector<double> values = {m.weight_norm,
                                          m.noise_norm,
                                          unit.train_loss,
                                          std::sqrt(m.overlap),
                                          m.overlap,
                                          m.test_loss,
                                          m.accuracy};
      Curves(MaskedUnit::point(number), "alpha", kUnit).add(alpha, values).into(outcome);
      const std::vector<double> spread = {unit.participation()};
      Curves(MaskedUnit::point(number), "alpha", {"participation"})
          .add(alpha, spread)
          .into(outcome);
      if (labels_.empty()) continue;
      Curves few = labelled(number, alpha);
      for (const std::int64_t n : labels_) {
        const double accuracy = labelled_accuracy(m, unit_.beta, n, data_sets_, fresh);
        few.add(static_cast<double>(n), std::vector<double>{accuracy});
      }
      few.into(outcome);
    }
    if (eigenvectors_) {
      Curves({}, "alpha", kEigenvectors).add(alpha, eigenvector_overlaps(samples)).into(outcome);
    }
    return outcome;
  }

 private:
  static Curves labelled(std::optional<Index> number, double alpha) {
    return {joined(MaskedUnit::point(number), {{"alpha", alpha}}), "labels", {"label_accuracy"}};
  }
  /// Eigenvectors of the same samples, and what no estimator surpasses.
  void rivals(const std::vector<double>& alphas, TheoryResult& result) const {
    const auto overlaps = parallel_map(alphas, [&](double alpha) {
      const double bayes = bayes_cosine(unit_.problem({}, alpha));
      std::vector<PredictedValue> values = {{bayes * bayes, 0, false}};
      for (const auto& [overlap, threshold] : rival_overlaps(unit_.problem({}, alpha)))
        values.push_back(overlap_value(overlap, unit_.beta, threshold, d_));
      return values;
    });
    Curves curves({}, "alpha", {"bayes", "pca", "hollow", "correlation_right"});
    for (std::size_t k = 0; k < alphas.size(); ++k) curves.add(alphas[k], overlaps[k]);
    curves.into(result);
  }

  MaskedUnit unit_;
  double d_;
  SampleSizes sizes_;
  std::vector<std::int64_t> labels_;
  std::int64_t data_sets_;
  bool eigenvectors_;
  Lazy<std::vector<double>> thresholds_;
};

/// Well above the thresholds: more masks are better, none is better than Bayes.
std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  constexpr double kSeen = 0.02;  // smaller differences of cosines are not claimed
  constexpr double kFound = 2;    // times the threshold
  const MaskedUnit unit(c);
  const std::vector<double> thresholds = unit.thresholds();
  std::vector<ClaimResult> all;
  for (const double alpha : masked_sizes(c).alphas(TheoryGrid::run)) {
    const double bayes = bayes_cosine(unit.problem({}, alpha));
    const auto seen = [&](std::optional<Index> number) {
      return values_at(observed, "cosine", MaskedUnit::point(number), alpha);
    };
    for (std::size_t k = 0; k < unit.masks.size(); ++k) {
      const std::optional<Index> fewer = unit.masks[k];
      if (alpha < kFound * thresholds[k]) continue;
      const double cosine = unit.at(fewer, alpha).cosine;
      const std::string where =
          fmt::format("[{},alpha={:.4g}]", describe(MaskedUnit::point(fewer)), alpha);
      all.push_back(claim_below("below-bayes" + where,
                                fmt::format("the cosine is below that of Bayes, {:.4g}", bayes),
                                seen(fewer),
                                bayes));
      for (const std::optional<Index> more : unit.masks) {
        if (!fewer || (more && *more <= *fewer)) continue;
        if (unit.at(more, alpha).cosine < cosine + kSeen) continue;
        all.push_back(claim_above("more-masks" + where + describe(MaskedUnit::point(more)),
                                  "more masks have the larger cosine on the same samples",
                                  differences(seen(more), seen(fewer)),
                                  0));
      }
    }
  }
  return all;
}

/// Thresholds, and cosines at multiples of them against the dimension.
class Thresholds : public PointwiseExperiment {
 public:
  explicit Thresholds(Configuration& c)
      : unit_(c),
        ratios_(ascending(c.reals("sweep.ratio"))),
        dimensions_(ascending(c.integers("sweep.dimension"))),
        thresholds_([this] { return unit_.thresholds(); }) {}

  void require_simulable() const override {
    for (std::size_t point = 0; point < points(); ++point) {
      const Place at = place(point);
      unit_.require_memory(at.d, at.samples, at.number);
    }
  }
  std::size_t points() const override {
    return unit_.masks.size() * ratios_.size() * dimensions_.size();
  }

  TheoryResult theory(TheoryGrid grid) const override {
    constexpr double kFar = 0.25;  // times the threshold: up to where d E cos² has its limit
    constexpr double kSlow = 0.3;  // how far it is off at some hundred coordinates
    constexpr double kLeast = 200;
    TheoryResult result;
    std::vector<std::int64_t> stored;
    if (grid == TheoryGrid::run) stored = whole_log_grid(1, 64, 16);
    for (const auto number : unit_.masks) {
      if (number) stored.push_back(*number);
    }
    Curves line({}, "masks", {"threshold", "weak_threshold"});
    for (const Index k : ascending(std::move(stored))) {
      const ResamplingProblem p = unit_.problem(k, 1);
      line.add(static_cast<double>(k),
               {{resampling_threshold(p), 0, false}, {weak_signal_threshold(p), 0, false}});
    }
    if (!line.empty()) line.into(result);
    const ResamplingProblem fresh = unit_.problem({}, 1);
    add_constant(result, "fresh_threshold", {resampling_threshold(fresh), 0, false});
    add_constant(result, "bayes_threshold", {bayes_threshold(fresh), 0, false});
    for (std::size_t which = 0; which < unit_.masks.size() * ratios_.size(); ++which) {
      const Place at = place(which * dimensions_.size());
      const double alpha = at.ratio * thresholds_.get()[which / ratios_.size()];
      const ResamplingPoint p = unit_.at(at.number, alpha);
      Curves curves(at.point(), "dimension", {"cosine", "overlap"});
      for (const std::int64_t size : dimensions_) {
        const auto d = static_cast<double>(size);
        const bool reached = unit_.reached(at.number, alpha, std::max(d, 2 * kLeast));
        // Below the threshold cos² is of order 1/d: the square of a normal number.
        const double overlap = p.cosine > 0 ? p.cosine * p.cosine : p.alignment_excess / d;
        const double cosine = p.cosine > 0 ? p.cosine : std::sqrt(2 / std::numbers::pi * overlap);
        const bool above = at.ratio >= kWell;
        const bool compared = reached && d >= kLeast && (above || at.ratio <= kFar);
        curves.add(d,
                   {{cosine, cosine * 11 / d, compared && above},
                    {overlap, above ? 8 / d : kSlow * overlap, compared}});
      }
      curves.into(result);
    }
    return result;
  }

 protected:
  double flops(std::size_t point) const override {
    const Place at = place(point);
    return training_flops(at.d, static_cast<double>(at.samples), unit_.objective(at.number));
  }
  Outcome run(const Replicate& replicate) const override {
    const Place at = place(replicate.point());
    const SpikedSamples samples = unit_.drawn(replicate, at.d, at.samples);
    const TrainedUnit unit = train_unit(samples, unit_.objective(at.number), replicate.address());
    const double overlap = squared_cosine(unit.w, samples.source.direction);
    Outcome outcome{.series = {}, .status = unit.status()};
    Curves(at.point(), "dimension", {"cosine", "overlap"})
        .add(at.d, std::vector<double>{std::sqrt(overlap), overlap})
        .into(outcome);
    return outcome;
  }

 private:
  struct Place {
    std::optional<Index> number;
    double ratio;  ///< α over the threshold
    double d;
    std::int64_t samples;
    Point point() const { return joined(MaskedUnit::point(number), {{"ratio", ratio}}); }
  };
  Place place(std::size_t point) const {
    const std::size_t which = point / dimensions_.size();
    const double ratio = ratios_[which % ratios_.size()];
    const auto d = static_cast<double>(dimensions_[point % dimensions_.size()]);
    const std::size_t mask = which / ratios_.size();
    return {unit_.masks[mask], ratio, d, realised_samples(ratio * thresholds_.get()[mask], d)};
  }

  MaskedUnit unit_;
  std::vector<double> ratios_;
  std::vector<std::int64_t> dimensions_;
  Lazy<std::vector<double>> thresholds_;
};

}  // namespace

Study study() {
  return described({.name = "masked-resampling", .make = make<Resampling>, .claims = claims});
}

}  // namespace attica::masked_resampling

namespace attica::masked_resampling_labels {
Study study() {
  return described(
      {.name = "masked-resampling-labels", .make = make<masked_resampling::Resampling>});
}
}  // namespace attica::masked_resampling_labels

namespace attica::masked_resampling_threshold {
Study study() {
  return described(
      {.name = "masked-resampling-threshold", .make = make<masked_resampling::Thresholds>});
}
}  // namespace attica::masked_resampling_threshold
