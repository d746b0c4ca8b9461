/// @file
/// @brief Theory meets simulation in tree-learning, and errors in the theory are found.

#include <catch2/catch.hpp>
#include <string>

#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_joma_tree_learning_test {

using attica::testing::StudyRun;

TEST_CASE("tree-learning: agrees, and times or signals 5 % off do not",
          "[agreement][study:tree-learning]") {
  const Study study = study_named("tree-learning");
  const StudyRun run(study, {});
  CHECK(run.points() == Verdict::agree);
  for (const std::string series : {"learning_time", "salience", "v"}) {
    CAPTURE(series);
    StudyRun planted = run;
    planted.scale_theory(series, 1.05);
    CHECK(planted.points() == Verdict::disagree);
  }
}

}  // namespace agreement_joma_tree_learning_test
