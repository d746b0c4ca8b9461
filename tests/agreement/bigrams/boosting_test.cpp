/// @file
/// @brief Theory meets simulation in bigrams-boosting, and errors in the theory are found.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_bigrams_boosting_test {

using attica::testing::StudyRun;

TEST_CASE("bigrams-boosting: agrees, and a spread 30 % off does not",
          "[agreement][study:bigrams-boosting]") {
  const Study study = study_named("bigrams-boosting");
  StudyRun run(study, {{"sim.steps", List{40, 120, 200, 320}}, {"sim.replicates", 40}});
  CHECK(run.points() != Verdict::disagree);
  run.scale_theory("alpha_V_sd", 1.3);
  CHECK(run.points() == Verdict::disagree);
}

}  // namespace agreement_bigrams_boosting_test
