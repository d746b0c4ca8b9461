// Two stages of a run, and attention that learns at a fixed value matrix.

#include "attica/sim/topics/stages.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "attica/sim/topics/frozen_value.hpp"

using namespace attica;

TEST_CASE("StageClock: first times at which norms have grown", "[sim][topics]") {
  StageClock clock(2);
  CHECK(!clock.value_time(0));
  CHECK(!clock.attention_time());
  clock.look(0, 0, 3, 4);    // |(W_K, W_Q)| = 5
  clock.look(1, 7, 6, 7.9);  // 9.9
  clock.look(2, 6, 6, 8);    // 10
  clock.look(3, 9, 3, 4);
  CHECK(clock.largest_value() == 9);
  CHECK(clock.value_time(0) == 0);
  CHECK(clock.value_time(7) == 1);
  CHECK(clock.value_time(7.5) == 3);
  CHECK(!clock.value_time(9.5));
  CHECK(clock.attention_time() == 2);
}

TEST_CASE("attention_growth: the norm passes the threshold between two steps", "[sim][topics]") {
  const TopicModel model({.vocabulary = {3, 2}, .topics_per_document = 2, .keep_rate = 0.3});
  Commutant value = Commutant::Zero();
  value[kSameWord] = value[kSameTopic] = 0.6;
  const FrozenValueStart start{
      .value = value, .start = AttentionStart::split, .epsilon = 0.3, .scale = 1};
  constexpr double kEta = 0.5;
  constexpr double kThreshold = 1.05;
  const AttentionGrowth growth = attention_growth(model, start, kEta, kThreshold, 100000);
  REQUIRE(growth.time);
  // W_V stays, and norms grow from step to step.
  std::vector<double> norms;
  const auto last = static_cast<std::uint64_t>(std::ceil(*growth.time / kEta));
  const auto end = descend_attention_from(
      model, start, kEta, last, [&](std::uint64_t step, const TopicNetwork& now) {
        CHECK(step == norms.size());
        CHECK(now.value() == CommutantAlgebra(model.vocabulary()).dense(value));
        norms.push_back(std::hypot(now.parameters().matrix("W_K").map().norm(),
                                   now.parameters().matrix("W_Q").map().norm()));
        return true;
      });
  CHECK(end.status == networks::TrainingStatus::finished);
  REQUIRE(norms.size() == last + 1);
  CHECK(norms.back() >= kThreshold * norms.front());
  CHECK(norms[last - 1] < kThreshold * norms.front());
  const double part =
      (kThreshold * norms.front() - norms[last - 1]) / (norms[last] - norms[last - 1]);
  CHECK(*growth.time == Approx(kEta * (static_cast<double>(last) - 1 + part)));
  CHECK(!attention_growth(model, start, kEta, kThreshold, last - 1).time);
}
