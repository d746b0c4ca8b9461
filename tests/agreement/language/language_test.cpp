/// language-clones comes to AGREE with its defaults and rejects its plants; the claims of
/// language-orders hold.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;
using attica::testing::configured;
using attica::testing::StudyRun;

namespace language_test {

/// The run with the planted theory in place of its own.
StudyRun planted(const StudyRun& run, const Plant& plant) {
  StudyRun wrong = run;
  if (plant.values.empty()) {
    wrong.scale_theory(plant.series, plant.factor);
  } else {
    Configuration c = configured(run.study, plant.values);
    wrong.observed.theory = run.study.make(c)->theory(TheoryGrid::run).predictions;
  }
  return wrong;
}

// Of total variations only one has a theory: points without are no matter.

TEST_CASE("language-clones: two replicates speak against neither theory nor claims, but plants",
          "[agreement][slow]") {
  const Study study = study_named("language-clones");
  const StudyRun run(study, {{"sim.replicates", 2}});
  CHECK(run.points(false) != Verdict::disagree);
  for (const ClaimResult& claim : study.claims(run.configuration, run.observed)) {
    CAPTURE(claim.name, claim.detail);
    CHECK(claim.verdict != Verdict::disagree);
  }
  CHECK(study.plants.size() >= 3);
  for (const Plant& plant : study.plants) {
    CAPTURE(plant.name);
    CHECK(planted(run, plant).points(false) != Verdict::agree);
  }
}

TEST_CASE("language-clones: agrees, its claims hold, and it rejects its plants", "[.][all]") {
  const Study study = study_named("language-clones");
  const StudyRun run(study, {});
  CHECK(run.points(false) == Verdict::agree);
  for (const ClaimResult& claim : study.claims(run.configuration, run.observed)) {
    CAPTURE(claim.name, claim.detail);
    CHECK(claim.verdict == Verdict::agree);
  }
  for (const Plant& plant : study.plants) {
    CAPTURE(plant.name);
    CHECK(planted(run, plant).points(false) == Verdict::disagree);
  }
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

}  // namespace language_test
