/// @file
/// @brief What gauss-logistic refuses, and what its theory and simulation do at the limits of its
/// parameters.

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "configured_study.hpp"

using namespace attica;

namespace studies_gauss_logistic_test {

using attica::testing::curves_of;
using attica::testing::made;

TEST_CASE("gauss-logistic: rows of data have the theory of Gaussian samples, without allowance",
          "[studies][study:gauss-logistic]") {
  const Study study = study_named("gauss-logistic");
  const TheoryResult theory = made(study, {{"sweep.alpha", List{2.0}}, {"sweep.lambda", List{1.0}}})
                                  ->theory(TheoryGrid::requested);
  CHECK(curves_of(theory, "data_objective").at(0).y[0] ==
        curves_of(theory, "objective").at(0).y[0]);
  const TheoryResult model = made(study, {{"model.covariance", "ar1"}, {"model.sites", 12}})
                                 ->theory(TheoryGrid::requested);
  CHECK(curves_of(model, "data_objective").empty());
  CHECK_THROWS_WITH(made(study, {{"sweep.lambda", List{1e70}}}), Catch::Contains("sweep.lambda"));
}

}  // namespace studies_gauss_logistic_test
