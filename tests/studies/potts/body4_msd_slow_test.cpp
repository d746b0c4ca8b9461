/// @file
/// @brief What takes long of body4-msd: models with random parts, and the theory of their times.

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "configured_study.hpp"

using namespace attica;

namespace studies_potts_body4_msd_slow_test {

using attica::testing::made;

TEST_CASE("body_model: random parts come from the seed alone", "[studies][slow][study:body4-msd]") {
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

TEST_CASE("body4-msd: not compared once batches change a curve by more than a tenth",
          "[studies][slow][study:body4-msd]") {
  // Two colours leave the last plateau along a direction in which SGD of B = 512 goes apart: the
  // first order moves MSD_1 by -0.3 of 1.43, runs by -0.03.
  const auto theory = [](std::int64_t batch) {
    return made(study_named("body4-msd"),
                {{"model.colours", 2}, {"sim.batch", batch}, {"theory.hold", 25}})
        ->theory(TheoryGrid::requested);
  };
  const TheoryResult noisy = theory(512);
  REQUIRE(noisy.warnings.size() == 1);
  CHECK_THAT(noisy.warnings.front(), Catch::Contains("sim.batch"));
  for (const Prediction& p : noisy.predictions) {
    if (p.series.name != "msd" && p.series.name != "test_loss") continue;
    CHECK(p.compared.front());
    CHECK_FALSE(p.compared.back());
  }
  CHECK(theory(8192).warnings.empty());
}

TEST_CASE("body4-msd: a theory of the times for every start, where it takes no minutes",
          "[studies][slow][study:body4-msd]") {
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
  CHECK_THAT(clipped.warnings.front(), Catch::Contains("clip_norm"));
  for (const Prediction& p : clipped.predictions) {
    if (p.series.name == "msd") CHECK_FALSE(p.compared.back());
  }
  const auto wild =
      made(study, {{"sim.length", 200}, {"sim.eta", 1e3}})->theory(TheoryGrid::requested);
  REQUIRE_FALSE(wild.warnings.empty());
  CHECK_THAT(wild.warnings.front(), Catch::Contains("diverges"));
}

TEST_CASE("body4-msd: stored sequences have a theory, which comes to that of fresh ones",
          "[studies][slow][study:body4-msd]") {
  const auto loss_at = [](std::int64_t samples) {
    const auto theory = made(study_named("body4-msd"),
                             {{"sim.length", 300}, {"sim.samples", samples}, {"sim.batch", 64}})
                            ->theory(TheoryGrid::requested);
    CHECK(theory.warnings.empty());
    return attica::testing::curves_of(theory, "test_loss").at(0).y.back();
  };
  const double fresh = loss_at(0);
  const double many = loss_at(20000) - fresh;
  const double more = loss_at(40000) - fresh;
  CHECK(std::abs(many) > 1e-7);
  CHECK(many / more == Approx(2).epsilon(0.01));
}

}  // namespace studies_potts_body4_msd_slow_test
