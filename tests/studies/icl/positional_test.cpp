#include <catch2/catch.hpp>

#include "configured_study.hpp"

using namespace attica;
using attica::testing::is_compared;
using attica::testing::made;
using attica::testing::refusal;
using Catch::Contains;

TEST_CASE("positional studies: bad input names the parameter",
          "[studies][icl][study:positional-flow][study:positional-phase]") {
  for (const char* name : {"positional-flow", "positional-phase"}) {
    const Study study = study_named(name);
    CAPTURE(name);
    CHECK_THAT(refusal(study, {{"model.e0", 0.8}, {"model.m0", 0.8}}), Contains("model.e0"));
  }
  CHECK_THAT(refusal(study_named("positional-flow"), {{"sim.times", List{1e9}}}),
             Contains("sim.times"));
  CHECK_THAT(refusal(study_named("positional-phase"), {{"sim.horizon", 1e9}}),
             Contains("sim.horizon"));
}

TEST_CASE("positional-flow: nothing is compared from the saddle or near the edge of a basin",
          "[studies][icl][study:positional-flow]") {
  const auto compared = [](const Table& overrides) {
    const auto experiment = made(study_named("positional-flow"), overrides);
    for (const Prediction& p : experiment->theory(TheoryGrid::requested).predictions) {
      if (p.series.name == "m") return is_compared(p, 0);
    }
    return false;
  };
  CHECK(compared({{"sweep.omega", List{0.3}}}));
  // At a = 1 the flow from (0.2, 0.2) turns to position between 0.65 and 0.70.
  CHECK_FALSE(compared({{"sweep.omega", List{0.67}}}));
  const Table saddle = {{"model.e0", 0.0}, {"model.m0", 0.0}};
  CHECK_FALSE(compared(saddle));
  CHECK(made(study_named("positional-flow"), saddle)->warnings().size() == 1);
}

TEST_CASE("positional-phase: the flow turns between its two directions and its basins",
          "[studies][icl][study:positional-phase]") {
  // At a = 1: the edge of the basin of (0.2, 0.2) lies between 0.65 and 0.70.
  const auto experiment =
      made(study_named("positional-phase"), {{"sweep.a", List{1.0}}, {"sim.horizon", 80.0}});
  bool found = false;
  for (const Prediction& p : experiment->theory(TheoryGrid::requested).predictions) {
    if (p.series.name != "omega_basin") continue;
    found = true;
    CHECK(p.series.y.front() > 0.65);
    CHECK(p.series.y.front() < 0.70);
  }
  CHECK(found);
}
