/// @file
/// @brief Theory meets simulation in gauss-overlaps, and errors in the theory are found.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_gauss_overlaps_test {

using attica::testing::StudyRun;

TEST_CASE("gauss-overlaps: without a best predictor, rho = 0",
          "[agreement][study:gauss-overlaps]") {
  const StudyRun run(study_named("gauss-overlaps"),
                     {{"model.rho", 0.0},
                      {"sweep.alpha", List{0.5, 1.0, 2.0, 4.0}},
                      {"sweep.lambda", List{0.0, 0.1}}});
  CHECK(run.points(false) != Verdict::disagree);
  for (const ClaimResult& claim : run.study.claims(run.configuration, run.observed)) {
    CAPTURE(claim.name, claim.detail);
    CHECK(claim.verdict != Verdict::disagree);
  }
}

TEST_CASE("gauss-overlaps: agrees, and each series 2 % off does not",
          "[agreement][study:gauss-overlaps]") {
  const Study study = study_named("gauss-overlaps");
  const StudyRun right(study,
                       {{"sweep.alpha", List{0.5, 1.0, 4.0}}, {"sweep.lambda", List{1e-3, 0.1}}});
  CHECK(right.points() == Verdict::agree);
  for (const char* series : {"overlap_m", "overlap_q", "weight_norm2"}) {
    CAPTURE(series);
    StudyRun wrong = right;
    wrong.scale_theory(series, 0.98);
    CHECK(wrong.points() == Verdict::disagree);
  }
}

}  // namespace agreement_gauss_overlaps_test
