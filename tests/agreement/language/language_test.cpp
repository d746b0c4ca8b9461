/// language-clones comes to AGREE with its defaults and rejects its plants; the claims of
/// language-orders hold.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;
using attica::testing::check_agrees_and_rejects_plants;
using attica::testing::StudyRun;

TEST_CASE("language-clones: agrees, its claims hold, and it rejects its plants",
          "[agreement][slow]") {
  const Study& study = study_named("language-clones");
  CHECK(study.plants.size() >= 3);
  // Of total variations only one has a theory: not every point is compared.
  check_agrees_and_rejects_plants(study, {}, false);
}

TEST_CASE("language-orders: one text speaks against none of its claims", "[agreement]") {
  const Study study = study_named("language-orders");
  const StudyRun run(study, {{"sim.replicates", 1}});
  for (const ClaimResult& claim : study.claims(run.configuration, run.observed)) {
    CAPTURE(claim.name, claim.detail);
    CHECK(claim.verdict != Verdict::disagree);
  }
}

TEST_CASE("language-orders: its claims hold", "[.][all]") {
  const Study study = study_named("language-orders");
  const StudyRun run(study, {});
  for (const ClaimResult& claim : study.claims(run.configuration, run.observed)) {
    CAPTURE(claim.name, claim.detail);
    CHECK(claim.verdict == Verdict::agree);
  }
}
