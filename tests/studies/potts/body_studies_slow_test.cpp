// What takes long of the studies of interactions beyond pairs: models with random parts, and the
// theory of their times.

#include <catch2/catch.hpp>

#include "configured_study.hpp"

using namespace attica;
using attica::testing::made;

TEST_CASE("body_model: random parts come from the seed alone", "[studies][slow]") {
  const auto weight = [](std::int64_t seed) {
    const auto experiment = made(study_named("body4-msd"),
                                 {{"sim.seed", seed},
                                  {"sim.length", 10},
                                  {"model.couplings", "gauss"},
                                  {"model.density", 0.5},
                                  {"model.colour_couplings", "graded_gauss"}});
    return experiment->theory(TheoryGrid::requested).predictions.front().series.y.front();
  };
  CHECK(weight(1) == weight(1));
  CHECK(weight(1) != weight(2));
}

TEST_CASE("body4-msd: a theory of the times for every start, where it takes no minutes",
          "[studies][slow]") {
  const Study study = study_named("body4-msd");
  const auto theory =
      made(study, {{"sim.length", 200}, {"sim.starts", 2}})->theory(TheoryGrid::requested);
  CHECK(theory.warnings.empty());
  std::vector<double> ends;
  std::size_t times = 0;
  for (const Prediction& p : theory.predictions) {
    if (p.series.name == "test_loss") ends.push_back(p.series.y.back());
    if (p.series.name == "half_time") ++times;
  }
  REQUIRE(ends.size() == 2);
  CHECK(ends[0] != ends[1]);
  CHECK(times == 6);
  const auto large =
      made(study, {{"model.sites", 8}, {"sim.length", 60000}})->theory(TheoryGrid::requested);
  REQUIRE(large.warnings.size() == 1);
  CHECK_THAT(large.warnings.front(), Catch::Contains("no theory of the times"));
  const auto clipped =
      made(study, {{"sim.length", 200}, {"sim.clip", 0.01}})->theory(TheoryGrid::requested);
  REQUIRE(clipped.warnings.size() == 1);
  CHECK_THAT(clipped.warnings.front(), Catch::Contains("sim.clip"));
  for (const Prediction& p : clipped.predictions) {
    if (p.series.name == "msd") CHECK_FALSE(p.compared.back());
  }
  const auto wild =
      made(study, {{"sim.length", 200}, {"sim.eta", 1e3}})->theory(TheoryGrid::requested);
  REQUIRE_FALSE(wild.warnings.empty());
  CHECK_THAT(wild.warnings.front(), Catch::Contains("diverges"));
}
