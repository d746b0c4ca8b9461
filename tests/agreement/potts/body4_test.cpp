// Deep factored networks against the plateaus of limited interaction order and against descent on
// the population; wrong plateaus, wrong times and a wrong order of layers are found.

#include <algorithm>
#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;
using attica::testing::StudyRun;

namespace potts_body4_test {

bool holds(const StudyRun& run, const std::string& name) {
  for (const ClaimResult& claim : run.study.claims(run.configuration, run.observed)) {
    if (claim.name == name) return claim.verdict == Verdict::agree;
  }
  throw std::logic_error("no claim " + name);
}

TEST_CASE("body4-stairs: losses reach their plateaus and never pass them", "[agreement]") {
  const Study study = study_named("body4-stairs");
  StudyRun run(study, {{"sim.layers", List{1, 2}}, {"sim.length", 6000}});
  CHECK(run.points() == Verdict::agree);
  CHECK(holds(run, "bound-1"));
  CHECK(holds(run, "reached-1"));
  CHECK(holds(run, "bound-2"));
  CHECK(holds(run, "reached-2"));
  run.scale_theory("end_loss", 1.005);
  CHECK(run.points() == Verdict::disagree);
  run.scale_theory("plateau", 1.01);  // one per cent, 0.007 nats, above the networks' losses
  CHECK_FALSE(holds(run, "bound-1"));
  run.scale_theory("plateau", 0.95);
  CHECK(holds(run, "bound-1"));
  CHECK_FALSE(holds(run, "reached-1"));
}

TEST_CASE("body4-stairs: stored sequences of sites that are all alike, too many states",
          "[agreement]") {
  const Study study = study_named("body4-stairs");
  StudyRun run(study,
               {{"model.sites", 12},
                {"model.beta", 0.2},
                {"sim.layers", List{1, 2}},
                {"sim.samples", 20000},
                {"sim.starts", 1},
                {"sim.replicates", 24},
                {"sim.length", 8000}});
  CHECK(run.points() == Verdict::agree);
  for (const char* claim : {"bound-1", "reached-1", "bound-2", "reached-2"}) {
    CAPTURE(claim);
    CHECK(holds(run, claim));
  }
  run.scale_theory("end_loss", 1.01);  // 0.25 % are allowed
  CHECK(run.points() == Verdict::disagree);
  run.scale_theory("plateau", 1.01);
  CHECK_FALSE(holds(run, "bound-1"));
}

TEST_CASE("body4-stairs: transformers pass the plateau of pairs; a short training does not",
          "[agreement]") {
  const Study study = study_named("body4-stairs");
  const auto trained = [&](int length) {
    return StudyRun(study,
                    {{"sim.network", "transformer"},
                     {"sim.layers", List{2}},
                     {"sim.starts", 1},
                     {"sim.replicates", 5},
                     {"sim.length", length}});
  };
  const StudyRun run = trained(1500);
  CHECK(holds(run, "bound-2"));
  CHECK(holds(run, "beyond-pairs-2"));
  const StudyRun early = trained(100);
  CHECK(holds(early, "bound-2"));
  CHECK_FALSE(holds(early, "beyond-pairs-2"));
  CHECK_FALSE(holds(early, "reached-2"));
}

TEST_CASE("body4-msd: two layers learn when descent on the population says", "[agreement]") {
  const Study study = study_named("body4-msd");
  StudyRun run(study,
               {{"sim.layers", 2},
                {"sim.initial_scale", List{0.3, 0.4}},
                {"sim.eta", 0.1},
                {"sim.length", 6000}});
  CHECK(run.points() == Verdict::agree);
  CHECK(holds(run, "last-layer-first"));
  run.scale_theory("half_time", 1.05);
  CHECK(run.points() == Verdict::disagree);
  for (ObservedCurve& curve : run.observed.simulation) {
    if (curve.mean.name != "msd") continue;
    double& layer = std::get<double>(curve.mean.point.back().second);
    layer = 3 - layer;
  }
  CHECK_FALSE(holds(run, "last-layer-first"));
}

}  // namespace potts_body4_test
