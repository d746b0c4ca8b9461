/// @file
/// @brief Theory meets simulation in topics-onset, and errors in the theory are found.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_topics_onset_test {

using attica::testing::perturbed;
using attica::testing::StudyRun;

TEST_CASE(
    "topics-onset: agrees at any threshold and start; a time 0.2 % off at the defaults does not",
    "[agreement][study:topics-onset]") {
  const Study study = study_named("topics-onset");
  const StudyRun run(study, {{"sweep.keep_rate", List{0.02, 0.3}}});
  CHECK(run.points() == Verdict::agree);
  CHECK(perturbed(run, {.name = "", .series = "onset_time", .factor = 1.002}).points() ==
        Verdict::disagree);
  for (const double threshold : {2.2, 5.0}) {
    INFO(threshold);
    CHECK(StudyRun(study,
                   {{"sweep.keep_rate", List{0.02, 0.3}},
                    {"model.threshold", threshold},
                    {"model.epsilon", 0.03}})
              .points() == Verdict::agree);
  }
}

}  // namespace agreement_topics_onset_test
