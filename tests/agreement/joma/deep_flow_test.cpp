/// @file
/// @brief The training theory of the deep studies: agrees with training by Adam, and errors in the
/// theory are found.

#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_joma_deep_flow_test {

using attica::testing::StudyRun;

TEST_CASE("deep studies: training agrees with its theory, and an error of 3 % does not",
          "[agreement][slow][study:deep-width]") {
  // Little of what is claimed over random starts.
  const Study study = study_named("deep-width");
  const StudyRun run(study,
                     {{"sweep.width", List{2}},
                      {"sim.steps", List{0, 1}},
                      {"sim.starts", 1},
                      {"model.small_width", List{4}}});
  CHECK(run.points(false) == Verdict::agree);
  for (const char* series : {"loss", "small_entropy", "square", "slope"}) {
    CAPTURE(series);
    StudyRun planted = run;
    planted.scale_theory(series, 1.03);
    CHECK(planted.points(false) == Verdict::disagree);
  }
}

}  // namespace agreement_joma_deep_flow_test
