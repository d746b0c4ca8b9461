/// @file
/// @brief Theory meets simulation in bigrams-large, and errors in the theory are found.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_bigrams_large_test {

using attica::testing::StudyRun;

TEST_CASE("bigrams-large: agrees; a signal 10 % off or a remainder 40 % off does not",
          "[agreement][study:bigrams-large]") {
  const Study study = study_named("bigrams-large");
  StudyRun run(study,
               {{"model.tokens", 10},
                {"model.context", 500},
                {"sim.steps", List{300, 500}},
                {"sim.replicates", 120}});
  CHECK(run.points() == Verdict::agree);
  StudyRun noise = run;
  noise.scale_theory("d_V", 1.4);
  CHECK(noise.points() == Verdict::disagree);
  run.scale_theory("alpha_V", 1.1);
  CHECK(run.points() == Verdict::disagree);
}

}  // namespace agreement_bigrams_large_test
