/// @file
/// @brief Study topics-mode-growth: how fast keys learn to tell topics apart once the value matrix
/// is learnt, gradient flow against gradient descent on all entries.

#include <algorithm>

#include "attica/sim/topics/frozen_value.hpp"
#include "attica/studies/topics/model.hpp"
#include "attica/theory/topics/dynamics.hpp"
#include "attica/theory/topics/value.hpp"

namespace attica::topics_mode_growth {
namespace {

class ModeGrowth : public PointwiseExperiment {
 public:
  explicit ModeGrowth(const Configuration& c)
      : model_(topic_model(c)),
        algebra_(model_.vocabulary()),
        epsilon_(c.real("model.epsilon")),
        lambda_(topic_penalty(c)),
        scale_(attention_scale(c, model_)),
        start_(attention_start(c)),
        flow_(flow_start(c)),
        onset_(attention_onset(model_, scale_)),
        eta_(small_step(onset_, c.real("sim.eta"))),
        times_(recorded_times(c, eta_)) {
    require_squared(c);
    require_enumerable(model_);
    flow_.value = value_closed_form(model_);
    require(onset_.growth_rate > 0,
            "keep_rate",
            model_.keep_rate(),
            "keep_rate > 0 and topics_per_document >= 2: nothing grows otherwise");
    rounded_ = {times_of_steps(c, "sim.times", eta_)};
    warnings_ = topic_warnings(model_, true);
  }

  TheoryResult theory(TheoryGrid grid) const override {
    const TopicFlow flow =
        whole_topic_flow("mode growth",
                         model_,
                         {.scale = scale_, .attention_penalty = lambda_, .train_value = false},
                         flow_,
                         line_of(times_, 150, grid));
    Curves curve({}, "time", {"contrast_K"});
    Curves law({}, "time", {"contrast_K_linear"});
    for (std::size_t k = 0; k < flow.times.size(); ++k) {
      const double t = flow.times[k];
      curve.add(t, {algebra_.isotypic(flow.states[k].k).topic});
      const double linear =
          early_contrast(onset_, start_ == AttentionStart::split, epsilon_, lambda_, t);
      constexpr double kMost = 0.008;  // contrasts of 0.02 at the defaults
      const double grown = bend() * linear;
      if (linear < 1) law.add(t, {{linear, grown * linear, grown <= kMost}});
    }
    TheoryResult result;
    curve.into(result);
    law.into(result);
    result.diagnostics = {{"topic_contrast", onset_.topic_contrast},
                          {"growth_rate", onset_.growth_rate}};
    return result;
  }

 protected:
  bool deterministic(std::size_t) const override { return true; }

  Outcome run(const Replicate& replicate) const override {
    // Steps of one size and of half that: extrapolated to none.
    std::vector<double> whole;
    const networks::TrainingResult first = descend(1, whole, replicate);
    if (first.status != networks::TrainingStatus::finished) return recorded_run({}, first);
    std::vector<double> half;
    const auto end = descend(2, half, replicate);
    Curves curve({}, "time", {"contrast_K"});
    Curves law({}, "time", {"contrast_K_linear"});
    for (std::size_t k = 0; k < std::min(whole.size(), half.size()); ++k) {
      const double contrast = 2 * half[k] - whole[k];
      curve.add(times_.realised()[k], {contrast});
      law.add(times_.realised()[k], {contrast});
    }
    return recorded_run({curve, law}, end);
  }

 private:
  /// Attention that is no longer uniform slows growth by this times the contrast. Measured: 0.31 at
  /// c = 1, v = 2, p_r/p_c = 1/3 and T = 3 to 8; 0.17 to 0.8 at c = 0.5 to 3, 0.55 and 0.23 at v =
  /// 1 and 3, 0.51 and 0.87 at p_r/p_c = 1.7 and 3.5; less with more topics in a document.
  double bend() const {
    const double spread = 0.3 + 0.2 * model_.random_rate() / model_.keep_rate();
    return spread * scale_ * 2 / model_.words();
  }

  /// The contrasts at the recorded times, with steps a `parts`-th as long.
  networks::TrainingResult descend(std::uint64_t parts,
                                   std::vector<double>& contrasts,
                                   const Replicate& replicate) const {
    const std::vector<std::uint64_t>& steps = times_.steps();
    return descend_attention_from(
        model_,
        {.value = flow_.value,
         .start = start_,
         .epsilon = epsilon_,
         .scale = scale_,
         .penalty = lambda_},
        eta_ / static_cast<double>(parts),
        parts * steps.back(),
        [&](std::uint64_t step, const TopicNetwork& now) {
          if (contrasts.size() < steps.size() && step == parts * steps[contrasts.size()]) {
            const Eigen::MatrixXd key = now.parameters().matrix("W_K").map();
            contrasts.push_back(algebra_.isotypic(algebra_.project(key.transpose() * key)).topic);
          }
          return true;
        },
        [&] { return replicate.stopped(); });
  }

  TopicModel model_;
  CommutantAlgebra algebra_;
  double epsilon_;
  double lambda_;
  double scale_;
  AttentionStart start_;
  TopicState flow_;
  AttentionOnset onset_;
  double eta_;
  RecordedTimes times_;
};

}  // namespace

Study study() { return described({.name = "topics-mode-growth", .make = make<ModeGrowth>}); }

}  // namespace attica::topics_mode_growth
