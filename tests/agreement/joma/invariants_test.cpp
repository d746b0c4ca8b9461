/// @file
/// @brief Theory meets simulation in joma-invariants, and errors in the theory are found.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_joma_invariants_test {

using attica::testing::check_agrees_and_rejects;
using attica::testing::StudyRun;

TEST_CASE("joma-invariants: the identity is needed, the invariant alone drifts",
          "[agreement][study:joma-invariants]") {
  const Study study = study_named("joma-invariants");
  const StudyRun run(study, {{"sim.replicates", 1}});
  for (const ObservedCurve& curve : run.observed.simulation) {
    if (curve.mean.name != "flow_drift") continue;
    CAPTURE(describe(curve.mean.point));
    CHECK(curve.mean.y.back() > 1e-6);  // the margin of the identity is 1e-12
  }
}

TEST_CASE("joma-invariants: what overlap leaves is an identity too",
          "[agreement][study:joma-invariants]") {
  const Study study = study_named("joma-invariants");
  for (const double overlap : {0.3, 0.9}) {
    CAPTURE(overlap);
    const StudyRun run(study, {{"model.overlap", overlap}});
    CHECK(run.points() == Verdict::agree);
  }
}

TEST_CASE("joma-invariants: agrees", "[agreement][study:joma-invariants]") {
  check_agrees_and_rejects("joma-invariants", {});
}

}  // namespace agreement_joma_invariants_test
