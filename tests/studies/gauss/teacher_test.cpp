/// @file
/// @brief What gauss-teacher refuses, and what its theory and simulation do at the limits of its
/// parameters.

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "configured_study.hpp"

using namespace attica;

namespace studies_gauss_teacher_test {

using attica::testing::curves_of;
using attica::testing::made;

TEST_CASE(
    "gauss-teacher: masked modelling is gauss-double-descent's, and a teacher like a site has "
    "its peak",
    "[studies][study:gauss-double-descent][study:gauss-teacher]") {
  const Table overrides{
      {"model.sites", 9}, {"sweep.alpha", List{0.5, 2.0}}, {"sweep.lambda", List{0.1}}};
  Table teacher = overrides;
  teacher.push_back({"sweep.peak_rho", List{0.0, 0.7}});
  const TheoryResult theory =
      made(study_named("gauss-teacher"), teacher)->theory(TheoryGrid::requested);
  const Series masked = curves_of(theory, "test_error").at(0);
  // Another route: all sites from one eigendecomposition.
  const Series other =
      curves_of(made(study_named("gauss-double-descent"), overrides)->theory(TheoryGrid::requested),
                "test_error")
          .at(0);
  REQUIRE(masked.x == other.x);
  for (std::size_t k = 0; k < masked.y.size(); ++k) {
    CHECK_THAT(masked.y[k], Catch::WithinRel(other.y[k], 1e-9));
  }
  // Independent sites have no signal, nor has a teacher of noise 1: equal peaks. Without noise
  // less is left at M = N, the less the more the inputs are correlated.
  const Series peak = curves_of(theory, "peak").at(0);
  const Series taught = curves_of(theory, "teacher_peak").at(0);
  const Series clean = curves_of(theory, "clean_peak").at(0);
  CHECK_THAT(peak.x.back(), Catch::WithinRel(1.0, 1e-12));
  CHECK_THAT(taught.y.back(), Catch::WithinRel(peak.y.back(), 1e-9));
  for (std::size_t k = 0; k < clean.y.size(); ++k) CHECK(clean.y[k] < 0.5 * peak.y[k]);
  for (const Series& s : curves_of(theory, "teacher_error")) CHECK(s.y[0] > s.y[1]);
}

TEST_CASE("gauss-teacher: bad input names the parameter", "[studies][study:gauss-teacher]") {
  const Study study = study_named("gauss-teacher");
  const auto range = [&](const char* key) {
    for (const Parameter& p : study.parameters) {
      if (p.key == key) return p.range;
    }
    FAIL("no parameter " << key);
    return Range{};
  };
  CHECK_FALSE(range("sweep.noise").contains(1.1));
  CHECK_FALSE(range("sweep.noise").contains(-0.1));
  CHECK_FALSE(range("sweep.peak_rho").contains(1));
  CHECK_FALSE(range("sweep.peak_rho").contains(-0.1));
  CHECK_FALSE(range("sweep.lambda").contains(0));
  CHECK_FALSE(range("sim.teachers").contains(0));
  CHECK_THROWS_WITH(made(study, {{"model.covariance", "equi"}, {"model.rho", -0.5}}),
                    Catch::Contains("rho"));
  CHECK_THROWS_WITH(made(study, {{"sweep.lambda", List{1e70}}}), Catch::Contains("sweep.lambda"));
  const auto few = made(study, {{"model.sites", 3}, {"sweep.alpha", List{0.1}}});
  CHECK_THROWS_WITH(few->theory(TheoryGrid::requested), Catch::Contains("sweep.alpha"));
}

}  // namespace studies_gauss_teacher_test
