/// language-clones comes to AGREE with its defaults and rejects its plants; the claims of
/// language-orders hold.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;
using attica::testing::check_agrees_and_rejects_perturbed;
using attica::testing::StudyRun;

void check_clones(const Table& overrides) {
  const Study& study = study_named("language-clones");
  CHECK(study.perturbed.size() >= 3);
  // Of total variations only one has a theory: not every point is compared.
  check_agrees_and_rejects_perturbed(study, overrides, false);
}

TEST_CASE("language-clones: agrees with clones of two orders, and it rejects its plants",
          "[agreement]") {
  check_clones({{"model.chain_orders", List{std::int64_t{1}, std::int64_t{3}}}});
}

TEST_CASE("language-clones: agrees, its claims hold, and it rejects its plants", "[.][all]") {
  check_clones({});
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
