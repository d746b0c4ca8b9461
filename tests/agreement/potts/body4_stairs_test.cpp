/// @file
/// @brief Theory meets simulation in body4-stairs, and errors in the theory are found.

#include <catch2/catch.hpp>
#include <string>

#include "agreement/potts/claims.hpp"
#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_potts_body4_stairs_test {

using attica::testing::claim;
using attica::testing::perturbed;
using attica::testing::StudyRun;

TEST_CASE("body4-stairs: losses reach their plateaus and never pass them",
          "[agreement][study:body4-stairs]") {
  const Study study = study_named("body4-stairs");
  StudyRun run(study, {{"sim.layers", List{1, 2}}, {"sim.length", 6000}});
  CHECK(run.points() == Verdict::agree);
  CHECK(claim(run, "bound-1") == Verdict::agree);
  CHECK(claim(run, "reached-1") == Verdict::agree);
  CHECK(claim(run, "bound-2") == Verdict::agree);
  CHECK(claim(run, "reached-2") == Verdict::agree);
  for (const char* series : {"end_loss", "loss", "msd"}) {
    CAPTURE(series);
    StudyRun wrong = run;
    wrong.scale_theory(series, series == std::string("msd") ? 1.15 : 1.01);
    CHECK(wrong.points() == Verdict::disagree);
  }
  for (const PerturbedTheory& perturbation : study.perturbed) {
    if (perturbation.values.empty()) continue;
    CAPTURE(perturbation.name);
    Table values = perturbation.values;
    values.emplace_back("sim.layers", List{1, 2});
    CHECK(perturbed(run, {.name = perturbation.name, .values = values}).points() ==
          Verdict::disagree);
  }
  run.scale_theory("plateau", 1.01);  // one per cent, 0.007 nats, above the networks' losses
  CHECK(claim(run, "bound-1") != Verdict::agree);
  run.scale_theory("plateau", 0.95);
  CHECK(claim(run, "bound-1") == Verdict::agree);
  CHECK(claim(run, "reached-1") != Verdict::agree);
}

TEST_CASE("body4-stairs: stored sequences of sites that are all alike, too many states",
          "[agreement][study:body4-stairs]") {
  const Study study = study_named("body4-stairs");
  StudyRun run(study,
               {{"model.sites", 12},
                {"model.beta", 0.2},
                {"sim.layers", List{1, 2}},
                {"sim.samples", 20000},
                {"sim.eta", 0.2},
                {"sim.starts", 1},
                {"sim.replicates", 24},
                {"sim.length", 8000}});
  CHECK(run.points() == Verdict::agree);
  for (const char* name : {"bound-1", "reached-1", "bound-2", "reached-2"}) {
    CAPTURE(name);
    CHECK(claim(run, name) == Verdict::agree);
  }
  run.scale_theory("end_loss", 1.01);  // 0.25 % are allowed
  CHECK(run.points() == Verdict::disagree);
  run.scale_theory("plateau", 1.01);
  CHECK(claim(run, "bound-1") != Verdict::agree);
}

TEST_CASE("body4-stairs: transformers pass the plateau of pairs; a short training does not",
          "[agreement][study:body4-stairs]") {
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
  CHECK(claim(run, "bound-2") == Verdict::agree);
  CHECK(claim(run, "beyond-pairs-2") == Verdict::agree);
  const StudyRun early = trained(100);
  CHECK(claim(early, "bound-2") == Verdict::agree);
  CHECK(claim(early, "beyond-pairs-2") != Verdict::agree);
  CHECK(claim(early, "reached-2") != Verdict::agree);
}

}  // namespace agreement_potts_body4_stairs_test
