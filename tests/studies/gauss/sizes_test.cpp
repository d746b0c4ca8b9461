/// @file
/// @brief What gauss-sizes refuses, and what its theory and simulation do at the limits of its
/// parameters.

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "configured_study.hpp"

using namespace attica;

namespace studies_gauss_sizes_test {

using attica::testing::curves_of;
using attica::testing::made;

TEST_CASE("gauss-sizes: realised sizes, and deviations from the theory there",
          "[studies][study:gauss-sizes]") {
  const auto experiment = made(
      study_named("gauss-sizes"),
      {{"sweep.sites", List{40, 20, 20}}, {"sweep.alpha", List{0.5}}, {"sweep.lambda", List{0.1}}});
  CHECK(experiment->points() == 2);
  const TheoryResult theory = experiment->theory(TheoryGrid::run);
  const Series expected = curves_of(theory, "test_error").at(0);
  CHECK(expected.x == std::vector<double>{20, 40});
  const Outcome outcome = experiment->simulate({.point = 0, .seed = 1}).front();
  const double error = outcome.series[0].y[0];
  // M = round(9.5) = 10
  CHECK_THAT(outcome.series[1].y[0],
             Catch::WithinRel(10 * (error - expected.y[0]) / expected.y[0], 1e-10));
}

}  // namespace studies_gauss_sizes_test
