/// @file
/// @brief Theory meets simulation in potts-peak, and errors in the theory are found.

#include <catch2/catch.hpp>

#include "agreement/potts/claims.hpp"
#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_potts_peak_test {

using attica::testing::change;
using attica::testing::claim;
using attica::testing::StudyRun;

TEST_CASE("potts-peak: the claims hold, and a tail 30 % off is found",
          "[agreement][potts][study:potts-peak]") {
  const Study study = study_named("potts-peak");
  StudyRun run(study, {{"sweep.alpha", List{0.4, 1.8, 4.0, 120.0}}, {"sim.replicates", 60}});
  for (const ClaimResult& result : study.claims(run.configuration, run.observed)) {
    CAPTURE(result.name, result.detail);
    CHECK(result.verdict == Verdict::agree);
  }
  change(run, "excess_loss", {{"lambda", 1e-4}}, 1.3, 0);
  CHECK(claim(run, "tail") == Verdict::disagree);
  // Four times the parameters, 8 samples for each: no tail to claim.
  run.configuration.set("model.colours", std::int64_t{5}, true);
  CHECK_THROWS_AS(claim(run, "tail"), std::logic_error);
  // Penalties in between have a low peak, or none.
  const StudyRun between(study,
                         {{"sweep.alpha", List{0.4, 1.8, 120.0}},
                          {"sweep.lambda", List{0.01, 0.05}},
                          {"sim.replicates", 8}});
  CHECK(study.claims(between.configuration, between.observed).empty());
}

}  // namespace agreement_potts_peak_test
