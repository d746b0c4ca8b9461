/// @file
/// @brief Study masked-resampling-threshold: from how many samples on a masked unit finds the
/// spike, and how its cosine falls with the dimension below.

#include <cmath>
#include <numbers>

#include "attica/sim/masked/ridge.hpp"
#include "attica/studies/masked/masked_unit.hpp"

namespace attica::masked_resampling_threshold {
namespace {

using Eigen::Index;

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
    constexpr double kFar = 0.25;   // times the threshold: up to where d E cos² has its limit
    constexpr double kSlow = 0.15;  // how far its root is off at some hundred coordinates
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
        const bool above = at.ratio >= kWellAbove;
        const bool compared = reached && d >= kLeast && (above || at.ratio <= kFar);
        curves.add(d,
                   {{cosine, cosine * (above ? 11 / d : kSlow), compared},
                    {overlap, 8 / d, compared && above}});
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
  return described({.name = "masked-resampling-threshold", .make = make<Thresholds>});
}

}  // namespace attica::masked_resampling_threshold
