/// @file
/// @brief Theory meets simulation in gauss-lambda, and errors in the theory are found.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_gauss_lambda_test {

using attica::testing::StudyRun;

TEST_CASE("gauss-lambda: agrees, and a theory 2 % off does not",
          "[agreement][study:gauss-lambda]") {
  const Study study = study_named("gauss-lambda");
  StudyRun run(study, {{"sweep.alpha", List{0.5, 4.0}}, {"sweep.lambda", List{0.01, 0.1, 1.0}}});
  CHECK(run.points() == Verdict::agree);
  for (const ClaimResult& claim : study.claims(run.configuration, run.observed)) {
    CAPTURE(claim.name, claim.detail);
    CHECK(claim.verdict == Verdict::agree);
  }
  run.scale_theory("test_error", 1.02);
  CHECK(run.points() == Verdict::disagree);
}

}  // namespace agreement_gauss_lambda_test
