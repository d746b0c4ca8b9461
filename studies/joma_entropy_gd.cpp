/// @file
/// @brief Study joma-entropy-gd: descent with whole steps on the nonlinear dynamics of softmax
/// attention, against its flow.

#include <algorithm>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/studies/joma_setup.hpp"
#include "attica/studies/joma_studies.hpp"
#include "attica/theory/joma_bounce.hpp"

namespace attica {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

Point component(std::int64_t step) { return {{"step", static_cast<double>(step)}}; }

class EntropyGd : public Experiment {
 public:
  explicit EntropyGd(const Configuration& c)
      : bounce_{.mu = c.reals("model.mu"),
                .start = c.real("model.v0"),
                .gamma = c.real("model.gamma"),
                .kind = BounceKind::softmax},
        steps_(joma_steps(c)),
        eta_(c.real("sim.eta")) {
    validate(bounce_);
    std::sort(bounce_.mu.begin(), bounce_.mu.end());
    for (std::size_t j = 0; j < bounce_.mu.size(); ++j) components_.push_back(numbered(j));
  }

  TheoryResult theory(TheoryGrid) const override {
    std::vector<double> times;
    for (const std::int64_t step : steps_) times.push_back(eta_ * static_cast<double>(step));
    const BounceCurve curve = bounce_curve(bounce_, times);
    std::vector<double> entropy = curve.entropy;
    entropy.resize(steps_.size(), std::nan(""));
    TheoryResult result;
    result.predictions.push_back(prediction(
        "attention_entropy", {}, "step", {steps_.begin(), steps_.end()}, std::move(entropy)));
    for (std::size_t k = 0; k < curve.values.size(); ++k) {
      const VectorXd& v = curve.values[k];
      result.predictions.push_back(
          prediction("v", component(steps_[k]), "component", components_, {v.begin(), v.end()}));
    }
    const BounceSummary summary = bounce_summary(bounce_);
    result.diagnostics = {{"final_entropy", summary.final_entropy}};
    if (summary.minimum) {
      result.diagnostics.emplace_back("minimum_step", summary.minimum->time / eta_);
      result.diagnostics.emplace_back("minimum_entropy", summary.minimum->entropy);
    }
    return result;
  }

  std::size_t points() const override { return 1; }
  std::uint64_t replicates_per_piece(std::size_t) const override { return 1000000; }

  std::vector<Outcome> simulate(const Piece& piece) const override {
    const auto size = static_cast<Index>(bounce_.mu.size());
    const Eigen::Map<const Eigen::ArrayXd> mu(bounce_.mu.data(), size);
    Eigen::ArrayXd v = Eigen::ArrayXd::Constant(size, bounce_.start);
    Outcome outcome{.series = {{"attention_entropy", {}, "step", {}, {}}}};
    std::int64_t step = 0;
    for (const std::int64_t record : steps_) {
      for (; step < record; ++step) {
        const Eigen::ArrayXd theta = bounce_.gamma * v.square();
        Eigen::ArrayXd p = (theta - theta.maxCoeff()).exp();
        p /= p.sum();
        v += eta_ * (mu - v) * p;
      }
      outcome.series.front().x.push_back(static_cast<double>(record));
      outcome.series.front().y.push_back(bounce_entropy(v, bounce_.gamma));
      outcome.series.push_back(
          {"v", component(record), "component", components_, {v.begin(), v.end()}});
    }
    return std::vector<Outcome>(piece.replicates, outcome);
  }

 private:
  Bounce bounce_;
  std::vector<std::int64_t> steps_;
  double eta_;
  std::vector<double> components_;
};

std::unique_ptr<Experiment> make(Configuration& c) { return std::make_unique<EntropyGd>(c); }

Figure figure(const Configuration& c) {
  // Weights at six of the records at most.
  const std::vector<std::int64_t> steps = joma_steps(c);
  std::vector<Layer> layers;
  const std::size_t every = std::max<std::size_t>((steps.size() + 5) / 6, 1);
  for (std::size_t k = 0; k < steps.size(); k += every) {
    layers.push_back({.series = "v", .label = "step {step}", .only = component(steps[k])});
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

Study joma_entropy_gd() {
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
      .sources = {joma_source("Fig. 4")},
      .make = make,
      .figure = figure,
      .agreement = agreement};
}

}  // namespace attica
