#include <catch2/catch.hpp>

#include "configured_study.hpp"

using namespace attica;
using attica::testing::made;
using attica::testing::refusal;
using Catch::Contains;

TEST_CASE("init-attention: bad input names the parameter", "[studies][init]") {
  const Study attention = study_named("init-attention");
  CHECK_THAT(refusal(attention, {{"model.tokens", "random"}}), Contains("model.dimension"));
  CHECK_THAT(refusal(attention,
                     {{"model.tokens", "random"}, {"model.dimension", 64}, {"model.causal", true}}),
             Contains("model.causal"));
  CHECK_THAT(refusal(attention, {{"model.causal", true}, {"theory.level", "limit"}}),
             Contains("theory.level"));
  const auto large = made(attention, {{"sweep.context", List{65536}}});
  CHECK_THROWS_WITH(large->require_simulable(), Contains("sweep.context"));
}

TEST_CASE("init-attention: exact values carry no tolerance, random tokens do", "[studies][init]") {
  const Table few = {{"sweep.beta", List{1.0}}, {"sweep.context", List{16}}};
  for (const bool random : {false, true}) {
    Table values = few;
    if (random) {
      values.emplace_back("model.tokens", "random");
      values.emplace_back("model.dimension", 64);
    }
    const auto experiment = made(study_named("init-attention"), values);
    int seen = 0;
    for (const Prediction& p : experiment->theory(TheoryGrid::requested).predictions) {
      if (p.series.name != "participation" && p.series.name != "shared") continue;
      CAPTURE(p.series.name);
      CHECK(p.finite_size.empty() != random);
      ++seen;
    }
    CHECK(seen == 2);
  }
}
