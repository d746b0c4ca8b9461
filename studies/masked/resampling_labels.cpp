/// @file
/// @brief Study masked-resampling-labels: accuracy of few labels on what a masked unit learnt.

#include "attica/studies/masked/masked_unit.hpp"
#include "attica/studies/masked/model.hpp"
#include "attica/studies/sample_ratios.hpp"

namespace attica::masked_resampling_labels {
namespace {

using Eigen::Index;

/// Against the number of labels, for every number of masks and α.
class Labels : public PointwiseExperiment {
 public:
  explicit Labels(Configuration& c)
      : unit_(c),
        d_(static_cast<double>(c.integer("model.dimension"))),
        sizes_(masked_sizes(with_distinct_ratios(c, d_))),
        labels_(ascending(c.integers("sweep.labels"))),
        data_sets_(c.integer("sim.data_sets")),
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
    TheoryResult result;
    for (std::size_t k = 0; k < unit_.masks.size(); ++k) {
      const std::optional<Index> number = unit_.masks[k];
      for (const double alpha : sizes_.alphas(grid)) {
        const ResamplingPoint at = unit_.at(number, alpha);
        const bool reached = unit_.reached(number, alpha, d_);
        PredictedValue value =
            with_allowances(at, alpha / thresholds_.get()[k], d_, reached).back();
        Curves few = labelled(number, alpha);
        for (const std::int64_t n : steps_between(labels_, grid)) {
          value.y = few_labels_accuracy(at.accuracy, static_cast<double>(n));
          few.add(static_cast<double>(n), {value});
        }
        few.into(result);
      }
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
    RandomStream fresh = replicate.stream(StreamId::test_data);
    Outcome outcome;
    for (const auto number : unit_.masks) {
      const TrainedUnit unit = train_unit(samples, unit_.objective(number), replicate.address());
      if (outcome.status == "finished") outcome.status = unit.status();
      const UnitMeasures m = measured(samples.source, unit.w, unit_.rho);
      Curves few = labelled(number, alpha);
      for (const std::int64_t n : labels_) {
        few.add(static_cast<double>(n), {labelled_accuracy(m, unit_.beta, n, data_sets_, fresh)});
      }
      few.into(outcome);
    }
    return outcome;
  }

 private:
  static Curves labelled(std::optional<Index> number, double alpha) {
    return {joined(MaskedUnit::point(number), {{"alpha", alpha}}), "labels", {"label_accuracy"}};
  }

  MaskedUnit unit_;
  double d_;
  SampleSizes sizes_;
  std::vector<std::int64_t> labels_;
  std::int64_t data_sets_;
  Lazy<std::vector<double>> thresholds_;
};

}  // namespace

Study study() { return described({.name = "masked-resampling-labels", .make = make<Labels>}); }

}  // namespace attica::masked_resampling_labels
