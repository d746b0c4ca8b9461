/// init-attention agrees at its defaults and rejects every perturbed theory.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;
using attica::testing::check_agrees_and_rejects_perturbed;
using attica::testing::StudyRun;

namespace init_attention_test {

TEST_CASE("init-attention: agrees and rejects perturbed theories", "[agreement]") {
  check_agrees_and_rejects_perturbed(study_named("init-attention"));
}

TEST_CASE("init-attention: reference runs come out as they say", "[agreement][slow]") {
  const Study& study = study_named("init-attention");
  for (const ReferenceRun& run : study.reference_runs) {
    CAPTURE(run.name);
    CHECK(StudyRun(study, run.values).points(false) == run.expected);
  }
}

TEST_CASE("init-attention: random tokens at overlap 0 follow the sphere's law", "[agreement]") {
  const Study& study = study_named("init-attention");
  const StudyRun run(study,
                     {{"model.tokens", "random"},
                      {"model.dimension", 128},
                      {"model.cosine", 0.0},
                      {"sweep.beta", List{1.5}},
                      {"sweep.context", List{128}},
                      {"sim.queries", 128},
                      {"sim.replicates", 300}});
  CHECK(run.points() == Verdict::agree);
}

}  // namespace init_attention_test
