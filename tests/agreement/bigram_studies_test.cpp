/// Theory meets simulation in the studies of sparse contextual bigrams, and a planted error is
/// found.

#include "attica/studies/bigram_studies.hpp"

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;
using attica::testing::StudyRun;

TEST_CASE("bigrams-boosting: agrees, and a spread 30 % off does not", "[agreement]") {
  const Study study = bigrams_boosting();
  StudyRun run(study, {{"sim.steps", List{40, 120, 200, 320}}, {"sim.replicates", 40}});
  CHECK(run.points() != Verdict::disagree);
  run.scale_theory("alpha_V_sd", 1.3);
  CHECK(run.points() == Verdict::disagree);
}

TEST_CASE("bigrams-large: agrees, and a signal 10 % off does not", "[agreement]") {
  const Study study = bigrams_large();
  StudyRun run(study,
               {{"model.tokens", 10},
                {"model.context", 500},
                {"sim.steps", List{300, 500}},
                {"sim.replicates", 40}});
  CHECK(run.points() == Verdict::agree);
  run.scale_theory("alpha_V", 1.1);
  CHECK(run.points() == Verdict::disagree);
}
