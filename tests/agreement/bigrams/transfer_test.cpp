/// bigrams-transfer: sources of another shape come out as their reference runs say.

#include <catch2/catch.hpp>
#include <string>

#include "agreement/study_run.hpp"

using namespace attica;
using attica::testing::refusal;
using attica::testing::StudyRun;
using Catch::Contains;

namespace agreement_bigrams_transfer_test {

TEST_CASE("bigrams-transfer: sources of another shape",
          "[agreement][slow][study:bigrams-transfer]") {
  const Study study = study_named("bigrams-transfer");
  for (const ReferenceRun& run : study.reference_runs) {
    if (!run.name.starts_with("bigrams-transfer-source")) continue;
    CAPTURE(run.name);
    StudyRun right(study, run.values);
    CHECK(right.points() == run.expected);
    right.scale_theory("half_samples", 1.1);
    CHECK(right.points() == Verdict::disagree);
  }
}

TEST_CASE("bigrams-transfer: bad shapes of a source are named", "[studies][bigrams]") {
  const Study study = study_named("bigrams-transfer");
  CHECK_THAT(refusal(study, {{"model.source_sparsity", 3}}), Contains("sim.pretraining"));
  CHECK_THAT(refusal(study, {{"model.source_tokens", 4}}), Contains("source_tokens"));
  CHECK_THAT(refusal(study,
                     {{"sim.pretraining", "trained"},
                      {"model.source_sparsity", 8},
                      {"sweep.source_context", List{4}}}),
             Contains("source_context"));
}

}  // namespace agreement_bigrams_transfer_test
