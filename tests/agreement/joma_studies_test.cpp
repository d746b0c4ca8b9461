/// Theory meets simulation in the studies of joint attention dynamics, and a planted error is
/// found.

#include "attica/studies/joma_studies.hpp"

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;
using attica::testing::StudyRun;

TEST_CASE("joma studies: routes without randomness agree", "[agreement]") {
  for (const Study& study : {joma_blowup(),
                             joma_entropy_gd(),
                             joma_convergence_time(),
                             joma_salience(),
                             joma_softmax(),
                             joma_invariants()}) {
    CAPTURE(study.name);
    CHECK(StudyRun(study, {}).points() == Verdict::agree);
  }
}

TEST_CASE("joma studies: small planted errors are found", "[agreement]") {
  const Study blowup = joma_blowup();
  StudyRun gap(blowup, {});
  gap.scale_theory("v", 1 + 1e-8);
  CHECK(gap.points() == Verdict::disagree);

  const Study salience = joma_salience();
  StudyRun ratio(salience, {});
  ratio.scale_theory("lambda_correction", 1.01);
  CHECK(ratio.points() == Verdict::disagree);

  const Study descent = joma_entropy_gd();
  StudyRun entropy(descent, {});
  entropy.scale_theory("attention_entropy", 1.03);
  CHECK(entropy.points() == Verdict::disagree);
}

TEST_CASE("joma-erf: agrees, and a growth 5 % off does not", "[agreement]") {
  const Study study = joma_erf();
  StudyRun run(study, {{"sim.replicates", 600}});
  CHECK(run.points() != Verdict::disagree);
  run.scale_theory("erf_coordinate", 1.05);
  CHECK(run.points() == Verdict::disagree);
}

TEST_CASE("joma-bounce: agrees, and an entropy 2 % off does not", "[agreement]") {
  const Study study = joma_bounce();
  StudyRun run(study, {{"sim.replicates", 100}});
  CHECK(run.points() == Verdict::agree);
  run.scale_theory("token_entropy", 1.02);
  CHECK(run.points() == Verdict::disagree);
}

TEST_CASE("tree-cooccurrence: agrees, and a probability 5 % off does not", "[agreement]") {
  const Study study = tree_cooccurrence();
  StudyRun run(study, {{"sim.replicates", 60}});
  CHECK(run.points() == Verdict::agree);
  run.scale_theory("conditional_probability", 1.05);
  CHECK(run.points() == Verdict::disagree);
}
