/// @file
/// @brief Theory meets simulation in gauss-teacher, and errors in the theory are found.

#include <catch2/catch.hpp>
#include <utility>
#include <vector>

#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_gauss_teacher_test {

using attica::testing::StudyRun;

TEST_CASE("gauss-teacher: agrees, its claims hold, and each series a little off does not",
          "[agreement][study:gauss-teacher]") {
  const Study study = study_named("gauss-teacher");
  const StudyRun right(study,
                       {{"sweep.alpha", List{0.5, 1.0, 2.0}}, {"sweep.peak_rho", List{0.3, 0.7}}});
  CHECK(right.points() == Verdict::agree);
  const std::vector<ClaimResult> claims = study.claims(right.configuration, right.observed);
  CHECK(claims.size() == 2);
  for (const ClaimResult& claim : claims) {
    CAPTURE(claim.name, claim.detail);
    CHECK(claim.verdict == Verdict::agree);
  }
  // What is left without noise at M = N has allowances of up to 3 %.
  for (const auto& [series, factor] : {std::pair{"test_error", 0.97},
                                       {"teacher_error", 0.97},
                                       {"peak", 0.97},
                                       {"teacher_peak", 0.97},
                                       {"clean_peak", 0.94}}) {
    CAPTURE(series);
    StudyRun wrong = right;
    wrong.scale_theory(series, factor);
    CHECK(wrong.points() == Verdict::disagree);
  }
  // A large penalty leaves no peak: none is claimed.
  const StudyRun flat(
      study,
      {{"sweep.alpha", List{0.5, 1.0, 2.0}}, {"sweep.lambda", List{7.0}}, {"sim.replicates", 8}});
  const std::vector<ClaimResult> left = study.claims(flat.configuration, flat.observed);
  REQUIRE(left.size() == 1);
  CHECK(left.front().name == "no_peak[lambda=7]");
}

}  // namespace agreement_gauss_teacher_test
