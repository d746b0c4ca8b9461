/// @file
/// @brief Theory meets simulation in potts-couplings, and errors in the theory are found.

#include <catch2/catch.hpp>

#include "agreement/potts/claims.hpp"
#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_potts_couplings_test {

using attica::testing::change;
using attica::testing::claim;
using attica::testing::StudyRun;

TEST_CASE("potts-couplings: attention and values are the couplings, and 8 % off is found",
          "[agreement][potts][study:potts-couplings]") {
  // The margins are 2 % of the largest coupling.
  const Study study = study_named("potts-couplings");
  StudyRun run(study, {{"sim.replicates", 30}, {"sim.starts", 4}});
  CHECK(run.points() == Verdict::agree);
  CHECK(claim(run, "couplings-found") == Verdict::agree);
  StudyRun colours = run;
  colours.scale_theory("colour_coupling", 1.08);
  CHECK(colours.points() == Verdict::disagree);
  run.scale_theory("coupling", 1.08);
  CHECK(run.points() == Verdict::disagree);
  change(run, "coupling_error", {}, 1, 0.05);
  CHECK(claim(run, "couplings-found") == Verdict::disagree);
}

}  // namespace agreement_potts_couplings_test
