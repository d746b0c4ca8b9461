/// @file
/// @brief What gauss-lambda refuses, and what its theory and simulation do at the limits of its
/// parameters.

#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "configured_study.hpp"

using namespace attica;

namespace studies_gauss_lambda_test {

using attica::testing::curves_of;
using attica::testing::made;

TEST_CASE("gauss-lambda: the line of optima passes through every curve's minimum",
          "[studies][study:gauss-lambda]") {
  const Study study = study_named("gauss-lambda");
  const auto experiment = made(study, {{"model.sites", 12}, {"sweep.alpha", List{1.0, 3.0}}});
  const TheoryResult theory = experiment->theory(TheoryGrid::requested);
  const std::vector<Series> curves = curves_of(theory, "test_error");
  const std::vector<Series> optima = curves_of(theory, "optimal_lambda");
  const std::vector<Series> locus = curves_of(theory, "optimal_test_error");
  REQUIRE(curves.size() == 2);
  REQUIRE(optima.size() == 1);
  CHECK(optima[0].x == std::vector<double>{1.0, 3.0});
  REQUIRE(locus[0].y.size() == 2);
  CHECK(locus[0].x == optima[0].y);
  for (std::size_t k = 0; k < curves.size(); ++k) {
    CHECK(curves[k].x_name == "lambda");
    for (const double y : curves[k].y) CHECK(y >= locus[0].y[k]);
    // Half-way between the neighbours of the optimum on the grid the curve is no lower, either
    // side.
    const auto between =
        made(study,
             {{"model.sites", 12},
              {"sweep.alpha", List{optima[0].x[k]}},
              {"sweep.lambda", List{optima[0].y[k] * 0.98, optima[0].y[k] * 1.02}}});
    const Series near = curves_of(between->theory(TheoryGrid::requested), "test_error").at(0);
    for (const double y : near.y) {
      CHECK(y > locus[0].y[k]);
      CHECK(y < locus[0].y[k] * 1.001);
    }
  }
}

TEST_CASE("gauss-lambda: a penalty that should be infinite is not drawn",
          "[studies][study:gauss-lambda]") {
  // Sites that know nothing of each other: the best weights are zero.
  const auto experiment =
      made(study_named("gauss-lambda"), {{"model.sites", 6}, {"model.rho", 0.0}});
  const TheoryResult theory = experiment->theory(TheoryGrid::requested);
  const Series best = curves_of(theory, "optimal_lambda").at(0);
  const Series locus = curves_of(theory, "optimal_test_error").at(0);
  for (const double y : best.y) CHECK(std::isinf(y));
  CHECK(locus.x.empty());
}

}  // namespace studies_gauss_lambda_test
