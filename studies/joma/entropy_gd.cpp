/// @file
/// @brief Study joma-entropy-gd: descent with whole steps on the nonlinear dynamics of softmax
/// attention, against its flow.

#include <cmath>

#include "attica/sim/joma/descent.hpp"
#include "attica/studies/joma/model.hpp"
#include "attica/theory/joma/bounce.hpp"

namespace attica::joma_entropy_gd {
namespace {

using Eigen::VectorXd;

Point at_step(std::int64_t step) { return {{"step", static_cast<double>(step)}}; }

class EntropyGd : public PointwiseExperiment {
 public:
  explicit EntropyGd(const Configuration& c)
      : bounce_{.mu = c.reals("model.mu"),
                .start = c.real("model.v0"),
                .gamma = c.real("model.gamma"),
                .kind = BounceKind::softmax},
        steps_(recorded_steps(c)),
        eta_(c.real("sim.eta")) {
    validate(bounce_);
    std::sort(bounce_.mu.begin(), bounce_.mu.end());
  }

  TheoryResult theory(TheoryGrid grid) const override {
    const std::vector<std::int64_t> steps = steps_between(steps_, grid);
    std::vector<double> times;
    for (const std::int64_t step : steps) times.push_back(eta_ * static_cast<double>(step));
    const BounceCurve curve = bounce_curve(bounce_, times);
    TheoryResult result;
    Curves entropy = entropy_curve();
    for (std::size_t k = 0; k < steps.size(); ++k) {
      entropy.add(static_cast<double>(steps[k]),
                  {Told(k < curve.entropy.size() ? curve.entropy[k] : std::nan(""))});
    }
    entropy.into(result);
    for (std::size_t k = 0; k < curve.values.size(); ++k) {
      if (std::ranges::binary_search(steps_, steps[k]))
        weights(steps[k], curve.values[k]).into(result);
    }
    const BounceSummary summary = bounce_summary(bounce_);
    result.diagnostics = {{"final_entropy", summary.final_entropy}};
    if (summary.minimum) {
      result.diagnostics.emplace_back("minimum_step", summary.minimum->time / eta_);
      result.diagnostics.emplace_back("minimum_entropy", summary.minimum->entropy);
    }
    return result;
  }

 protected:
  bool deterministic(std::size_t) const override { return true; }

  Outcome run(const Replicate&) const override {
    const auto size = static_cast<Eigen::Index>(bounce_.mu.size());
    Curves entropy = entropy_curve();
    Outcome maps;
    Outcome outcome;
    const auto observe = [&](std::size_t k, const VectorXd& v) {
      const double h = logits_entropy(bounce_.gamma * v.cwiseAbs2());
      if (outcome.failed || !std::isfinite(h) || !v.allFinite()) {
        mark_diverged(outcome, steps_[k]);
        return;
      }
      entropy.add(static_cast<double>(steps_[k]), {Told(h)});
      weights(steps_[k], v).into(maps);
    };
    const VectorXd mu = Eigen::Map<const VectorXd>(bounce_.mu.data(), size);
    descend_saturating(mu, bounce_.start, bounce_.gamma, eta_, steps_, observe);
    entropy.into(outcome);
    for (Series& s : maps.series) outcome.series.push_back(std::move(s));
    return outcome;
  }

 private:
  static Curves entropy_curve() { return {{}, "step", {"attention_entropy"}}; }
  static Curves weights(std::int64_t step, const VectorXd& v) {
    Curves curve(at_step(step), "component", {"v"});
    for (Eigen::Index j = 0; j < v.size(); ++j) curve.add(numbered(j), {Told(v[j])});
    return curve;
  }

  Bounce bounce_;
  std::vector<std::int64_t> steps_;
  double eta_;
};

Figure figure(const Configuration& c) {
  std::vector<Layer> layers;
  for (const std::int64_t step : thinned(recorded_steps(c), 6)) {
    layers.push_back({.series = "v", .label = "step {step}", .only = at_step(step)});
  }
  return {.name = "joma-entropy-gd",
          .panels = {{.x = {.label = "component {/:Italic j} (rising {/:Italic μ_j})"},
                      .y = {.label = "weight {/:Italic v_j}"},
                      .layers = std::move(layers),
                      .x_name = "component"},
                     {.x = {.label = "step {/:Italic n}"},
                      .y = {.label = "entropy {/:Italic H} (nats)"},
                      .layers = {{.series = "attention_entropy", .label = "gradient flow"}},
                      .x_name = "step"}},
          .columns = 1,
          .caption =
              "Softmax attention concentrates on the salient component and spreads again. "
              "Lines: flow; points: descent with whole steps. No randomness, no error bars."};
}

std::vector<AgreementRule> agreement(const Configuration&) {
  // Whole steps are ahead by at most a step's change: 0.02 in time, at most 1/4 of which shows in
  // H.
  return {{.series = "attention_entropy", .relative = 0, .absolute = 0.01, .deterministic = true}};
}

}  // namespace

Study study() {
  std::vector<double> mu;
  for (int i = 0; i < 10; ++i) mu.push_back(1 + i / 3.0);
  List steps;
  for (std::int64_t n = 0; n <= 1000; n += 50) steps.emplace_back(n);
  List many;
  for (std::int64_t n = 0; n <= 5000; n += 100) many.emplace_back(n);
  return {
      .name = "joma-entropy-gd",
      .question = "How does attention entropy fall and rise under gradient descent?",
      .neglects = "the step size of descent",
      .parameters = {reals_parameter("model.mu", mu, "fixed points; 1 + 3U sorted in the paper"),
                     real_parameter("model.v0", 0.05, "start of every weight"),
                     real_parameter("model.gamma",
                                    1.0 / 3,
                                    "attention is softmax(gamma v^2); temperature 3",
                                    kNotNegative),
                     real_parameter("sim.eta", 0.02, "step size", kPositive),
                     steps_parameter(steps),
                     replicates_parameter(8, "identical by design")},
      .series = {{"attention_entropy", "H", "entropy of softmax(gamma v^2), nats"},
                 {"v", "v_j", "weights by component, components sorted by mu"}},
      .presets = {{"quick", "the defaults: 1000 steps", {}},
                  {"paper", "5000 steps", {{"sim.steps", many}}}},
      .sources = {cited("tian2023joma", "Fig. 4")},
      .make = make<EntropyGd>,
      .figure = figure,
      .agreement = agreement,
      .plants = {{.name = "gamma", .values = {{"model.gamma", 0.34}}, .meaning = "gamma 2 % off"},
                 {.name = "factor",
                  .series = "attention_entropy",
                  .factor = 1.01,
                  .meaning = "an entropy times 1.01"}}};
}

}  // namespace attica::joma_entropy_gd
