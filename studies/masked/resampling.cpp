/// @file
/// @brief Study masked-resampling: masked autoencoders of one tied linear unit on K stored masks
/// per sample or on fresh ones.

#include "attica/theory/masked/resampling.hpp"

#include <fmt/format.h>

#include "attica/core/parallel.hpp"
#include "attica/sim/masked/resampling.hpp"
#include "attica/solvers/statistics/replicates.hpp"
#include "attica/studies/masked/masked_unit.hpp"
#include "attica/studies/masked/model.hpp"
#include "attica/studies/sample_ratios.hpp"

namespace attica::masked_resampling {
namespace {

using Eigen::Index;

const std::vector<std::string> kEigenvectors = {"pca", "hollow", "correlation_right"};

/// Against α.
class Resampling : public UnitExperiment {
 public:
  explicit Resampling(Configuration& c)
      : UnitExperiment(c),
        eigenvectors_(c.flag("sim.eigenvectors")),
        thresholds_([this] { return unit_.thresholds(); }) {}

  TheoryResult theory(TheoryGrid grid) const override {
    constexpr int kParts = 12;
    TheoryResult result;
    const std::vector<double> alphas =
        line_between(sizes_.alphas(grid), AxisScale::log, grid, kParts);
    for (std::size_t k = 0; k < unit_.masks.size(); ++k) {
      const std::optional<Index> number = unit_.masks[k];
      const double threshold = thresholds_.get()[k];
      Curves curves(MaskedUnit::point(number), "alpha", unit_series());
      for (const double alpha : alphas) {
        const ResamplingPoint at = unit_.at(number, alpha);
        curves.add(alpha,
                   with_allowances(at, alpha / threshold, d_, unit_.reached(number, alpha, d_)));
      }
      curves.into(result);
      add_constant(result, "threshold", {threshold, 0, false}, MaskedUnit::point(number));
    }
    rivals(alphas, result);
    return result;
  }

 protected:
  double flops(std::size_t point) const override {
    return (eigenvectors_ ? 3 * eigenpair_flops(d_) : 0) + UnitExperiment::flops(point);
  }

  Outcome run(const Replicate& replicate) const override {
    const double alpha = sizes_.alpha(replicate.point());
    const SpikedSamples samples = drawn(replicate);
    Outcome outcome =
        trained(replicate,
                samples,
                [&](auto number, const TrainedUnit& unit, const UnitMeasures& m, Outcome& seen) {
                  const Point point = MaskedUnit::point(number);
                  Curves(point, "alpha", unit_series()).add(alpha, unit_values(m, unit)).into(seen);
                  const std::vector<double> spread = {unit.participation()};
                  Curves(point, "alpha", {"participation"}).add(alpha, spread).into(seen);
                });
    if (eigenvectors_) {
      Curves({}, "alpha", kEigenvectors).add(alpha, eigenvector_overlaps(samples)).into(outcome);
    }
    return outcome;
  }

 private:
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
      return by_replicate(observed, {{"cosine", MaskedUnit::point(number), alpha}}).column();
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

}  // namespace

Study study() {
  return described({.name = "masked-resampling", .make = make<Resampling>, .claims = claims});
}

}  // namespace attica::masked_resampling
