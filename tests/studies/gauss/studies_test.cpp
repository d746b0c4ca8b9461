
#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/theory/gauss/ridge_limits.hpp"
#include "configured_study.hpp"

using namespace attica;
using attica::testing::configured;
using attica::testing::made;

namespace gauss_studies_test {

std::vector<Series> named(const TheoryResult& theory, const std::string& name) {
  std::vector<Series> found;
  for (const Prediction& p : theory.predictions) {
    if (p.series.name == name) found.push_back(p.series);
  }
  return found;
}

TEST_CASE("gauss-lambda: the line of optima passes through every curve's minimum", "[studies]") {
  const Study study = study_named("gauss-lambda");
  const auto experiment = made(study, {{"model.sites", 12}, {"sweep.alpha", List{1.0, 3.0}}});
  const TheoryResult theory = experiment->theory(TheoryGrid::requested);
  const std::vector<Series> curves = named(theory, "test_error");
  const std::vector<Series> optima = named(theory, "optimal_lambda");
  const std::vector<Series> locus = named(theory, "optimal_test_error");
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
    const Series near = named(between->theory(TheoryGrid::requested), "test_error").at(0);
    for (const double y : near.y) {
      CHECK(y > locus[0].y[k]);
      CHECK(y < locus[0].y[k] * 1.001);
    }
  }
}

TEST_CASE("gauss-lambda: a penalty that should be infinite is not drawn", "[studies]") {
  // Sites that know nothing of each other: the best weights are zero.
  const auto experiment =
      made(study_named("gauss-lambda"), {{"model.sites", 6}, {"model.rho", 0.0}});
  const TheoryResult theory = experiment->theory(TheoryGrid::requested);
  const Series best = named(theory, "optimal_lambda").at(0);
  const Series locus = named(theory, "optimal_test_error").at(0);
  for (const double y : best.y) CHECK(std::isinf(y));
  CHECK(locus.x.empty());
}

TEST_CASE("gauss-overlaps: q - 2 m + variance is the test error of gauss-double-descent",
          "[studies]") {
  const Table overrides{
      {"model.sites", 8}, {"sweep.alpha", List{2.0}}, {"sweep.lambda", List{0.1}}};
  const Piece piece{.replicates = 3, .seed = 7};
  const auto errors = made(study_named("gauss-double-descent"), overrides)->simulate(piece);
  const auto overlaps = made(study_named("gauss-overlaps"), overrides)->simulate(piece);
  for (std::size_t r = 0; r < 3; ++r) {
    const double m = overlaps[r].series[0].y[0];
    const double q = overlaps[r].series[1].y[0];
    // Equal data sets, and the variance of every site of ar1 is 1.
    CHECK_THAT(1 - 2 * m + q, Catch::WithinRel(errors[r].series[0].y[0], 1e-12));
  }
}

TEST_CASE("gauss-sizes: realised sizes, and deviations from the theory there", "[studies]") {
  const auto experiment = made(
      study_named("gauss-sizes"),
      {{"sweep.sites", List{40, 20, 20}}, {"sweep.alpha", List{0.5}}, {"sweep.lambda", List{0.1}}});
  CHECK(experiment->points() == 2);
  const TheoryResult theory = experiment->theory(TheoryGrid::run);
  const Series expected = named(theory, "test_error").at(0);
  CHECK(expected.x == std::vector<double>{20, 40});
  const Outcome outcome = experiment->simulate({.point = 0, .seed = 1}).front();
  const double error = outcome.series[0].y[0];
  // M = round(9.5) = 10
  CHECK_THAT(outcome.series[1].y[0],
             Catch::WithinRel(10 * (error - expected.y[0]) / expected.y[0], 1e-10));
}

TEST_CASE("gaussian studies: bad input names the parameter", "[studies]") {
  CHECK_THROWS_WITH(made(study_named("gauss-sizes"), {{"model.nu", 1.0}}),
                    Catch::Contains("model.nu"));
  CHECK_THROWS_WITH(
      made(study_named("gauss-sizes"), {{"model.covariance", "equi"}, {"model.rho", -0.5}}),
      Catch::Contains("rho"));
  const auto few =
      made(study_named("gauss-lambda"), {{"model.sites", 3}, {"sweep.alpha", List{0.1}}});
  CHECK_THROWS_WITH(few->theory(TheoryGrid::requested), Catch::Contains("sweep.alpha"));
  CHECK_THROWS_WITH(few->theory(TheoryGrid::run), Catch::Contains("sweep.alpha"));
  const auto large = made(study_named("gauss-overlaps"), {{"sweep.alpha", List{1e30}}});
  CHECK_THROWS_WITH(large->theory(TheoryGrid::run), Catch::Contains("sweep.alpha"));
  for (const Study& study : studies()) {  // of every study that sweeps a ridge penalty
    const auto swept = [](const Parameter& p) { return p.key == "sweep.lambda"; };
    if (!study.name.starts_with("gauss-") || std::ranges::none_of(study.parameters, swept))
      continue;
    INFO(study.name);
    CHECK_THROWS_WITH(made(study, {{"sweep.lambda", List{1e300}}}), Catch::Contains("1e+60"));
  }
}

TEST_CASE(
    "gauss-teacher: masked modelling is gauss-double-descent's, and a teacher like a site has "
    "its peak",
    "[studies]") {
  const Table overrides{
      {"model.sites", 9}, {"sweep.alpha", List{0.5, 2.0}}, {"sweep.lambda", List{0.1}}};
  Table teacher = overrides;
  teacher.push_back({"sweep.peak_rho", List{0.0, 0.7}});
  const TheoryResult theory =
      made(study_named("gauss-teacher"), teacher)->theory(TheoryGrid::requested);
  const Series masked = named(theory, "test_error").at(0);
  // Another route: all sites from one eigendecomposition.
  const Series other =
      named(made(study_named("gauss-double-descent"), overrides)->theory(TheoryGrid::requested),
            "test_error")
          .at(0);
  REQUIRE(masked.x == other.x);
  for (std::size_t k = 0; k < masked.y.size(); ++k) {
    CHECK_THAT(masked.y[k], Catch::WithinRel(other.y[k], 1e-9));
  }
  // Independent sites have no signal, nor has a teacher of noise 1: equal peaks. Without noise
  // less is left at M = N, the less the more the inputs are correlated.
  const Series peak = named(theory, "peak").at(0);
  const Series taught = named(theory, "teacher_peak").at(0);
  const Series clean = named(theory, "clean_peak").at(0);
  CHECK_THAT(peak.x.back(), Catch::WithinRel(1.0, 1e-12));
  CHECK_THAT(taught.y.back(), Catch::WithinRel(peak.y.back(), 1e-9));
  for (std::size_t k = 0; k < clean.y.size(); ++k) CHECK(clean.y[k] < 0.5 * peak.y[k]);
  for (const Series& s : named(theory, "teacher_error")) CHECK(s.y[0] > s.y[1]);
}

TEST_CASE("gauss-teacher: bad input names the parameter", "[studies]") {
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

TEST_CASE("gauss-random-labels: rows of data have the limit, Gaussian samples its next order",
          "[studies]") {
  const Study study = study_named("gauss-random-labels");
  const Table overrides{{"sweep.alpha", List{2.0}}, {"sweep.lambda", List{1.0}}};
  const TheoryResult theory = made(study, overrides)->theory(TheoryGrid::requested);
  const double rows = named(theory, "data_objective").at(0).y[0];
  const double gaussian = named(theory, "objective").at(0).y[0];
  CHECK(gaussian > rows);
  CHECK(gaussian < 1.01 * rows);
  Table leading = overrides;
  leading.push_back({"theory.order", "leading"});
  CHECK(named(made(study, leading)->theory(TheoryGrid::requested), "objective").at(0).y[0] == rows);
  // Without a file there are no rows.
  const TheoryResult model = made(study, {{"model.covariance", "ar1"}, {"model.sites", 12}})
                                 ->theory(TheoryGrid::requested);
  CHECK(named(model, "data_objective").empty());
  CHECK(named(model, "objective").size() == 3);
}

TEST_CASE("gauss-random-labels: bad input names the parameter", "[studies]") {
  const Study study = study_named("gauss-random-labels");
  CHECK_THROWS_WITH(made(study, {{"model.file", "no-such-file.csv"}}),
                    Catch::Contains("model.file"));
  CHECK_THROWS_WITH(made(study, {{"model.sites", 50}}), Catch::Contains("model.sites"));
  CHECK_THROWS_WITH(made(study, {{"sweep.lambda", List{1e70}}}), Catch::Contains("sweep.lambda"));
  const auto few =
      made(study, {{"model.covariance", "ar1"}, {"model.sites", 5}, {"sweep.alpha", List{0.1}}});
  CHECK_THROWS_WITH(few->theory(TheoryGrid::requested), Catch::Contains("sweep.alpha"));
}

TEST_CASE("gauss-logistic: rows of data have the theory of Gaussian samples, without allowance",
          "[studies]") {
  const Study study = study_named("gauss-logistic");
  const TheoryResult theory = made(study, {{"sweep.alpha", List{2.0}}, {"sweep.lambda", List{1.0}}})
                                  ->theory(TheoryGrid::requested);
  CHECK(named(theory, "data_objective").at(0).y[0] == named(theory, "objective").at(0).y[0]);
  const TheoryResult model = made(study, {{"model.covariance", "ar1"}, {"model.sites", 12}})
                                 ->theory(TheoryGrid::requested);
  CHECK(named(model, "data_objective").empty());
  CHECK_THROWS_WITH(made(study, {{"sweep.lambda", List{1e70}}}), Catch::Contains("sweep.lambda"));
}

TEST_CASE("gaussian studies: every preset is a configuration that can be made", "[studies]") {
  for (const Study& study : studies()) {
    if (study.name == "gauss-double-descent") continue;  // its demo preset needs a data folder
    for (const Preset& preset : study.presets) {
      CAPTURE(study.name, preset.name);
      Configuration c = configured(study, preset.values);
      CHECK_NOTHROW(study.figure(c));
      CHECK((!study.agreement(c).empty() || study.claims != nullptr || study.exponents != nullptr));
    }
  }
}

}  // namespace gauss_studies_test
