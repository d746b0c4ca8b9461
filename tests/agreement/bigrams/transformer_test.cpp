/// @file
/// @brief Theory meets simulation in bigrams-transformer, and errors in the theory are found.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_bigrams_transformer_test {

using attica::testing::check_agrees_and_rejects_perturbed;
using attica::testing::StudyRun;

TEST_CASE("bigrams-transformer: the entropy is that of the sequences, 3 % more is not",
          "[agreement][study:bigrams-transformer]") {
  // More sequences than can be enumerated: no training is predicted.
  StudyRun run(study_named("bigrams-transformer"),
               {{"model.context", 10}, {"sim.steps", List{0, 1}}, {"sim.replicates", 20}});
  CHECK(run.points() == Verdict::agree);
  run.scale_theory("data_bayes_loss", 1.03);
  CHECK(run.points() == Verdict::disagree);
}

TEST_CASE("bigrams-transformer: training agrees and perturbed theories are rejected",
          "[agreement][slow][study:bigrams-transformer]") {
  check_agrees_and_rejects_perturbed(study_named("bigrams-transformer"));
}

}  // namespace agreement_bigrams_transformer_test
