#include <catch2/catch.hpp>
#include <cmath>

#include "configured_study.hpp"

using namespace attica;
using attica::testing::curves_of;
using attica::testing::made;
using attica::testing::refusal;
using Catch::Contains;
using Catch::Matchers::WithinRel;

namespace studies_tree_filtered_flow_test {

TEST_CASE("tree-filtered-flow: descent on the population of every level",
          "[studies][trees][study:tree-filtered-flow]") {
  const auto experiment =
      made(study_named("tree-filtered-flow"),
           {{"sim.length", 16}, {"theory.rank", 2}, {"theory.hold", 8}, {"sim.deviation", 1e-3}});
  const TheoryResult theory = experiment->theory(TheoryGrid::requested);
  const std::vector<Series> losses = curves_of(theory, "descent_loss");
  REQUIRE(losses.size() == 3);
  for (const Series& loss : losses) {
    // A small network guesses, and learns the frequencies of letters first.
    CHECK_THAT(loss.y.front(), WithinRel(std::log(3.0), 1e-4));
    CHECK(loss.y.back() < loss.y.front());
  }
  // All levels have the same frequencies at every site, which is all that is learnt so far.
  CHECK_THAT(losses[0].y.back(), WithinRel(losses[2].y.back(), 1e-4));
}

TEST_CASE("tree-filtered-flow: bad input names the parameter", "[studies][trees]") {
  const Study study = study_named("tree-filtered-flow");
  CHECK_THAT(refusal(study, {{"sim.heads", 3}}), Contains("sim.heads"));
  CHECK_THAT(refusal(study, {{"model.depth", 4}}), Contains("model.depth"));
}

}  // namespace studies_tree_filtered_flow_test
