/// @file
/// @brief Study joma-invariants: what attention logits and MLP weights conserve together, exactly
/// at any step size.

#include <cmath>

#include "attica/core/error.hpp"
#include "attica/sim/joma_descent.hpp"
#include "attica/studies/joma_setup.hpp"
#include "attica/studies/joma_studies.hpp"

namespace attica {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

/// A random small network with several queries; the same for all attentions and activations.
JomaModel random_model(const Configuration& c,
                       const std::string& attention,
                       const std::string& activation) {
  const auto tokens = static_cast<Index>(c.integer("model.tokens"));
  const auto samples = static_cast<Index>(c.integer("model.samples"));
  const auto classes = static_cast<int>(c.integer("model.classes"));
  const auto queries = static_cast<int>(c.integer("model.queries"));
  RandomStream stream(
      {.seed = static_cast<std::uint64_t>(c.integer("sim.seed")), .id = StreamId::model});
  JomaSamples data{.contexts = MatrixXd(samples, tokens),
                   .queries = {},
                   .labels = {},
                   .weights = Eigen::VectorXd::Constant(samples, 1 / static_cast<double>(samples))};
  for (double& x : data.contexts.reshaped()) x = stream.uniform();
  data.contexts.array().colwise() /= data.contexts.rowwise().sum().eval().array();
  for (int i = 0; i < samples; ++i) {
    data.queries.push_back(i % queries);
    data.labels.push_back(i % classes);
  }
  JomaLaw law{.attention = joma_attention_of(attention),
              .activation = joma_activation_of(activation),
              .loss = JomaLoss::cross_entropy,
              .temperature = c.real("model.temperature"),
              .top = MatrixXd(classes, static_cast<Index>(c.integer("model.units")))};
  for (double& w : law.top.reshaped()) w = stream.normal();
  return {std::move(law), std::move(data)};
}

JomaState random_start(const JomaModel& model, std::uint64_t seed, double scale, double logit) {
  RandomStream stream({.seed = seed, .id = StreamId::initialisation});
  JomaState start{MatrixXd(model.units(), model.tokens()),
                  MatrixXd(model.units(), model.queries()),
                  MatrixXd(model.queries(), model.tokens())};
  for (MatrixXd* block : {&start.v, &start.r, &start.z}) {
    for (double& x : block->reshaped()) x = scale * stream.normal();
  }
  if (model.law().attention == JomaAttention::linear) start.z.array() += logit;
  return start;
}

struct Pair {
  std::string attention;
  std::string activation;
  Point point() const { return {{"attention", attention}, {"activation", activation}}; }
};

class Invariants : public Experiment {
 public:
  explicit Invariants(const Configuration& c)
      : steps_(joma_steps(c)),
        eta_(c.real("sim.eta")),
        batch_(static_cast<int>(c.integer("sim.batch"))),
        seed_(static_cast<std::uint64_t>(c.integer("sim.seed"))),
        scale_(c.real("sim.scale")),
        logit_(c.real("sim.logit")) {
    for (const std::string& attention : c.texts("model.attention")) {
      for (const std::string& activation : c.texts("model.activation")) {
        pairs_.push_back({attention, activation});
        models_.push_back(random_model(c, attention, activation));
      }
    }
  }

  TheoryResult theory(TheoryGrid) const override {
    TheoryResult result;
    const std::vector<double> x(steps_.begin(), steps_.end());
    for (const Pair& pair : pairs_) {
      result.predictions.push_back(prediction(
          "invariant_drift", pair.point(), "step", x, std::vector<double>(x.size(), 0.0)));
    }
    return result;
  }

  std::size_t points() const override { return pairs_.size(); }
  std::uint64_t replicates_per_piece(std::size_t) const override { return 10; }

  std::vector<Outcome> simulate(const Piece& piece) const override {
    return each_replicate(piece, [&](std::uint64_t replicate) { return run(piece, replicate); });
  }

  std::vector<std::string> warnings() const override {
    for (const Pair& pair : pairs_) {
      if (pair.attention == "linear" && scale_ == 0 && logit_ == 0) {
        return {"linear attention rests at v = 0, z = 0: nothing will move"};
      }
    }
    return {};
  }

 private:
  Outcome run(const Piece& piece, std::uint64_t replicate) const {
    const JomaModel& model = models_[piece.point];
    const Point point = pairs_[piece.point].point();
    const JomaState start = random_start(model, seed_, scale_, logit_);
    JomaDescent descent(model,
                        start,
                        eta_,
                        batch_,
                        {.seed = piece.seed,
                         .id = StreamId::minibatch,
                         .point = piece.stream_point,
                         .replicate = replicate});
    const bool softmax = model.law().attention == JomaAttention::softmax;
    Series drift{"invariant_drift", point, "step", {}, {}};
    Series flow{"flow_drift", point, "step", {}, {}};
    for (const std::int64_t record : steps_) {
      while (descent.steps() < record && !descent.blown_up()) descent.step();
      if (descent.blown_up()) break;
      const JomaState& s = descent.state();
      const Eigen::VectorXd moved = (s.z - start.z).colwise().sum();
      // Rounding of the sums of z is what both sides are limited by.
      const double scale = std::max(1.0, s.z.cwiseAbs().maxCoeff());
      const Eigen::VectorXd change = model.invariant(s) - model.invariant(start);
      drift.x.push_back(static_cast<double>(record));
      drift.y.push_back(softmax ? std::abs(moved.sum()) / scale
                                : (change - descent.accumulated()).cwiseAbs().maxCoeff() / scale);
      if (!softmax) {
        flow.x.push_back(static_cast<double>(record));
        flow.y.push_back(change.cwiseAbs().maxCoeff());
      }
    }
    Outcome outcome{.series = {std::move(drift)}};
    if (!softmax) outcome.series.push_back(std::move(flow));
    if (descent.blown_up()) {
      outcome.status = "blow-up";
      outcome.message = "attention grew beyond exp(30) at step " + std::to_string(descent.steps());
    }
    return outcome;
  }

  std::vector<std::int64_t> steps_;
  double eta_;
  int batch_;
  std::uint64_t seed_;
  double scale_;
  double logit_;
  std::vector<Pair> pairs_;
  std::vector<JomaModel> models_;
};

std::unique_ptr<Experiment> make(Configuration& c) { return std::make_unique<Invariants>(c); }

Figure figure(const Configuration&) {
  const Axis step{.label = "step {/:Italic n}", .scale = AxisScale::log};
  Panel identity{.x = step,
                 .y = {.label = "|left − right|", .scale = AxisScale::log},
                 .layers = {},
                 .x_name = "step"};
  Panel drift{.x = step,
              .y = {.label = "drift of the invariant", .scale = AxisScale::log},
              .layers = {},
              .x_name = "step"};
  for (const std::string& attention : kJomaAttentions) {
    identity.layers.push_back({.series = "invariant_drift",
                               .label = attention + ", tanh",
                               .theory = false,
                               .only = {{"attention", attention}, {"activation", "tanh"}}});
    if (attention == "softmax") continue;
    drift.layers.push_back({.series = "flow_drift",
                            .label = attention + ", tanh",
                            .only = {{"attention", attention}, {"activation", "tanh"}}});
  }
  return {.name = "joma-invariants",
          .panels = {identity, drift},
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
  return {{.series = "invariant_drift", .relative = 0, .absolute = kRounding}};
}

}  // namespace

Study joma_invariants() {
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
      .parameters =
          {words("model.attention", kJomaAttentions, "attentions, each with all activations"),
           words("model.activation", kJomaActivations, "activations of the MLP"),
           integer_parameter("model.tokens", 4, "M, contextual tokens"),
           integer_parameter("model.samples", 6, "samples of the population"),
           integer_parameter("model.classes", 3, "labels"),
           integer_parameter("model.units", 5, "K, hidden units"),
           integer_parameter("model.queries", 2, "query tokens"),
           real_parameter("model.temperature", 0.7, "T of attention", kPositive),
           real_parameter("sim.scale", 0.1, "deviation of the normal start", kNotNegative),
           real_parameter("sim.logit", 1, "linear attention: added to the logits' start"),
           real_parameter("sim.eta", 0.1, "learning rate", kPositive),
           integer_parameter("sim.batch",
                             3,
                             "samples per step, with replacement; 0: all",
                             {.low = 0, .high = 1e6}),
           steps_parameter({1, 2, 5, 10, 20, 50, 100, 200}),
           replicates_parameter(8, "minibatch orders")},
      .series =
          {{"invariant_drift",
            "left − right",
            "violation of the discrete identity, largest over tokens, relative to max(1, |z|); "
            "softmax: of the conserved sum of logits"},
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
      .sources = {joma_source("Theorem 1")},
      .make = make,
      .figure = figure,
      .agreement = agreement};
}

}  // namespace attica
