/// @file
/// @brief Theory meets simulation in body4-msd, and errors in the theory are found.

#include <catch2/catch.hpp>
#include <string>

#include "agreement/potts/claims.hpp"
#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_potts_body4_msd_test {

using attica::testing::claim;
using attica::testing::StudyRun;

TEST_CASE("body4-msd: two layers learn when descent on the population says",
          "[agreement][study:body4-msd]") {
  const Study study = study_named("body4-msd");
  StudyRun run(study,
               {{"sim.layers", 2},
                {"sim.initial_scale", List{0.3, 0.4}},
                {"sim.eta", 0.1},
                {"sim.length", 6000}});
  CHECK(run.points() == Verdict::agree);
  CHECK(claim(run, "last-layer-first") == Verdict::agree);
  run.scale_theory("half_time", 1.05);
  CHECK(run.points() == Verdict::disagree);
  for (ObservedCurve& curve : run.observed.simulation) {
    if (curve.mean.name != "msd") continue;
    double& layer = std::get<double>(curve.mean.point.back().second);
    layer = 3 - layer;
  }
  CHECK(claim(run, "last-layer-first") != Verdict::agree);
}

}  // namespace agreement_potts_body4_msd_test
