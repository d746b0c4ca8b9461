/// @file
/// @brief Study gauss-sgd-steady: the error at which online SGD settles, against the learning rate.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attica/studies/gauss/sgd_curves.hpp"

namespace attica::gauss_sgd_steady {
namespace {

/// Learning with a batch size, whatever the rate.
struct BatchSize {
  SgdRule rule;  ///< with some rate
  double eta_max = 0;
  int unstable = 0;  ///< configured rates that are
};

class SteadySgd : public PointwiseExperiment {
 public:
  explicit SteadySgd(Configuration& c)
      : model_(GaussianModel::from(c)),
        sgd_(model_.problem()),
        burn_in_time_(c.real("sim.burn_in_time")),
        average_time_(c.real("sim.average_time")),
        etas_(ascending(c.reals("sweep.eta"))) {
    const bool allow_unstable = c.flag("sim.allow_unstable");
    diagnostics_ = model_.diagnostics();
    warnings_ = model_.warnings();
    for (const SgdRule& rule : sgd_rules(c, model_)) {
      auto batch = std::find_if(batches_.begin(), batches_.end(), [&](const BatchSize& known) {
        return known.rule.batch == rule.batch;
      });
      if (batch == batches_.end()) {
        batch = batches_.insert(batch, {rule, stable_eta(sgd_, rule, model_)});
      }
      const bool stable = rule.eta < batch->eta_max;
      if (!stable) ++batch->unstable;
      if (stable || allow_unstable) rules_.push_back(rule);
    }
    Table eta_max;
    for (const BatchSize& batch : batches_) {
      eta_max.emplace_back(fmt::format("{}", batch.rule.batch), batch.eta_max);
      if (batch.unstable == 0) continue;
      warnings_.push_back(fmt::format(
          "with batches of {}, eta < {:.6g} is stable; at {} larger rates the mean test error "
          "grows without bound: no theory{}",
          batch.rule.batch,
          batch.eta_max,
          batch.unstable,
          allow_unstable ? "" : ", and no simulation without sim.allow_unstable"));
    }
    diagnostics_.emplace_back("eta_max", eta_max);
  }

  TheoryResult theory(TheoryGrid grid) const override {
    // Nearer to instability the error has heavy tails and its mean is not seen in a run.
    constexpr double kLargestChi = 0.5;
    // The line ends at this chi, with ten times the error of the best predictor.
    constexpr double kLargestDrawnChi = 0.9;
    constexpr int kLinePoints = 159;
    if (grid == TheoryGrid::run) require_simulable();
    TheoryResult result;
    for (const BatchSize& batch : batches_) {
      Curves curve(at(batch.rule), "eta", {"steady_error"});
      for (const double eta : line_through(etas_, kLinePoints, AxisScale::log, grid)) {
        SgdParameters parameters = batch.rule.parameters;
        parameters.eta = eta / model_.absolute_lambda(1);
        const SgdSteadyState steady = sgd_.steady(parameters);
        const bool asked = std::binary_search(etas_.begin(), etas_.end(), eta);
        if (!asked && steady.chi > kLargestDrawnChi) continue;
        curve.add(eta, std::vector<PredictedValue>{{steady.error, 0, steady.chi <= kLargestChi}});
      }
      curve.into(result);
    }
    add_constant(result, "bayes_error", sgd_.bayes_error());
    return result;
  }

  std::size_t points() const override { return rules_.size(); }

 protected:
  double flops(std::size_t point) const override {
    const SteadyPlan times = plan(rules_[point].eta);
    return sgd_flops(times.burn_in + times.records * times.interval,
                     rules_[point].batch,
                     model_.problem().sites());
  }

  Outcome run(const Replicate& replicate) const override {
    const SgdRule& rule = rules_[replicate.point()];
    RandomStream samples = replicate.stream();
    RandomStream masks = replicate.stream(StreamId::minibatch);
    LinearAttentionSgd sgd(
        model_.problem().sites(), rule.settings, fresh_samples(model_, samples), masks);
    const SteadyError steady = steady_sgd_error(model_.problem(), sgd, plan(rule.eta));
    Outcome outcome;
    if (steady.diverged) {
      outcome.status = "diverged";
      Curves(at(rule), "eta", {"divergence_step"})
          .add(rule.eta, {static_cast<double>(*steady.diverged)})
          .into(outcome);
    }
    Curves(at(rule), "eta", {"steady_error", "block_error"})
        .add(rule.eta,
             {steady.diverged ? kNoValue : steady.mean,
              steady.diverged ? kNoValue : steady.standard_error})
        .into(outcome);
    return outcome;
  }

 private:
  static Point at(const SgdRule& rule) { return {{"batch", static_cast<double>(rule.batch)}}; }

  void require_simulable() const override {
    constexpr double kMostSteps = 1e12;
    const double steps = (burn_in_time_ + average_time_) / etas_.front();
    require(steps <= kMostSteps,
            "sweep.eta",
            etas_.front(),
            fmt::format("at most {:g} steps, (burn_in_time + average_time) / eta", kMostSteps));
    if (!rules_.empty()) return;
    throw invalid_parameter("sweep.eta",
                            etas_.front(),
                            fmt::format("eta < {:.6g} with batches of {}, or sim.allow_unstable = "
                                        "true to simulate beyond",
                                        batches_.front().eta_max,
                                        batches_.front().rule.batch));
  }

  /// Times are numbers of steps times eta, the clock of gradient flow. Errors are recorded several
  /// times within the time in which the fastest direction is learnt anew.
  SteadyPlan plan(double eta) const {
    constexpr double kInterval = 0.2;
    const auto steps = [&](double time) {
      constexpr double kForever = 1e15;  // refused before it is simulated
      return static_cast<std::int64_t>(std::llround(std::min(time / eta, kForever)));
    };
    SteadyPlan plan;
    plan.burn_in = steps(burn_in_time_);
    plan.interval = std::max<std::int64_t>(1, steps(kInterval));
    plan.records = std::max(plan.blocks, steps(average_time_) / plan.interval);
    return plan;
  }

  GaussianModel model_;
  OnlineSgd sgd_;
  double burn_in_time_, average_time_;
  std::vector<double> etas_;
  std::vector<BatchSize> batches_;
  std::vector<SgdRule> rules_;  ///< those that are simulated
};

}  // namespace

Study study() { return described({.name = "gauss-sgd-steady", .make = make<SteadySgd>}); }

}  // namespace attica::gauss_sgd_steady
