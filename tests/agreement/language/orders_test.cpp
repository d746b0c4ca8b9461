/// @file
/// @brief Theory meets simulation in language-orders, and errors in the theory are found.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_language_orders_test {

using attica::testing::StudyRun;

TEST_CASE("language-orders: one text speaks against none of its claims",
          "[agreement][study:language-orders]") {
  const Study study = study_named("language-orders");
  const StudyRun run(study, {{"sim.replicates", 1}});
  for (const ClaimResult& claim : study.claims(run.configuration, run.observed)) {
    CAPTURE(claim.name, claim.detail);
    CHECK(claim.verdict != Verdict::disagree);
  }
}

TEST_CASE("language-orders: its claims hold", "[.][all][study:language-orders]") {
  const Study study = study_named("language-orders");
  const StudyRun run(study, {});
  for (const ClaimResult& claim : study.claims(run.configuration, run.observed)) {
    CAPTURE(claim.name, claim.detail);
    CHECK(claim.verdict == Verdict::agree);
  }
}

}  // namespace agreement_language_orders_test
