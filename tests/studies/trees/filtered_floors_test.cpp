#include <catch2/catch.hpp>

#include "configured_study.hpp"

using namespace attica;
using attica::testing::made;
using attica::testing::refusal;
using Catch::Contains;

TEST_CASE("tree-filtered-floors: bad input names the parameter",
          "[studies][trees][study:tree-filtered-floors]") {
  const Study& floors = study_named("tree-filtered-floors");
  CHECK(refusal(floors, {}) == "accepted");
  CHECK_THAT(refusal(floors, {{"model.alphabet", 4}}), Contains("model.root"));
  CHECK_THAT(refusal(floors, {{"model.root", List{0.7, 0.2, 0.2}}}), Contains("model.root"));
  CHECK_THAT(refusal(floors, {{"model.tuples", 4}}), Contains("model.tuples"));
  CHECK_THAT(refusal(floors, {{"model.rule", "broadcast"}, {"model.rho", -0.9}}),
             Contains("model.rho"));
  CHECK_THAT(refusal(floors, {{"model.rule", "file"}}), Contains("model.file"));
  CHECK_THAT(refusal(floors, {{"model.rule", "file"}, {"model.file", "digits.csv"}}),
             Contains("model.file"));
  CHECK_THAT(refusal(floors, {{"sweep.level", List{0, 4}}}), Contains("sweep.level"));
  CHECK_THAT(refusal(floors, {{"model.depth", 12}, {"model.children", 8}}),
             Contains("model.depth"));
  CHECK_THAT(refusal(floors, {{"model.depth", 4}, {"theory.route", "enumeration"}}, true),
             Contains("theory.route"));
  CHECK_THAT(refusal(floors, {{"model.rule", "dense"}, {"theory.route", "siblings"}}, true),
             Contains("theory.route"));
  CHECK_THAT(refusal(floors, {{"model.depth", 4}, {"theory.predictor", "heads_alone"}}),
             Contains("theory.predictor"));
}

TEST_CASE("tree-filtered-floors: a rule that excludes sequences has no losses above its data",
          "[studies][trees][study:tree-filtered-floors]") {
  const auto experiment = made(study_named("tree-filtered-floors"), {{"model.tuples", 2}});
  CHECK(experiment->warnings().size() == 1);
  for (const Prediction& p : experiment->theory(TheoryGrid::run).predictions) {
    for (std::size_t k = 0; k < p.series.x.size(); ++k) {
      CHECK(std::isfinite(p.series.y[k]));
      if (p.series.name != "cross_loss") continue;
      CHECK(std::get<double>(p.series.point.front().second) <= p.series.x[k]);
    }
  }
}
