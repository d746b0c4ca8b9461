#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "configured_study.hpp"

using namespace attica;
using attica::testing::made;
using attica::testing::refusal;
using Catch::Contains;

namespace icl_ridge_test {

const Series& named(const TheoryResult& theory, const std::string& name) {
  for (const Prediction& p : theory.predictions) {
    if (p.series.name == name) return p.series;
  }
  FAIL("no series " << name);
  return theory.predictions.front().series;
}

TEST_CASE("icl ridge studies: bad input names the parameter",
          "[studies][icl][study:icl-context][study:icl-double-descent][study:icl-training]") {
  const Study descent = study_named("icl-double-descent");
  CHECK_THAT(refusal(descent, {{"model.pool", "fresh"}}),
             Contains("theory.level") && Contains("limit"));
  CHECK_THAT(refusal(descent, {{"sweep.tau", List{0.01}}}), Contains("sweep.tau"));
  CHECK_THAT(refusal(descent, {{"model.kappa", 1e9}}), Contains("model.kappa"));
  CHECK_THAT(refusal(descent, {{"model.alpha", 1e300}}), Contains("alpha"));
  CHECK_THAT(refusal(study_named("icl-context"), {{"model.tau", 1e-3}}), Contains("model.tau"));
  CHECK_THAT(refusal(study_named("icl-training"), {{"model.lambda", 0.0}, {"model.tau", 0.5}}),
             Contains("model.lambda"));
  CHECK_THAT(refusal(study_named("icl-training"), {{"model.pool", "fresh"}}),
             Contains("theory.level"));
}

TEST_CASE("icl-training: the end of minibatches is compared once they have settled",
          "[studies][icl][study:icl-training]") {
  const auto theory = [](const Table& values) {
    return made(study_named("icl-training"), values)->theory(TheoryGrid::requested);
  };
  const auto compared = [](const TheoryResult& t) {
    return std::ranges::any_of(t.predictions, [](const Prediction& p) {
      return p.series.name == "end_ratio" && p.compared.front();
    });
  };
  CHECK(compared(theory({})));
  // B lambda eta steps / 2 = 64 and 640; 1280 with the tenfold of them.
  const TheoryResult early = theory({{"sim.optimiser", "sgd"}});
  CHECK_FALSE(compared(early));
  REQUIRE(early.warnings.size() == 1);
  CHECK_THAT(early.warnings.front(), Contains("batch * lambda * eta * steps / 2 is 64"));
  CHECK_FALSE(compared(theory({{"sim.optimiser", "sgd"}, {"model.lambda", 0.1}})));
  CHECK(compared(theory({{"sim.optimiser", "sgd"}, {"sim.steps", List{40000}}})));
}

TEST_CASE("icl ridge studies: at lambda = 0 the threshold is not compared",
          "[studies][icl][study:icl-double-descent]") {
  // d = 20: n = 1.05 d² = d (d + 1) is the threshold itself, n = 2 d² is far.
  const TheoryResult theory = made(study_named("icl-double-descent"),
                                   {{"model.dimension", 20},
                                    {"sweep.tau", List{0.5, 1.05, 2.0}},
                                    {"sweep.lambda", List{0.0}}})
                                  ->theory(TheoryGrid::requested);
  for (const Prediction& p : theory.predictions) {
    if (p.series.name != "icl") continue;
    REQUIRE(p.series.x == std::vector<double>{0.5, 1.05, 2.0});
    CHECK(std::isfinite(p.series.y[0]));
    CHECK(std::isinf(p.series.y[1]));
    CHECK_FALSE(attica::testing::is_compared(p, 1));
    CHECK(attica::testing::is_compared(p, 2));
  }
}

TEST_CASE("icl ridge studies: theory stands where the simulation is",
          "[studies][icl][study:icl-diversity]") {
  const Table small{{"model.dimension", 5}, {"sweep.kappa", List{0.35, 1.0}}};
  const Study study = study_named("icl-diversity");
  const auto experiment = made(study, small);
  REQUIRE(experiment->points() == 2);
  const Series theory = named(experiment->theory(TheoryGrid::run), "gap");
  for (std::size_t point = 0; point < 2; ++point) {
    const std::vector<Outcome> outcomes = experiment->simulate({.point = point, .seed = 1});
    for (const Series& s : outcomes.front().series) {
      if (s.name != "gap") continue;
      CHECK(std::find(theory.x.begin(), theory.x.end(), s.x.front()) != theory.x.end());
    }
  }
}

TEST_CASE("icl-alignment: a flat spectrum is the sphere, and unknown words are refused",
          "[studies][icl][study:icl-alignment][study:icl-diversity]") {
  const auto flat = made(study_named("icl-alignment"),
                         {{"theory.level", "limit"},
                          {"model.train_spectrum", "flat"},
                          {"sweep.test_spectrum", List{"flat"}},
                          {"sweep.kappa", List{1.0}}});
  const auto sphere = made(study_named("icl-diversity"),
                           {{"theory.level", "limit"},
                            {"model.alpha", 2.0},
                            {"model.tau", 2.0},
                            {"model.lambda", 0.05},
                            {"model.rho", 0.1},
                            {"sweep.kappa", List{1.0}}});
  CHECK_THAT(
      named(flat->theory(TheoryGrid::requested), "icl").y.front(),
      Catch::WithinRel(named(sphere->theory(TheoryGrid::requested), "icl").y.front(), 1e-11));
}

}  // namespace icl_ridge_test
