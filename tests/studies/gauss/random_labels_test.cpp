/// @file
/// @brief What gauss-random-labels refuses, and what its theory and simulation do at the limits of
/// its parameters.

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "configured_study.hpp"

using namespace attica;

namespace studies_gauss_random_labels_test {

using attica::testing::curves_of;
using attica::testing::made;

TEST_CASE("gauss-random-labels: rows of data have the limit, Gaussian samples its next order",
          "[studies][study:gauss-random-labels]") {
  const Study study = study_named("gauss-random-labels");
  const Table overrides{{"sweep.alpha", List{2.0}}, {"sweep.lambda", List{1.0}}};
  const TheoryResult theory = made(study, overrides)->theory(TheoryGrid::requested);
  const double rows = curves_of(theory, "data_objective").at(0).y[0];
  const double gaussian = curves_of(theory, "objective").at(0).y[0];
  CHECK(gaussian > rows);
  CHECK(gaussian < 1.01 * rows);
  Table leading = overrides;
  leading.push_back({"theory.order", "leading"});
  CHECK(curves_of(made(study, leading)->theory(TheoryGrid::requested), "objective").at(0).y[0] ==
        rows);
  // Without a file there are no rows.
  const TheoryResult model = made(study, {{"model.covariance", "ar1"}, {"model.sites", 12}})
                                 ->theory(TheoryGrid::requested);
  CHECK(curves_of(model, "data_objective").empty());
  CHECK(curves_of(model, "objective").size() == 3);
}

TEST_CASE("gauss-random-labels: bad input names the parameter",
          "[studies][study:gauss-random-labels]") {
  const Study study = study_named("gauss-random-labels");
  CHECK_THROWS_WITH(made(study, {{"model.file", "no-such-file.csv"}}),
                    Catch::Contains("model.file"));
  CHECK_THROWS_WITH(made(study, {{"model.sites", 50}}), Catch::Contains("model.sites"));
  CHECK_THROWS_WITH(made(study, {{"sweep.lambda", List{1e70}}}), Catch::Contains("sweep.lambda"));
  const auto few =
      made(study, {{"model.covariance", "ar1"}, {"model.sites", 5}, {"sweep.alpha", List{0.1}}});
  CHECK_THROWS_WITH(few->theory(TheoryGrid::requested), Catch::Contains("sweep.alpha"));
}

}  // namespace studies_gauss_random_labels_test
