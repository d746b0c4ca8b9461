#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "attica/core/error.hpp"
#include "attica/core/gauss/ensembles.hpp"
#include "attica/theory/gauss/ridge.hpp"
#include "attica/theory/gauss/sgd.hpp"
#include "configured_study.hpp"

using namespace attica;
using attica::testing::made;
using Catch::WithinRel;

namespace gauss_dynamics_test {

std::vector<Prediction> named(const TheoryResult& theory, const std::string& name) {
  std::vector<Prediction> found;
  for (const Prediction& p : theory.predictions) {
    if (p.series.name == name) found.push_back(p);
  }
  return found;
}

Parameter parameter(const Study& study, const std::string& key) {
  for (const Parameter& p : study.parameters) {
    if (p.key == key) return p;
  }
  throw std::logic_error("no parameter " + key);
}

TEST_CASE("gauss-flow: begins with the variance, ends at the ridgeless limit",
          "[studies][study:gauss-flow]") {
  const auto experiment = made(study_named("gauss-flow"),
                               {{"model.sites", 13},
                                {"theory.order", "leading"},
                                {"sweep.alpha", List{0.5, 1.0, 2.0}},
                                {"sim.times", List{3e4, 0.0, 1.0}}});
  CHECK(experiment->points() == 3);
  const TheoryResult theory = experiment->theory(TheoryGrid::requested);
  const std::vector<Prediction> test = named(theory, "test_error");
  const std::vector<Prediction> limits = named(theory, "ridgeless_error");
  REQUIRE(test.size() == 3);
  REQUIRE(limits.size() == 2);  // none at M = N
  for (const Prediction& p : test) {
    CHECK(p.series.x == std::vector<double>{0, 1, 3e4});
    CHECK_THAT(p.series.y[0], WithinRel(1.0, 1e-9));  // all variances of ar1 are 1
    CHECK(p.compared == std::vector<bool>{false, true, true});
  }
  CHECK_THAT(test[0].series.y[2], WithinRel(limits[0].series.y[0], 1e-6));
  CHECK_THAT(test[2].series.y[2], WithinRel(limits[1].series.y[0], 1e-6));
  // Training errors that vanish are not compared.
  CHECK(named(theory, "train_error")[0].compared == std::vector<bool>{false, true, false});
  // The allowance at time t is that of ridge regression at 1/t.
  const GaussianRidge ridge(GaussianMlm(ar1_covariance(13, 0.7)));
  CHECK_THAT(test[0].finite_size[1], WithinRel(ridge.average(6, 1).finite_size_test, 1e-12));

  const Series population = named(theory, "population_error").at(0).series;
  CHECK(population.point.empty());
  const GaussianMlm problem(ar1_covariance(13, 0.7));
  CHECK_THAT(population.y[2], WithinRel(problem.noise_variances().mean(), 1e-9));
}

TEST_CASE("gauss-flow: to order 1/M late times end at the ridgeless error, simulated or not",
          "[studies][study:gauss-flow]") {
  const auto experiment = made(study_named("gauss-flow"),
                               {{"model.sites", 13},
                                {"sweep.alpha", List{0.5, 1.0, 3.0}},
                                {"sim.times", List{0.0, 1.0, 1e5}},
                                {"sim.data_sets", 2}});
  const TheoryResult theory = experiment->theory(TheoryGrid::run);
  const GaussianRidge ridge(GaussianMlm(ar1_covariance(13, 0.7)), RidgeOrder::first);
  const std::vector<Prediction> limits = named(theory, "ridgeless_error");
  REQUIRE(limits.size() == 2);  // none at M = N
  CHECK_THAT(limits[1].series.y[0], WithinRel(ridge.average(36, 0).test_error, 1e-12));
  CHECK_THAT(named(theory, "test_error")[2].series.y.back(),
             WithinRel(limits[1].series.y[0], 1e-6));
  for (const std::size_t point : {0U, 2U}) {
    const Outcome outcome = experiment->simulate({.point = point, .stream_point = point})[0];
    REQUIRE(outcome.series.size() == 3);
    CHECK_THAT(outcome.series[0].y.back(), WithinRel(outcome.series[2].y[0], 1e-6));
  }
  CHECK(experiment->simulate({.point = 1, .stream_point = 1})[0].series.size() == 2);
}

TEST_CASE("gauss-flow: the simulation shares its data among times", "[studies][study:gauss-flow]") {
  const Study study = study_named("gauss-flow");
  const Table few{
      {"model.sites", 9}, {"sweep.alpha", List{2.0}}, {"sim.times", List{0.0, 0.5, 5.0}}};
  const auto outcomes = made(study, few)->simulate({.first_replicate = 4, .replicates = 2});
  REQUIRE(outcomes.size() == 2);
  const auto alone =
      made(study, {{"model.sites", 9}, {"sweep.alpha", List{2.0}}, {"sim.times", List{5.0}}})
          ->simulate({.first_replicate = 4, .replicates = 1});
  REQUIRE(outcomes[0].series.size() == 3);
  CHECK(outcomes[0].series[0].name == "test_error");
  CHECK(outcomes[0].series[2].name == "ridgeless_error");
  CHECK_THAT(outcomes[0].series[0].y[0], WithinRel(1.0, 1e-12));
  CHECK_THAT(alone[0].series[0].y[0], WithinRel(outcomes[0].series[0].y[2], 1e-12));
  CHECK(outcomes[1].series[0].y[2] != outcomes[0].series[0].y[2]);
}

TEST_CASE("gauss-sgd: curves, decay and the steady state", "[studies][study:gauss-sgd]") {
  const Table small{{"model.sites", 6},
                    {"sweep.eta", List{0.05, 0.1}},
                    {"sweep.batch", List{2}},
                    {"sim.steps", List{40000, 0, 10}}};
  const TheoryResult theory = made(study_named("gauss-sgd"), small)->theory(TheoryGrid::requested);
  const std::vector<Prediction> curves = named(theory, "test_error");
  const std::vector<Prediction> limits = named(theory, "steady_error");
  REQUIRE(curves.size() == 2);
  REQUIRE(limits.size() == 2);
  for (std::size_t k = 0; k < 2; ++k) {
    CHECK(curves[k].series.x == std::vector<double>{0, 10, 40000});
    CHECK(curves[k].compared == std::vector<bool>{false, true, true});
    CHECK_THAT(curves[k].series.y[0], WithinRel(1.0, 1e-12));
    CHECK_THAT(curves[k].series.y[2], WithinRel(limits[k].series.y[0], 1e-9));
  }
  Table held = small;
  held.emplace_back("sim.lambda", 0.2);
  const TheoryResult decayed = made(study_named("gauss-sgd"), held)->theory(TheoryGrid::requested);
  CHECK(named(decayed, "steady_error").empty());
  CHECK(named(decayed, "test_error")[0].series.y[2] != curves[0].series.y[2]);

  // The run's line passes through the recorded steps and whole numbers between them.
  const TheoryResult line = made(study_named("gauss-sgd"), small)->theory(TheoryGrid::run);
  const Series smooth = named(line, "test_error")[0].series;
  CHECK(smooth.x.size() > 50);
  for (const double x : smooth.x) CHECK(x == std::floor(x));
  for (const double x : curves[0].series.x) {
    CHECK(std::count(smooth.x.begin(), smooth.x.end(), x) == 1);
  }
}

TEST_CASE("gauss-sgd: rates in units of the penalty describe the same run",
          "[studies][study:gauss-sgd]") {
  const Table absolute{{"model.sites", 8}, {"model.covariance", "precision"}, {"model.nu", 4.0}};
  const auto with = [&](const char* unit, double eta) {
    Table t = absolute;
    t.emplace_back("model.lambda_unit", unit);
    t.emplace_back("sweep.eta", List{eta});
    t.emplace_back("sweep.batch", List{4});
    t.emplace_back("sim.steps", List{25});
    return made(study_named("gauss-sgd"), t);
  };
  const auto relative = with("mean_eigenvalue", 0.1);
  double unit = 0;
  for (const auto& [key, value] : relative->diagnostics()) {
    if (key == "lambda_unit") unit = std::get<double>(value);
  }
  REQUIRE(unit > 0);
  const auto plain = with("absolute", 0.1 / unit);
  CHECK_THAT(
      named(relative->theory(TheoryGrid::requested), "test_error")[0].series.y[0],
      WithinRel(named(plain->theory(TheoryGrid::requested), "test_error")[0].series.y[0], 1e-12));
  CHECK_THAT(relative->simulate({})[0].series[0].y[0],
             WithinRel(plain->simulate({})[0].series[0].y[0], 1e-10));
}

TEST_CASE("SGD studies: unstable rates are a message and a gap, and simulated when allowed",
          "[studies][study:gauss-sgd][study:gauss-sgd-data]") {
  for (const Study& study : {study_named("gauss-sgd"), study_named("gauss-sgd-data")}) {
    CAPTURE(study.name);
    Table wild{{"model.sites", 6},
               {"sweep.eta", List{0.02, 4.0}},
               {"sweep.batch", List{1}},
               {"sim.steps", List{1, 20, 5000}}};
    const auto careful = made(study, wild);
    const std::vector<Prediction> curves =
        named(careful->theory(TheoryGrid::requested), "test_error");
    REQUIRE(curves.size() == 2);
    for (const double y : curves[0].series.y) CHECK(std::isfinite(y));
    for (const double y : curves[1].series.y) {
      CHECK(y == std::numeric_limits<double>::infinity());
    }
    REQUIRE(careful->warnings().size() == 1);
    CHECK_THAT(careful->warnings()[0], Catch::Contains("eta = 4"));
    CHECK_THROWS_WITH(
        careful->theory(TheoryGrid::run),
        Catch::Contains("'sweep.eta' = 4") && Catch::Contains("sim.allow_unstable = true"));

    wild.emplace_back("sim.allow_unstable", true);
    const auto allowed = made(study, wild);
    CHECK_NOTHROW(allowed->theory(TheoryGrid::run));
    const Outcome end = allowed->simulate({.point = 1})[0];
    CHECK(end.status == "diverged");
    CHECK_FALSE(end.failed);
    REQUIRE(end.series.size() == 2);
    CHECK(end.series[0].x.size() < 3);
    for (const double y : end.series[0].y) CHECK(std::isfinite(y));
    CHECK(end.series[1].name == "divergence_step");
    CHECK(end.series[1].y[0] > 1);
    CHECK(end.series[1].y[0] <= 5000);
    CHECK(allowed->simulate({.point = 0})[0].status == "finished");
  }
}

TEST_CASE("gauss-sgd-steady: eta_max, chi and gaps", "[studies][study:gauss-sgd-steady]") {
  Table rates{{"model.sites", 8},
              {"sweep.eta", List{0.3, 0.02, 0.12}},
              {"sweep.batch", List{1, 16}},
              {"sim.burn_in_time", 1.0},
              {"sim.average_time", 1.0}};
  const auto experiment = made(study_named("gauss-sgd-steady"), rates);
  const std::vector<Prediction> curves =
      named(experiment->theory(TheoryGrid::requested), "steady_error");
  REQUIRE(curves.size() == 2);
  CHECK(curves[0].series.x == std::vector<double>{0.02, 0.12, 0.3});
  CHECK(curves[0].series.point == Point{{"batch", 1.0}});

  const GaussianMlm problem(ar1_covariance(8, 0.7));
  double eta_max = std::numeric_limits<double>::infinity();
  for (Eigen::Index i = 0; i < 8; ++i) {
    eta_max = std::min(eta_max, online_sgd_eta_max(site_regression(problem, i), {.batch = 1}));
  }
  std::size_t stable = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    CHECK(std::isfinite(curves[0].series.y[k]) == (curves[0].series.x[k] < eta_max));
    for (const Prediction& p : curves) stable += std::isfinite(p.series.y[k]) ? 1 : 0;
    // sigma^2/(1 - chi) is compared while it is at most twice sigma^2, site by site.
    if (curves[1].series.y[k] > 2 * problem.noise_variances().mean()) {
      CHECK_FALSE(testing::is_compared(curves[1], k));
    }
  }
  CHECK(testing::is_compared(curves[1], 0));
  CHECK(experiment->points() == stable);
  CHECK(experiment->warnings().size() >= 1);
  bool found = false;
  for (const auto& [key, value] : experiment->diagnostics()) {
    if (key != "eta_max") continue;
    found = true;
    const auto& table = std::get<Table>(value);
    CHECK(table.at(0).first == "1");
    CHECK_THAT(std::get<double>(table.at(0).second), WithinRel(eta_max, 1e-12));
  }
  CHECK(found);

  rates.emplace_back("sim.allow_unstable", true);
  const auto allowed = made(study_named("gauss-sgd-steady"), rates);
  CHECK(allowed->points() == 6);
}

TEST_CASE("gauss-sgd-steady: a rate far too large ends as diverged",
          "[studies][study:gauss-sgd-steady]") {
  const auto experiment = made(study_named("gauss-sgd-steady"),
                               {{"model.sites", 6},
                                {"sweep.eta", List{5.0}},
                                {"sweep.batch", List{1}},
                                {"sim.burn_in_time", 1e4},
                                {"sim.allow_unstable", true}});
  const Outcome outcome = experiment->simulate({})[0];
  CHECK(outcome.status == "diverged");
  CHECK(outcome.series[0].name == "divergence_step");
}

TEST_CASE("SGD studies: absurd rates are refused, or diverge before the first record",
          "[studies][input][study:gauss-sgd][study:gauss-sgd-data][study:gauss-sgd-steady]") {
  for (const char* name : {"gauss-sgd", "gauss-sgd-data", "gauss-sgd-steady"}) {
    CAPTURE(name);
    const Study study = study_named(name);
    const Table wild{{"model.sites", 4}, {"sweep.eta", List{1e300}}, {"sweep.batch", List{1}}};
    CHECK_THROWS_WITH(
        made(study, wild)->theory(TheoryGrid::run),
        Catch::Contains("'sweep.eta' = 1e+300") && Catch::Contains("sim.allow_unstable = true"));
    CHECK_NOTHROW(made(study, wild)->theory(TheoryGrid::requested));
    Table allowed = wild;
    allowed.emplace_back("sim.allow_unstable", true);
    const Outcome outcome = made(study, allowed)->simulate({})[0];
    CHECK(outcome.status == "diverged");
    REQUIRE_FALSE(outcome.series.empty());
    CHECK(outcome.series[0].name == "divergence_step");
    for (const Series& s : outcome.series) CHECK(s.name != "test_error");
  }
  const auto slow =
      made(study_named("gauss-sgd-steady"), {{"model.sites", 4}, {"sweep.eta", List{1e-300, 0.1}}});
  CHECK_THROWS_WITH(slow->theory(TheoryGrid::run), Catch::Contains("'sweep.eta' = 1e-300"));
  CHECK_NOTHROW(slow->theory(TheoryGrid::requested));
}

TEST_CASE("gaussian studies: what is too large to simulate can be predicted",
          "[studies][input][study:gauss-flow][study:gauss-lambda][study:gauss-sizes]") {
  for (const char* name : {"gauss-flow", "gauss-sizes", "gauss-lambda"}) {
    CAPTURE(name);
    Table large{{"sweep.alpha", List{1e12}}};
    if (std::string(name) != "gauss-sizes") large.emplace_back("model.sites", 4);
    const auto experiment = made(study_named(name), large);
    CHECK_THROWS_WITH(experiment->theory(TheoryGrid::run),
                      Catch::Contains("'sweep.alpha' = 1000000000000"));
    CHECK_NOTHROW(experiment->theory(TheoryGrid::requested));
  }
}

TEST_CASE("gauss-sgd-data: the data set follows from the seed alone",
          "[studies][study:gauss-sgd-data]") {
  const Table small{{"model.sites", 6},
                    {"model.samples", 4},
                    {"sweep.eta", List{0.05}},
                    {"sweep.batch", List{2}},
                    {"sim.steps", List{1, 50}}};
  const auto first = named(
      made(study_named("gauss-sgd-data"), small)->theory(TheoryGrid::requested), "test_error");
  const auto again = named(
      made(study_named("gauss-sgd-data"), small)->theory(TheoryGrid::requested), "test_error");
  Table other = small;
  other.emplace_back("sim.seed", 2);
  const auto changed = named(
      made(study_named("gauss-sgd-data"), other)->theory(TheoryGrid::requested), "test_error");
  CHECK(first[0].series.y == again[0].series.y);
  CHECK(first[0].series.y != changed[0].series.y);
}

TEST_CASE(
    "dynamics studies: ranges of the parameters",
    "[studies][study:gauss-flow][study:gauss-sgd][study:gauss-sgd-data][study:gauss-sgd-steady]") {
  const Parameter eta = parameter(study_named("gauss-sgd"), "sweep.eta");
  for (const Value& bad : {Value(0.0), Value(-0.1), Value(std::nan(""))}) {
    CHECK_THROWS_WITH(eta.checked(bad, eta.key), Catch::Contains("sweep.eta"));
  }
  const Study sgd = study_named("gauss-sgd");
  CHECK(sgd.renamed.at(0) == std::pair<std::string, std::string>("sim.decay", "sim.lambda"));
  const auto refuses = [](const Study& study, const char* key, const Value& bad) {
    const Parameter p = parameter(study, key);
    CHECK_THROWS_WITH(p.checked(bad, p.key), Catch::Contains(key));
  };
  refuses(sgd, "sweep.batch", Value(0));
  refuses(sgd, "sweep.batch", Value(1.5));
  refuses(sgd, "sim.steps", Value(-1));
  refuses(sgd, "sim.mask_probability", Value(0.0));
  refuses(sgd, "sim.mask_probability", Value(1.01));
  refuses(sgd, "sim.lambda", Value(-1.0));
  refuses(study_named("gauss-flow"), "sim.times", Value(-1.0));
  refuses(study_named("gauss-flow"), "sweep.alpha", Value(0.0));
  refuses(study_named("gauss-sgd-data"), "model.samples", Value(0));
  refuses(study_named("gauss-sgd-steady"), "sim.burn_in_time", Value(-1.0));
  refuses(study_named("gauss-sgd-steady"), "sim.average_time", Value(0.0));

  const auto few =
      made(study_named("gauss-flow"), {{"model.sites", 3}, {"sweep.alpha", List{0.1}}});
  CHECK_THROWS_WITH(few->theory(TheoryGrid::requested), Catch::Contains("sweep.alpha"));
  CHECK_THROWS_WITH(made(study_named("gauss-sgd-data"), {{"model.sites", 300}}),
                    Catch::Contains("'model.sites'"));
}

}  // namespace gauss_dynamics_test
