#include <catch2/catch.hpp>

#include "configured_study.hpp"

using namespace attica;
using attica::testing::refusal;
using Catch::Contains;

TEST_CASE("tree-filtered-students: bad input names the parameter",
          "[studies][trees][study:tree-filtered-students]") {
  const Study& students = study_named("tree-filtered-students");
  CHECK(refusal(students, {}) == "accepted");
  CHECK_THAT(refusal(students, {{"sim.heads", 5}}), Contains("sim.heads"));
  CHECK_THAT(refusal(students, {{"model.root", List{0.5, 0.5}}}), Contains("model.root"));
  CHECK_THAT(refusal(students, {{"model.depth", 4}}), Contains("model.depth"));
}
