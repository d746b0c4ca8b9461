/// @file
/// @brief Theory meets simulation in tree-cooccurrence, and errors in the theory are found.

#include <catch2/catch.hpp>
#include <string>

#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_joma_tree_cooccurrence_test {

using attica::testing::StudyRun;

TEST_CASE("tree-cooccurrence: agrees, and a probability 4 % off does not",
          "[agreement][study:tree-cooccurrence]") {
  const Study study = study_named("tree-cooccurrence");
  const StudyRun run(study, {});
  CHECK(run.points() == Verdict::agree);
  for (const std::string series : {"conditional_probability", "conditional_probability_root"}) {
    CAPTURE(series);
    StudyRun planted = run;
    planted.scale_theory(series, 1.04);
    CHECK(planted.points() == Verdict::disagree);
  }
}

}  // namespace agreement_joma_tree_cooccurrence_test
