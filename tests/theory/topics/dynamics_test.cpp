// Two-stage dynamics in 24 numbers, embeddings, onset.

#include "attica/theory/topics/dynamics.hpp"

#include <catch2/catch.hpp>
#include <optional>

#include "attica/core/error.hpp"
#include "attica/theory/topics/embedding.hpp"
#include "attica/theory/topics/loss.hpp"
#include "theory/topics/reference.hpp"

using namespace attica;
using namespace attica::testing;
using attica::testing::Reference;

namespace topics_dynamics_test {

TopicDynamics dynamics_of(Reference c) {
  const std::string frozen = c.value("frozen", "");
  return {.loss = c["loss"] == "SE" ? TopicLoss::squared : TopicLoss::cross_entropy,
          .scale = c["scale"],
          .value_penalty = c["lam_V"],
          .attention_penalty = c["lam_KQ"],
          .train_value = frozen != "V",
          .train_attention = frozen != "KQ"};
}

TopicState start_of(Reference c) {
  return c["init"] == "identity" ? identity_start(c["eps"]) : split_start(c["eps"]);
}

TEST_CASE("topic_flow: matches the reference", "[theory][topics]") {
  for (const Reference c : reference_values("topics")["two_stage_ode"]) {
    const TopicModel model(topic_settings(c));
    const CommutantAlgebra algebra(model.vocabulary());
    std::vector<double> times;
    for (const Reference row : c["rows"]) times.push_back(row["t"]);
    const TopicFlow flow = topic_flow(model, dynamics_of(c), start_of(c), times);
    REQUIRE(flow.states.size() == times.size());
    // The reference was integrated to 1e-10 or so.
    constexpr double kTolerance = 1e-7;
    for (std::size_t k = 0; k < times.size(); ++k) {
      const Reference row = c["rows"][k];
      const TopicState& s = flow.states[k];
      INFO("t " << times[k]);
      CHECK(difference(s.value, commutant_of(row["W"])) < kTolerance);
      CHECK(difference(s.m, commutant_of(row["M"])) < kTolerance);
      CHECK(difference(s.k, commutant_of(row["CK"])) < kTolerance);
      CHECK(difference(s.q, commutant_of(row["CQ"])) < kTolerance);
      const TopicNorms norms = topic_norms(algebra, s);
      CHECK(norms.value == Approx(row["normWV"].get<double>()).margin(kTolerance));
      CHECK(norms.key == Approx(row["normWK"].get<double>()).margin(kTolerance));
      CHECK(norms.query == Approx(row["normWQ"].get<double>()).margin(kTolerance));
    }
  }
}

TEST_CASE(
    "topic_descent_step: matches the reference, and halving the step halves its distance "
    "from the flow",
    "[theory][topics]") {
  for (const Reference c : reference_values("topics")["population_gd"]) {
    const TopicModel model(topic_settings(c));
    const TopicDynamics dynamics = dynamics_of(c);
    TopicState s = start_of(c);
    int step = 0;
    for (const Reference row : c["rows"]) {
      for (; step < row["step"].get<int>(); ++step)
        s = topic_descent_step(model, dynamics, s, c["lr"]);
      CHECK(difference(s.value, commutant_of(row["W"])) < 1e-13);
      CHECK(difference(s.m, commutant_of(row["M"])) < 1e-13);
      CHECK(difference(s.k, commutant_of(row["CK"])) < 1e-13);
      CHECK(difference(s.q, commutant_of(row["CQ"])) < 1e-13);
      CHECK(topic_loss(model, dynamics, s) == Approx(row["loss"].get<double>()).epsilon(1e-12));
    }
  }
  const Reference c = reference_values("topics")["population_gd"][0];
  const TopicModel model(topic_settings(c));
  const std::vector<double> end{100};
  const TopicState limit = topic_flow(model, dynamics_of(c), start_of(c), end).states.back();
  const auto distance = [&](int steps) {
    TopicState s = start_of(c);
    for (int n = 0; n < steps; ++n)
      s = topic_descent_step(model, dynamics_of(c), s, end[0] / steps);
    return (s.value - limit.value).norm();
  };
  CHECK(distance(200) / distance(400) == Approx(2).margin(0.3));
}

TEST_CASE("attention_onset: closed form against the reference and the algebra",
          "[theory][topics]") {
  for (const Reference c : reference_values("topics")["stage2_onset"]) {
    const TopicModel model(topic_settings(c));
    const AttentionOnset onset = attention_onset(model, 1);
    CHECK(onset.topic_contrast == Approx(c["c_topic"].get<double>()).epsilon(1e-13).margin(1e-18));
    // At Theorem 2 and equal scores the score gradient is a pure topic contrast.
    const CommutantAlgebra algebra(model.vocabulary());
    ReducedGradient g;
    reduced_loss(model, TopicLoss::squared, value_closed_form(model), Commutant::Zero(), &g);
    const Isotypic parts =
        algebra.isotypic((algebra.counts().array() > 0)
                             .select(g.score.array() / algebra.counts().array().max(1), 0)
                             .matrix());
    CHECK(parts.topic == Approx(onset.topic_contrast).margin(1e-16));
    CHECK(std::abs(parts.within) < 1e-16);
    CHECK(parts.trivial.cwiseAbs().maxCoeff() < 1e-16);
  }
}

TEST_CASE("onset_time: the flow from a small split start takes it", "[theory][topics]") {
  const TopicModel model({.vocabulary = {4, 2}, .topics_per_document = 2, .keep_rate = 0.3});
  TopicState start = split_start(0.02);
  start.value = value_closed_form(model);
  const TopicDynamics dynamics{.train_value = false};
  constexpr double kThreshold = 1.1;
  const double time = onset_time(model, attention_onset(model, 1), kThreshold);
  const StageBoundary b = stage_boundary(model, dynamics, start, 1, kThreshold, 10 * time);
  CHECK(b.attention_time == Approx(time).epsilon(1e-4));  // corrections of order eps^2 = 4e-4 x 0.1
  // Steps: the last whole one below the threshold, and the next.
  const double eta = 0.02 / attention_onset(model, 1).growth_rate;
  TopicState state = start;
  const CommutantAlgebra algebra(model.vocabulary());
  const auto size = [&] {
    const TopicNorms n = topic_norms(algebra, state);
    return std::hypot(n.key, n.query);
  };
  const double goal = kThreshold * size();
  double before = size();
  double steps = 0;
  for (; size() < goal; ++steps) {
    before = size();
    state = topic_descent_step(model, dynamics, state, eta);
  }
  const double found = eta * (steps - 1 + (goal - before) / (size() - before));
  const double predicted = onset_time(model, attention_onset(model, 1), kThreshold, eta);
  CHECK(predicted > 1.01 * time);
  CHECK(found == Approx(predicted).epsilon(1e-3));
  const TopicModel no_signal({.vocabulary = {4, 2}, .topics_per_document = 1});
  CHECK(std::isinf(onset_time(no_signal, attention_onset(no_signal, 1), kThreshold)));
}

TEST_CASE("early_contrast: the flow's keys follow it from a small start", "[theory][topics]") {
  constexpr double kEpsilon = 1e-3;
  const TopicModel model({.vocabulary = {4, 2}, .topics_per_document = 2, .keep_rate = 0.3});
  const AttentionOnset onset = attention_onset(model, 1);
  for (const bool split : {false, true}) {
    TopicState start = split ? split_start(kEpsilon) : identity_start(kEpsilon);
    start.value = value_closed_form(model);
    const std::vector<double> times = {0, 1 / onset.growth_rate, 2 / onset.growth_rate};
    for (const double penalty : {0.0, 0.1 * onset.growth_rate}) {
      const TopicFlow flow =
          topic_flow(model, {.attention_penalty = penalty, .train_value = false}, start, times);
      for (std::size_t k = 0; k < times.size(); ++k) {
        const double found = CommutantAlgebra(model.vocabulary()).isotypic(flow.states[k].k).topic;
        CHECK(found ==
              Approx(early_contrast(onset, split, kEpsilon, penalty, times[k])).epsilon(1e-3));
      }
    }
  }
}

TEST_CASE("stage_boundary: matches the reference", "[theory][topics]") {
  const Reference all = reference_values("topics");
  for (const Reference b : all["stage_boundary"]) {
    std::optional<Reference> c;
    for (const Reference candidate : all["two_stage_ode"]) {
      if (candidate["T"] == b["T"] && candidate["v"] == b["v"] && candidate["init"] == b["init"] &&
          candidate["loss"] == "SE")
        c = candidate;
    }
    REQUIRE(c);
    const TopicModel model(topic_settings(*c));
    const CommutantAlgebra algebra(model.vocabulary());
    const double plateau = std::sqrt(algebra.squared_norm(value_closed_form(model)));
    CHECK(plateau == Approx(b["norm_W_star"].get<double>()).epsilon(1e-12));
    for (const auto& [name, threshold] : {std::pair{"t_KQ_15", 1.5}, std::pair{"t_KQ_11", 1.1}}) {
      const StageBoundary found =
          stage_boundary(model, dynamics_of(*c), start_of(*c), plateau, threshold, 1e4);
      CHECK(found.value_time == Approx(b["t_V_09"].get<double>()).epsilon(1e-6));
      CHECK(found.attention_time == Approx(b[name].get<double>()).epsilon(1e-6));
    }
  }
}

TEST_CASE("embedding_optimum: matches the reference, and descent ends there", "[theory][topics]") {
  for (const Reference c : reference_values("topics")["embedding"]) {
    const TopicModel model(topic_settings(c));
    const CommutantAlgebra algebra(model.vocabulary());
    const TopicEmbedding e = embedding_optimum(model, c["lam"]);
    CHECK(embedding_contrast(model, c["lam"]) ==
          Approx(c["delta"].get<double>()).epsilon(1e-12).margin(1e-15));
    CHECK(algebra.trace(e.gram) == Approx(c["trace_E"].get<double>()).epsilon(1e-12).margin(1e-15));
    CHECK(e.bias[1] == Approx(c["bias_word"].get<double>()).epsilon(1e-14));
    // The optimum does not move.
    const TopicEmbedding next =
        embedding_step(model, algebra, value_moments(model), e, 0.1, c["lam"]);
    CHECK(difference(next.gram, e.gram) < 1e-15);
    CHECK((next.bias - e.bias).cwiseAbs().maxCoeff() < 1e-15);
  }
  const TopicModel model({.vocabulary = {3, 2}, .topics_per_document = 2});
  const CommutantAlgebra algebra(model.vocabulary());
  const ValueMoments moments = value_moments(model);
  constexpr double kLambda = 0.01;
  TopicEmbedding e{.gram = scalar_commutant(0.01)};
  for (int n = 0; n < 20000; ++n) e = embedding_step(model, algebra, moments, e, 0.1, kLambda);
  CHECK(difference(e.gram, embedding_optimum(model, kLambda).gram) < 1e-8);
}

}  // namespace topics_dynamics_test
