#include "attica/studies/topics/two_stage_problem.hpp"

#include <fmt/format.h>

#include <cmath>

#include "attica/theory/topics/loss.hpp"

namespace attica {

using Eigen::Index;
using ValueLaw = networks::InitialValues::Law;

namespace {

const Choices<TopicDecoder> kDecoders = {{"identity", TopicDecoder::identity},
                                         {"tied", TopicDecoder::tied},
                                         {"free", TopicDecoder::free}};
const Choices<ValueLaw> kValueLaws = {
    {"zero", ValueLaw::constant}, {"identity", ValueLaw::identity}, {"gaussian", ValueLaw::normal}};

const Choices<TwoStageLevel> kLevels = {{"batches", TwoStageLevel::batches},
                                        {"steps", TwoStageLevel::steps},
                                        {"flow", TwoStageLevel::flow}};

/// Time of the flow that a step covers, also with momentum.
double time_per_step(const networks::OptimiserOptions& optimiser) {
  const bool heavy = optimiser.kind == networks::OptimiserKind::heavy_ball;
  return optimiser.learning_rate / (heavy ? 1 - optimiser.momentum : 1);
}

/// Multiplications of the training theory, roughly.
double training_cost(const TwoStageProblem& p, double steps) {
  const auto tokens = static_cast<double>(p.shape.tokens);
  const auto hold = static_cast<double>(p.hold);
  const double axes = 4 * static_cast<double>(p.rank);
  const double pass = 3 * topic_sets(p.model) * tokens * tokens * tokens;
  return steps * pass + (steps / hold + 1) * axes * (3 * pass + axes * axes * std::log2(2 * hold));
}

}  // namespace

TwoStageProblem::TwoStageProblem(const Configuration& c)
    : model(topic_model(c)),
      optimiser(optimiser_options(c)),
      per_step(time_per_step(optimiser)),
      shape{.tokens = model.vocabulary().size(),
            .decoder = kDecoders.of(c, "model.decoder"),
            .bias = c.flag("model.bias"),
            .loss = network_loss(attica::topic_loss(c))},
      start(attention_start(c)),
      epsilon(c.real("model.epsilon")),
      value_start{.law = kValueLaws.of(c, "model.value_initialisation")},
      rank(c.integer("theory.rank")),
      hold(c.integer<std::uint64_t>("theory.hold")) {
  value_start.scale = value_start.law == ValueLaw::constant ? 0 : c.real("model.value_epsilon");
  const bool embedded = c.text("model.embedding") == "trained";
  const bool free = shape.decoder == TopicDecoder::free;
  const Index width = c.has("model.width") ? c.integer("model.width") : shape.tokens;
  if (embedded) shape.width = width;
  const auto require_width = [&](bool holds, const char* expected) {
    require(holds, "model.width", static_cast<double>(width), expected);
  };
  require_width(
      embedded || width == shape.tokens,
      "one-hot tokens have width topics x words + 1; other widths need a trained embedding");
  require_width(shape.decoder != TopicDecoder::identity || width == shape.tokens,
                "without a decoder the width is topics x words + 1");
  shape.inner = inner_dimension(start, width);
  const bool invariant = start == AttentionStart::identity || start == AttentionStart::split;
  if (c.has("model.inner_dimension")) {
    const Index inner = c.integer("model.inner_dimension");
    require(!invariant || inner == shape.inner,
            "model.inner_dimension",
            static_cast<double>(inner),
            "the identity and split starts fix it: width and twice the width");
    shape.inner = inner;
  }
  shape.scale = c.has("model.scale") ? c.real("model.scale")
                                     : 1 / std::sqrt(static_cast<double>(shape.inner));
  const std::string& frozen = c.text("sim.frozen");
  const auto penalty = [&](const char* key) { return c.has(key) ? c.real(key) : topic_penalty(c); };
  dynamics = {.loss = attica::topic_loss(c),
              .scale = shape.scale,
              .value_penalty = penalty("model.lambda_V"),
              .attention_penalty = penalty("model.lambda_KQ"),
              .train_value = frozen != "value",
              .train_attention = frozen != "attention"};
  const bool bounded = dynamics.loss == TopicLoss::squared ||
                       (dynamics.value_penalty > 0 && model.infinite() && model.subset());
  deterministic = c.text("sim.data") == "population" && !embedded && !free && invariant &&
                  value_start.law != ValueLaw::normal;
  const auto first_stage = [&]() -> Commutant {
    return first_stage_optimum(model, dynamics.loss, dynamics.value_penalty);
  };
  if (!embedded && !free && !shape.bias && bounded) {
    plateau = std::sqrt(CommutantAlgebra(model.vocabulary()).squared_norm(first_stage()));
  }
  if (frozen == "value") {
    require_width(width == shape.tokens, "a frozen W_V has width topics x words + 1");
    value = c.text("model.value") == "optimum" ? first_stage() : fixed_value(c)(model);
  } else if (value_start.law == ValueLaw::identity) {
    value = scalar_commutant(value_start.scale);
  }
  set_level(c);
}

void TwoStageProblem::set_level(const Configuration& c) {
  constexpr double kMostCost = 1e13;        // an hour
  constexpr double kMostParameters = 1000;  // whose noise lies along a few dozen axes
  const bool chosen = c.has("theory.level");
  if (chosen) level = kLevels.of(c, "theory.level");
  if ((chosen && level == TwoStageLevel::flow) || !model.subset() || !model.infinite()) return;
  const double cost = training_cost(*this, ascending(c.reals("sim.times")).back() / per_step);
  const auto parameters = static_cast<double>(shape.tokens * (shape.tokens + 2 * shape.inner));
  if (chosen) {
    if (cost <= kMostCost) return;
    throw invalid_parameter("theory.level",
                            c.text("theory.level"),
                            fmt::format("flow: the training theory would take {:.1g} "
                                        "multiplications, more than {:g}",
                                        cost,
                                        kMostCost));
  }
  if (cost <= kMostCost && parameters <= kMostParameters) {
    level = TwoStageLevel::batches;
  } else {
    too_dear = fmt::format(
        "theory.level is flow, with its wider margins: batches is the default up to {:g} entries "
        "of W_V, W_K and W_Q, here {:g}, and {:g} multiplications, here {:.1g}",
        kMostParameters,
        parameters,
        kMostCost,
        cost);
  }
}

}  // namespace attica
