/// @file
/// @brief Study masked-resampling-threshold: from how many samples on a masked unit finds the
/// spike, how its cosine falls with the dimension below, and where networks far above the threshold
/// say that it is.

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "attica/sim/masked/ridge.hpp"
#include "attica/studies/masked/masked_unit.hpp"

namespace attica::masked_resampling_threshold {
namespace {

using Eigen::Index;

/// sin² of the angle between w and u falls nearly as a power of α above the threshold, where it is
/// 1. So the straight line of -ln sin² in ln α through 2.5α and 4α is above 0 at α where α is above
/// the threshold. At these multiples finite size is of order 1/d, at the threshold d^(-1/3).
constexpr double kNearer = 2.5;
constexpr double kFarther = 4;

/// @brief That line at α. @param near, far cos² at 2.5α and 4α
double line_at(double near, double far) {
  const double rise = std::log1p(-near) - std::log1p(-far);
  return -std::log1p(-near) - rise * std::log(kNearer) / std::log(kFarther / kNearer);
}

/// Thresholds, and cosines at multiples of them against the dimension.
class Thresholds : public PointwiseExperiment {
 public:
  explicit Thresholds(Configuration& c)
      : unit_(c),
        ratios_(ascending(c.reals("sweep.ratio"))),
        dimensions_(ascending(c.integers("sweep.dimension"))),
        lines_(c.text("sim.place") == "multiples"),
        thresholds_([this] { return unit_.thresholds(); }) {}

  void require_simulable() const override {
    for (std::size_t point = 0; point < points(); ++point) {
      const Place at = place(point);
      unit_.require_memory(at.d, samples(at, lines_ ? kFarther : 1), at.number);
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
      if (lines_) {
        const auto squared = [&](double multiple) {
          return std::pow(unit_.at(at.number, multiple * at.alpha).cosine, 2);
        };
        Curves curves(at.point(), "dimension", {"line"});
        for (const std::int64_t size : dimensions_)
          curves.add(static_cast<double>(size),
                     {{line_at(squared(kNearer), squared(kFarther)), 0, false}});
        curves.into(result);
        continue;
      }
      const double alpha = at.alpha;
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
    const auto flops = [&](double multiple) {
      const auto n = static_cast<double>(samples(at, multiple));
      return training_flops(at.d, n, unit_.objective(at.number));
    };
    return lines_ ? flops(kNearer) + flops(kFarther) : flops(1);
  }
  Outcome run(const Replicate& replicate) const override {
    const Place at = place(replicate.point());
    Outcome outcome;
    const auto trained = [&](double multiple) {
      const SpikedSamples drawn = unit_.drawn(replicate, at.d, samples(at, multiple));
      const TrainedUnit unit = train_unit(drawn, unit_.objective(at.number), replicate.address());
      if (outcome.status == "finished") outcome.status = unit.status();
      return squared_cosine(unit.w, drawn.source.direction);
    };
    if (lines_) {
      const std::vector<double> line = {line_at(trained(kNearer), trained(kFarther))};
      Curves(at.point(), "dimension", {"line"}).add(at.d, line).into(outcome);
      return outcome;
    }
    const double overlap = trained(1);
    Curves(at.point(), "dimension", {"cosine", "overlap"})
        .add(at.d, std::vector<double>{std::sqrt(overlap), overlap})
        .into(outcome);
    return outcome;
  }

 private:
  struct Place {
    std::optional<Index> number;
    double ratio;  ///< α over the threshold
    double alpha;
    double d;
    Point point() const { return joined(MaskedUnit::point(number), {{"ratio", ratio}}); }
  };
  Place place(std::size_t point) const {
    const std::size_t which = point / dimensions_.size();
    const double ratio = ratios_[which % ratios_.size()];
    const auto d = static_cast<double>(dimensions_[point % dimensions_.size()]);
    const std::size_t mask = which / ratios_.size();
    return {unit_.masks[mask], ratio, ratio * thresholds_.get()[mask], d};
  }
  static std::int64_t samples(const Place& at, double multiple) {
    return realised_samples(multiple * at.alpha, at.d);
  }

  MaskedUnit unit_;
  std::vector<double> ratios_;
  std::vector<std::int64_t> dimensions_;
  bool lines_;  ///< of networks at multiples of α, or networks at α
  Lazy<std::vector<double>> thresholds_;
};

/// Whether networks at multiples of α say that it is above the threshold: what a map shows.
std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  std::vector<ClaimResult> all;
  if (c.text("sim.place") != "multiples") return all;
  for (const ObservedCurve& curve : observed.simulation) {
    if (curve.mean.name != "line") continue;
    for (std::size_t k = 0; k < curve.mean.x.size(); ++k) {
      all.push_back(claim_above(
          fmt::format("found[{},dimension={:g}]", describe(curve.mean.point), curve.mean.x[k]),
          "of so many samples u is found: the line through networks at 2.5 and 4 times as many is "
          "above 0",
          curve.values[k],
          0));
    }
  }
  return all;
}

}  // namespace

Study study() {
  return described(
      {.name = "masked-resampling-threshold", .make = make<Thresholds>, .claims = claims});
}

}  // namespace attica::masked_resampling_threshold
