/// @file
/// @brief Study masked-resampling-labels: accuracy of few labels on what a masked unit learnt.

#include "attica/studies/masked/masked_unit.hpp"
#include "attica/studies/masked/model.hpp"
#include "attica/studies/sample_ratios.hpp"

namespace attica::masked_resampling_labels {
namespace {

using Eigen::Index;

/// Against the number of labels, for every number of masks and α.
class Labels : public UnitExperiment {
 public:
  explicit Labels(Configuration& c)
      : UnitExperiment(c),
        labels_(ascending(c.integers("sweep.labels"))),
        data_sets_(c.integer("sim.data_sets")),
        thresholds_([this] { return unit_.thresholds(); }) {}

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
  Outcome run(const Replicate& replicate) const override {
    const double alpha = sizes_.alpha(replicate.point());
    RandomStream fresh = replicate.stream(StreamId::test_data);
    return trained(replicate,
                   drawn(replicate),
                   [&](auto number, const TrainedUnit&, const UnitMeasures& m, Outcome& seen) {
                     Curves few = labelled(number, alpha);
                     for (const std::int64_t n : labels_) {
                       few.add(static_cast<double>(n),
                               {labelled_accuracy(m, unit_.beta, n, data_sets_, fresh)});
                     }
                     few.into(seen);
                   });
  }

 private:
  static Curves labelled(std::optional<Index> number, double alpha) {
    return {joined(MaskedUnit::point(number), {{"alpha", alpha}}), "labels", {"label_accuracy"}};
  }

  std::vector<std::int64_t> labels_;
  std::int64_t data_sets_;
  Lazy<std::vector<double>> thresholds_;
};

}  // namespace

Study study() { return described({.name = "masked-resampling-labels", .make = make<Labels>}); }

}  // namespace attica::masked_resampling_labels
