/// @file
/// @brief Theory meets simulation in topics-value-curves, and errors in the theory are found.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_topics_value_curves_test {

using attica::testing::perturbed;
using attica::testing::StudyRun;

TEST_CASE("topics-value-curves: agrees; entries 10 % off do not, however small",
          "[agreement][study:topics-value-curves]") {
  const Study study = study_named("topics-value-curves");
  // At step 100 the entry between topics is 1.5 % of that of a word.
  const StudyRun run(study, {{"sim.steps", List{10, 50, 100}}});
  CHECK(run.points() == Verdict::agree);
  for (const char* series : {"value_d", "value_s", "value_g", "value_b"}) {
    INFO(series);
    CHECK(perturbed(run, {.name = "", .series = series, .factor = 1.1}).points() ==
          Verdict::disagree);
  }
}

}  // namespace agreement_topics_value_curves_test
