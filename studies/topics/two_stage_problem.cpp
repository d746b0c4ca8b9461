#include "attica/studies/topics/two_stage_problem.hpp"

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

}  // namespace

TwoStageProblem::TwoStageProblem(const Configuration& c)
    : model(topic_model(c)),
      shape{.tokens = model.vocabulary().size(),
            .decoder = kDecoders.of(c, "model.decoder"),
            .bias = c.flag("model.bias"),
            .loss = network_loss(attica::topic_loss(c))},
      start(attention_start(c)),
      epsilon(c.real("model.epsilon")),
      value_start{.law = kValueLaws.of(c, "model.value_initialisation")} {
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
}

}  // namespace attica
