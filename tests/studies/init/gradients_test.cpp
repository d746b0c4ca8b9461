#include <catch2/catch.hpp>

#include "configured_study.hpp"

using namespace attica;
using attica::testing::is_compared;
using attica::testing::made;

TEST_CASE("init-gradients: queries and keys are not compared where their tolerance is wide",
          "[studies][init]") {
  const TheoryResult theory =
      made(study_named("init-gradients"), {{"model.context", 256}})->theory(TheoryGrid::requested);
  for (const Prediction& p : theory.predictions) {
    const bool weight = p.series.name == "query_weight" || p.series.name == "key_weight";
    CAPTURE(p.series.name);
    REQUIRE(p.series.x.size() == 4);
    CHECK(is_compared(p, 0));
    CHECK(is_compared(p, 3) != weight);
  }
}
