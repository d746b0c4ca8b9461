/// @file
/// @brief Study masked-resampling-threshold: from how many samples on a masked unit finds the
/// spike, how its cosine falls with the dimension below, and where units trained well above the
/// threshold say that it is.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "attica/sim/masked/ridge.hpp"
#include "attica/studies/masked/masked_unit.hpp"

namespace attica::masked_resampling_threshold {
namespace {

using Eigen::Index;

/// For PCA and equal noise cot² of the angle between w and u, E = cos²/sin², is exactly linear in α
/// and 0 at the threshold. So the straight line through E at 1.5α and 2.5α, where finite size is of
/// order 1/d, is continued to 0. At the threshold itself finite size is of order d^(-1/3).
constexpr double kNearer = 1.5;
constexpr double kFarther = 2.5;

/// @brief Where that line is 0. @param near, far cot² at 1.5α and 2.5α
double continued(double near, double far, double alpha) {
  return alpha * (kNearer - near * (kFarther - kNearer) / (far - near));
}

double squared_cotangent(double squared_cosine) { return squared_cosine / (1 - squared_cosine); }

/// Thresholds, and cosines at multiples of them against the dimension.
class Thresholds : public PointwiseExperiment {
 public:
  explicit Thresholds(Configuration& c)
      : unit_(c),
        ratios_(ascending(c.reals("sweep.ratio"))),
        dimensions_(ascending(c.integers("sweep.dimension"))),
        continued_(c.text("sim.place") != "at"),
        compared_(c.text("sim.place") == "threshold"),
        sets_(static_cast<std::uint64_t>(c.integer("sim.sets"))),
        thresholds_([this] { return unit_.thresholds(); }) {}

  void require_simulable() const override {
    for (std::size_t point = 0; point < points(); ++point) {
      const Place at = place(point);
      unit_.require_memory(at.d, samples(at, continued_ ? kFarther : 1), at.number);
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
      if (continued_) {
        // Lines farther from the threshold bend.
        constexpr double kLeastRatio = 0.9;
        constexpr double kMostRatio = 1.1;
        const double alpha_c = at.alpha / at.ratio;
        Curves curves(at.point(), "dimension", {found_series()});
        for (const std::int64_t size : dimensions_) {
          const auto d = static_cast<double>(size);
          const bool compared = compared_ && d >= kLeast && at.ratio >= kLeastRatio &&
                                at.ratio <= kMostRatio && unit_.reached(at.number, at.alpha, d);
          curves.add(d, {{alpha_c, 0, compared}});
        }
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
    return continued_ ? static_cast<double>(sets_) * (flops(kNearer) + flops(kFarther)) : flops(1);
  }
  Outcome run(const Replicate& replicate) const override {
    const Place at = place(replicate.point());
    Outcome outcome;
    StreamAddress address = replicate.address();
    const auto trained = [&](double multiple) {
      SpikedSamples drawn = unit_.drawn(address, at.d, samples(at, multiple));
      if (continued_) match_signal_moment(drawn);
      const TrainedUnit unit = train_unit(drawn, unit_.objective(at.number), address);
      if (outcome.status == "finished") outcome.status = unit.status();
      return squared_cosine(unit.w, drawn.source.direction);
    };
    if (!continued_) {
      const double overlap = trained(1);
      Curves(at.point(), "dimension", {"cosine", "overlap"})
          .add(at.d, std::vector<double>{std::sqrt(overlap), overlap})
          .into(outcome);
      return outcome;
    }
    // The smaller set of a pair is the beginning of the larger one: the same streams.
    double near = 0, far = 0;
    for (std::uint64_t set = 0; set < sets_; ++set) {
      if (replicate.stopped()) return {};
      constexpr unsigned kSets = 32;  // bits of the point's number that are left for points
      address.point = replicate.point() | set << kSets;
      near += squared_cotangent(trained(kNearer));
      far += squared_cotangent(trained(kFarther));
    }
    if (!(far > near)) {
      outcome.status = "no line";
      return outcome;
    }
    Curves(at.point(), "dimension", {found_series()})
        .add(at.d, std::vector<double>{continued(near, far, at.alpha)})
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
  /// A map judges by claims alone.
  const char* found_series() const { return compared_ ? "found_threshold" : "map_threshold"; }
  static std::int64_t samples(const Place& at, double multiple) {
    return realised_samples(multiple * at.alpha, at.d);
  }

  MaskedUnit unit_;
  std::vector<double> ratios_;
  std::vector<std::int64_t> dimensions_;
  bool continued_;      ///< units at multiples of α, or at α
  bool compared_;       ///< their threshold with the theory's; else it is a claim about α
  std::uint64_t sets_;  ///< data sets of a replicate at either multiple
  Lazy<std::vector<double>> thresholds_;
};

/// Whether α is above the threshold that the units find: what a map shows.
std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  std::vector<ClaimResult> all;
  if (c.text("sim.place") != "multiples") return all;
  for (const ObservedCurve& curve : observed.simulation) {
    if (curve.mean.name != "map_threshold") continue;
    const Point& point = curve.mean.point;
    const auto ratio = std::ranges::find(point, "ratio", &Point::value_type::first);
    const double alpha =
        observed.predicted(curve.mean.name, point).value() * std::get<double>(ratio->second);
    for (std::size_t k = 0; k < curve.mean.x.size(); ++k) {
      all.push_back(
          claim_below(fmt::format("found[{},dimension={:g}]", describe(point), curve.mean.x[k]),
                      fmt::format("{:.4f} samples per coordinate are more than the threshold of "
                                  "units trained on 1.5 and 2.5 times as many",
                                  alpha),
                      curve.values[k],
                      alpha));
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
