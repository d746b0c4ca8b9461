/// @file
/// @brief Study masked-resampling-unit: masked autoencoders of one unit with tanh or ReLU, on one
/// stored mask per sample or on fresh ones.

#include <cmath>

#include "attica/studies/masked/masked_unit.hpp"
#include "attica/studies/masked/model.hpp"
#include "attica/studies/sample_ratios.hpp"

namespace attica::masked_resampling_unit {
namespace {

using Eigen::Index;

const std::vector<std::string> kUnit = {
    "weight_norm", "noise_norm", "train_loss", "cosine", "accuracy"};

class Activated : public UnitExperiment {
 public:
  explicit Activated(Configuration& c) : UnitExperiment(c) {
    for (const auto number : unit_.masks) {
      require(!number || *number == 1,
              "sweep.masks",
              number ? static_cast<double>(*number) : 0,
              "1 or \"fresh\": the fields of several stored masks are not integrated");
    }
  }

  TheoryResult theory(TheoryGrid grid) const override {
    TheoryResult result;
    for (const auto number : unit_.masks) {
      Curves curves(MaskedUnit::point(number), "alpha", kUnit);
      for (const double alpha : sizes_.alphas(grid)) {
        const ResamplingPoint at = unit_.at(number, alpha);
        curves.add(alpha, allowed(at, unit_.reached(number, alpha, d_)));
      }
      curves.into(result);
    }
    return result;
  }

 protected:
  Outcome run(const Replicate& replicate) const override {
    const double alpha = sizes_.alpha(replicate.point());
    return trained(
        replicate,
        drawn(replicate),
        [&](auto number, const TrainedUnit& unit, const UnitMeasures& m, Outcome& seen) {
          const std::vector<double> values = {
              m.weight_norm, m.noise_norm, unit.train_loss, std::sqrt(m.overlap), m.accuracy};
          Curves(MaskedUnit::point(number), "alpha", kUnit).add(alpha, values).into(seen);
        });
  }

 private:
  /// The gain of the branch M = 0 grows as the root of alpha over its threshold, which would take
  /// seconds to find: its square stands for that ratio.
  std::vector<PredictedValue> allowed(const ResamplingPoint& p, bool reached) const {
    const std::vector<PredictedValue> all = with_allowances(p, p.gain * p.gain, d_, reached, 0);
    return {all[0], all[1], all[2], all[3], all[6]};  // those of kUnit
  }
};

}  // namespace

Study study() { return described({.name = "masked-resampling-unit", .make = make<Activated>}); }

}  // namespace attica::masked_resampling_unit
