#include <catch2/catch.hpp>

#include "configured_study.hpp"

using namespace attica;
using attica::testing::made;
using attica::testing::refusal;
using Catch::Contains;

TEST_CASE("token studies: bad input names the parameter",
          "[studies][icl][study:token-curve][study:token-metastable]") {
  const Study curve = study_named("token-curve");
  CHECK_THAT(refusal(curve, {{"sim.times", List{0.51}}}), Contains("sim.times"));
  CHECK_THAT(refusal(curve, {{"model.overlap", 0.1}}), Contains("model.overlap"));
  CHECK_THAT(refusal(curve, {{"model.start", "equiangular"}, {"model.dimension", 4}}),
             Contains("model.dimension"));
  CHECK_THAT(refusal(curve, {{"model.start", "equiangular"}, {"model.overlap", -0.5}}),
             Contains("model.overlap"));
  CHECK_THAT(refusal(study_named("token-metastable"), {{"model.tokens", 5}}),
             Contains("model.tokens"));
}

TEST_CASE("token studies: above beta = 4 the mean overlap is drawn, not compared",
          "[studies][icl][study:token-curve]") {
  const TheoryResult theory =
      made(study_named("token-curve"), {{"sweep.beta", List{4.0, 4.5}}})->theory(TheoryGrid::run);
  for (const Prediction& p : theory.predictions) {
    const bool compared = attica::testing::is_compared(p, p.series.x.size() / 2);
    if (p.series.name == "rho") {
      CHECK(compared == (p.series.point == Point{{"beta", 4.0}}));
    } else if (p.series.point == Point{{"beta", 4.5}}) {
      CHECK_FALSE(compared);
    }
  }
}
