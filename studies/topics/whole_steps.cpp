#include "attica/studies/topics/whole_steps.hpp"

#include "attica/sim/topics/stages.hpp"

namespace attica {

using Eigen::Index;

const std::vector<std::string>& WholeSteps::names() {
  static const std::vector<std::string> all = {
      "step_norm_V", "step_norm_K", "step_norm_Q", "step_loss"};
  return all;
}

std::vector<WholeSteps> WholeSteps::all() {
  return {{TopicLoss::squared, false},
          {TopicLoss::squared, true},
          {TopicLoss::cross_entropy, false},
          {TopicLoss::cross_entropy, true}};
}

TopicModel WholeSteps::model() {
  return TopicModel({.vocabulary = {3, 2}, .topics_per_document = 2, .keep_rate = 0.3});
}

TopicDynamics WholeSteps::dynamics() const {
  constexpr double kLambda = 2e-3;
  return {.loss = loss, .scale = 0.5, .value_penalty = kLambda, .attention_penalty = kLambda};
}

Curves WholeSteps::curves() const {
  return {{{"loss", std::string(loss == TopicLoss::squared ? "squared" : "cross_entropy")},
           {"initialisation", std::string(split ? "split" : "identity")}},
          "none",
          names()};
}

Curves WholeSteps::predicted() const {
  const TopicModel m = model();
  TopicState state = split ? split_start(kEpsilon) : identity_start(kEpsilon);
  for (std::uint64_t n = 0; n < kSteps; ++n) {
    state = topic_descent_step(m, dynamics(), state, kEta);
  }
  const TopicNorms n = topic_norms(CommutantAlgebra(m.vocabulary()), state);
  return curves().add(0, {n.value, n.key, n.query, topic_loss(m, dynamics(), state)});
}

Curves WholeSteps::simulated() const {
  const TopicModel m = model();
  const AttentionStart start = split ? AttentionStart::split : AttentionStart::identity;
  const Index tokens = m.vocabulary().size();
  TopicNetwork network({.tokens = tokens,
                        .inner = inner_dimension(start, tokens),
                        .scale = dynamics().scale,
                        .loss = network_loss(loss)});
  network.start_attention(start, kEpsilon, {});
  const TopicBatch batch = population_batch(m);
  const auto end = train_topics(
      network,
      {.optimiser = {.kind = networks::OptimiserKind::sgd, .learning_rate = kEta},
       .recorded = {kSteps},
       .value_penalty = dynamics().value_penalty,
       .attention_penalty = dynamics().attention_penalty},
      [&](std::uint64_t) -> const TopicBatch& { return batch; },
      [](std::uint64_t, const TopicNetwork&) {});
  if (end.status != networks::TrainingStatus::finished) return curves();
  const auto norm = [&](const char* name) {
    return network.parameters().matrix(name).map().norm();
  };
  return curves().add(0, {norm("W_V"), norm("W_K"), norm("W_Q"), network.loss(batch)});
}

}  // namespace attica
