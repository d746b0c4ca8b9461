/// @file
/// @brief Theory meets simulation in bigrams-baselines, and errors in the theory are found.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_bigrams_baselines_test {

using attica::testing::StudyRun;

TEST_CASE("bigrams-baselines: agrees; Cramér-Rao a quarter off does not",
          "[agreement][study:bigrams-baselines]") {
  StudyRun run(study_named("bigrams-baselines"),
               {{"sweep.samples", List{2000, 4000}}, {"sim.replicates", 500}});
  // SGD has no theory there.
  CHECK(run.points(false) != Verdict::disagree);
  run.scale_theory("likelihood_gain", 1.25);
  CHECK(run.points(false) == Verdict::disagree);
}

}  // namespace agreement_bigrams_baselines_test
