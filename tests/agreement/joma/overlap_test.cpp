/// @file
/// @brief Theory meets simulation in joma-overlap, and errors in the theory are found.

#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_joma_overlap_test {

using attica::testing::StudyRun;

TEST_CASE(
    "joma-overlap: agrees, and a squared drift 1 % or, of random embeddings, 3 % off does not",
    "[agreement][study:joma-overlap]") {
  const Study study = study_named("joma-overlap");
  const StudyRun run(study, {});
  CHECK(run.points() == Verdict::agree);
  for (const auto& [series, factor] :
       {std::pair<std::string, double>{"equal_drift", 1.01}, {"random_drift", 1.03}}) {
    CAPTURE(series);
    StudyRun planted = run;
    planted.scale_theory(series, factor);
    CHECK(planted.points() == Verdict::disagree);
  }
}

}  // namespace agreement_joma_overlap_test
