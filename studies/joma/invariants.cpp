/// @file
/// @brief Study joma-invariants: what attention logits and MLP weights conserve together, exactly
/// at any step size.

#include <fmt/format.h>

#include <cmath>

#include "attica/sim/joma/descent.hpp"
#include "attica/sim/joma/networks.hpp"
#include "attica/studies/joma/model.hpp"

namespace attica::joma_invariants {
namespace {

using Eigen::VectorXd;

struct Pair {
  std::string attention;
  std::string activation;
  Point point() const { return {{"attention", attention}, {"activation", activation}}; }
};

/// How much the loss falls along its descent direction d, per length and |d|: 1 if d is minus its
/// gradient, whatever is conserved. A central difference of the loss alone.
double descent_slope(const JomaModel& model, const JomaState& state) {
  constexpr double kStep = 1e-6;
  JomaState descent;
  model.loss(state, &descent);
  const VectorXd direction = descent.flat();
  if (direction.norm() == 0) return 1;  // at rest
  const VectorXd at = state.flat();
  const double h = kStep / direction.norm();
  const auto loss_at = [&](double along) {
    return model.loss(state.from_flat(at + along * direction), nullptr);
  };
  return (loss_at(-h) - loss_at(h)) / (2 * h * direction.squaredNorm());
}

class Invariants : public PointwiseExperiment {
 public:
  explicit Invariants(const Configuration& c)
      : steps_(recorded_steps(c)),
        eta_(c.real("sim.eta")),
        batch_(static_cast<int>(c.integer("sim.batch"))),
        seed_(static_cast<std::uint64_t>(c.integer("sim.seed"))),
        scale_(c.real("sim.scale")),
        logit_(c.real("sim.logit")),
        orthonormal_(c.real("model.overlap") == 0) {
    const JomaSizes sizes{.tokens = c.integer("model.tokens"),
                          .samples = c.integer("model.samples"),
                          .classes = static_cast<int>(c.integer("model.classes")),
                          .queries = static_cast<int>(c.integer("model.queries")),
                          .units = c.integer("model.units")};
    for (const std::string& attention : c.texts("model.attention")) {
      for (const std::string& activation : c.texts("model.activation")) {
        pairs_.push_back({attention, activation});
        RandomStream stream({.seed = seed_, .id = StreamId::model});  // the same network for all
        const JomaLaw law{.attention = kJomaAttentions(attention),
                          .activation = kJomaActivations(activation),
                          .temperature = c.real("model.temperature"),
                          .gram = equal_overlap(sizes.tokens, c.real("model.overlap"))};
        models_.push_back(random_joma_model(sizes, law, stream));
      }
      if (attention == "linear" && scale_ == 0 && logit_ == 0) {
        warnings_ = {"linear attention rests at v = 0, z = 0: nothing will move"};
      }
    }
  }

  TheoryResult theory(TheoryGrid) const override {
    TheoryResult result;
    for (const Pair& pair : pairs_) {
      Curves drift = curve("invariant_drift", pair);
      for (const double step : as_reals(steps_)) drift.add(step, {Told(0)});
      drift.into(result);
      if (!orthonormal_) continue;
      Curves slope = curve("descent_slope", pair);
      for (const double step : as_reals(steps_)) slope.add(step, {Told(1)});
      slope.into(result);
    }
    return result;
  }

  std::size_t points() const override { return pairs_.size(); }

 protected:
  double flops(std::size_t point) const override {
    constexpr double kSample = 200;
    const JomaModel& model = models_[point];
    const auto samples = batch_ > 0 ? batch_ : model.samples().weights.size();
    return kSample * static_cast<double>(steps_.back()) *
           static_cast<double>(samples * model.units() * model.tokens());
  }

  Outcome run(const Replicate& replicate) const override {
    const JomaModel& model = models_[replicate.point()];
    const bool linear = model.law().attention == JomaAttention::linear;
    const bool softmax = model.law().attention == JomaAttention::softmax;
    RandomStream stream({.seed = seed_, .id = StreamId::initialisation});
    JomaState start = random_joma_start(model, scale_, stream);
    if (linear) start.z.array() += logit_;
    JomaDescent descent(model, start, eta_, batch_, replicate.address(StreamId::minibatch));
    Curves drift = curve("invariant_drift", pairs_[replicate.point()]);
    Curves flow = curve("flow_drift", pairs_[replicate.point()]);
    Curves slope = curve("descent_slope", pairs_[replicate.point()]);
    for (const std::int64_t record : steps_) {
      while (descent.steps() < record && !descent.blown_up()) descent.step();
      if (descent.blown_up()) break;
      const JomaState& s = descent.state();
      // Rounding of the sums of z is what both sides are limited by.
      const double scale = std::max(1.0, s.z.cwiseAbs().maxCoeff());
      const VectorXd change = model.invariant(s) - model.invariant(start);
      const auto x = static_cast<double>(record);
      const VectorXd off = softmax ? VectorXd(model.logit_sums(s) - model.logit_sums(start))
                                   : VectorXd(change - descent.accumulated());
      drift.add(x, {Told(off.cwiseAbs().maxCoeff() / scale)});
      flow.add(x, {Told(change.cwiseAbs().maxCoeff())});
      slope.add(x, {Told(descent_slope(model, s))});
    }
    Outcome outcome;
    drift.into(outcome);
    if (!softmax) flow.into(outcome);
    if (orthonormal_) slope.into(outcome);
    if (!descent.finite()) {
      mark_diverged(outcome, descent.steps());
    } else if (descent.blown_up()) {
      outcome.status = "blow-up";
      outcome.message = fmt::format("attention grew beyond exp(30) at step {}", descent.steps());
    }
    return outcome;
  }

 private:
  static Curves curve(const std::string& name, const Pair& pair) {
    return {pair.point(), "step", {name}};
  }

  std::vector<std::int64_t> steps_;
  double eta_;
  int batch_;
  std::uint64_t seed_;
  double scale_;
  double logit_;
  bool orthonormal_;
  std::vector<Pair> pairs_;
  std::vector<JomaModel> models_;
};

Figure figure(const Configuration&) {
  const auto panel = [](const std::string& series, const std::string& y) {
    const bool identity = series == "invariant_drift";  // of softmax attention only a sum is
    Panel p{.x = {.label = "step {/:Italic n}", .scale = AxisScale::log},
            .y = {.label = y, .scale = AxisScale::log},
            .layers = {},
            .x_name = "step"};
    for (const std::string& attention : kJomaAttentions.words()) {
      if (attention == "softmax" && !identity) continue;
      p.layers.push_back({.series = series,
                          .label = attention + ", tanh",
                          .theory = !identity,
                          .only = {{"attention", attention}, {"activation", "tanh"}}});
    }
    return p;
  };
  return {.name = "joma-invariants",
          .panels = {panel("invariant_drift", "|left − right|"),
                     panel("flow_drift", "drift of the invariant")},
          .columns = 1,
          .caption =
              "Conserved quantities of attention logits and MLP weights under SGD. Top: violation "
              "of the discrete identity (exponential, linear) and of the conserved sum (softmax), "
              "rounding only; bottom: change of the continuous-time invariant, of the order of the "
              "step size. Means over minibatch orders, standard errors."};
}

std::vector<AgreementRule> agreement(const Configuration&) {
  // The identities hold to rounding: 1e-12 leaves room for some thousand accumulated steps.
  constexpr double kRounding = 1e-12;
  // A central difference over 1e-6 leaves 1e-9, more where a ReLU bends inside it.
  constexpr double kDifference = 1e-5;
  return {{.series = "invariant_drift", .relative = 0, .absolute = kRounding},
          {.series = "descent_slope", .relative = kDifference, .tails = Tails::normal}};
}

}  // namespace

Study study() {
  const auto words = [](const std::string& key,
                        const std::vector<std::string>& choices,
                        const std::string& meaning) {
    return Parameter{.key = key,
                     .type = ParameterType::text,
                     .fallback = Value(List(choices.begin(), choices.end())),
                     .meaning = meaning,
                     .list = true,
                     .choices = choices};
  };
  return {
      .name = "joma-invariants",
      .question = "What do attention logits and MLP weights conserve while they are trained?",
      .neglects = "nothing: the identities hold for every activation, loss, batch and step size",
      .parameters = {words("model.attention",
                           kJomaAttentions.words(),
                           "attentions, each with all activations"),
                     words("model.activation", kJomaActivations.words(), "activations of the MLP"),
                     integer_parameter("model.tokens", 4, "M, contextual tokens"),
                     integer_parameter("model.samples", 6, "samples of the population"),
                     integer_parameter("model.classes", 3, "labels"),
                     integer_parameter("model.units", 5, "K, hidden units"),
                     integer_parameter("model.queries", 2, "query tokens"),
                     real_parameter("model.temperature", 0.7, "T of attention", kPositive),
                     real_parameter("model.overlap",
                                    0,
                                    "cosine of any two tokens' embeddings",
                                    {.low = 0, .high = 1, .high_open = true}),
                     real_parameter(
                         "sim.scale", 0.1, "deviation of the normal start", kNotNegative),
                     real_parameter("sim.logit", 1, "linear attention: added to the logits' start"),
                     real_parameter("sim.eta", 0.1, "learning rate", kPositive),
                     integer_parameter("sim.batch",
                                       3,
                                       "samples per step, with replacement; 0: all",
                                       {.low = 0, .high = 1e6}),
                     steps_parameter({1, 2, 5, 10, 20, 50, 100, 200}),
                     replicates_parameter(16, "minibatch orders")},
      .series =
          {{"invariant_drift",
            "left − right",
            "violation of the discrete identity, largest over tokens, relative to max(1, |z|); "
            "softmax: of the conserved sum of logits, largest over queries; overlapping "
            "embeddings: "
            "of the one identity that is left"},
           {"descent_slope",
            "-d·∇L/|d|²",
            "fall of the loss along its descent direction d by a difference of losses, over |d|²: "
            "1; of orthonormal embeddings"},
           {"flow_drift",
            "[z − v²/2T]",
            "change of the quantity that gradient flow conserves, largest over tokens"}},
      .presets = {{"quick", "the defaults: 4 tokens, 200 steps", {}},
                  {"paper",
                   "20 tokens, 2000 steps",
                   {{"model.tokens", 20},
                    {"model.samples", 40},
                    {"model.classes", 10},
                    {"model.units", 20},
                    {"sim.steps", List{1, 10, 100, 500, 1000, 2000}}}}},
      .sources = {cited("tian2023joma", "Theorem 1")},
      .make = make<Invariants>,
      .figure = figure,
      .agreement = agreement,
      .plants = {{.name = "half-square",
                  .series = "descent_slope",
                  .factor = 0.5,
                  .meaning = "a loss with the factor 1/2 read as one without"},
                 {.name = "step",
                  .series = "descent_slope",
                  .factor = 1.0001,
                  .meaning = "a descent direction 0.01 % too short"}}};
}

}  // namespace attica::joma_invariants
