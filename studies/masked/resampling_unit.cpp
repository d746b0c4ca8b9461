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

class Activated : public PointwiseExperiment {
 public:
  explicit Activated(Configuration& c)
      : unit_(c),
        d_(static_cast<double>(c.integer("model.dimension"))),
        sizes_(masked_sizes(with_distinct_ratios(c, d_))) {
    if (unit_.noise.law == NoiseLaw::groups) require_halves(c);
    for (const auto number : unit_.masks) {
      require(!number || *number == 1,
              "sweep.masks",
              number ? static_cast<double>(*number) : 0,
              "1 or \"fresh\": the fields of several stored masks are not integrated");
    }
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
  double flops(std::size_t point) const override {
    double all = 0;
    for (const auto number : unit_.masks)
      all += training_flops(d_, static_cast<double>(sizes_[point]), unit_.objective(number));
    return all;
  }

  Outcome run(const Replicate& replicate) const override {
    const double alpha = sizes_.alpha(replicate.point());
    const SpikedSamples samples = unit_.drawn(replicate, d_, sizes_[replicate.point()]);
    Outcome outcome;
    for (const auto number : unit_.masks) {
      const TrainedUnit unit = train_unit(samples, unit_.objective(number), replicate.address());
      if (outcome.status == "finished") outcome.status = unit.status();
      const UnitMeasures m = measured(samples.source, unit.w, unit_.rho);
      const std::vector<double> values = {
          m.weight_norm, m.noise_norm, unit.train_loss, std::sqrt(m.overlap), m.accuracy};
      Curves(MaskedUnit::point(number), "alpha", kUnit).add(alpha, values).into(outcome);
    }
    return outcome;
  }

 private:
  /// The gain of the branch M = 0 grows as the root of alpha over its threshold, which would take
  /// seconds to find: its square stands for that ratio.
  std::vector<PredictedValue> allowed(const ResamplingPoint& p, bool reached) const {
    const double ratio = p.gain * p.gain;
    const bool below = ratio <= 0.77;
    const bool norms = reached && (below || ratio >= 1.3);
    const bool cosines = reached && ratio >= kWellAbove;
    const double edge = 3 * std::pow(d_, -2.0 / 3);
    const double scale = (ratio < 1.6 ? 2 : 1) / d_;
    const auto norm = [&](double y, double above) {
      return PredictedValue(y, std::abs(y) * (below ? edge : above * scale), norms);
    };
    return {norm(p.weight_norm, 3),
            norm(p.noise_norm, 6),
            norm(p.train_loss, 6),
            {p.cosine, p.cosine * 11 / d_, cosines},
            {p.accuracy, 3 / d_, cosines}};
  }

  MaskedUnit unit_;
  double d_;
  SampleSizes sizes_;
};

}  // namespace

Study study() { return described({.name = "masked-resampling-unit", .make = make<Activated>}); }

}  // namespace attica::masked_resampling_unit
