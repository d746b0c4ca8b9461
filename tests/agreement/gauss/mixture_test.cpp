/// gauss-mixture agrees and rejects one Gaussian in place of two clusters; clusters that differ in
/// their means alone are one Gaussian.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;
using attica::testing::check_agrees_and_rejects_perturbed;
using attica::testing::StudyRun;

namespace agreement_gauss_mixture_test {

TEST_CASE("gauss-mixture: agrees and rejects perturbed theories",
          "[agreement][study:gauss-mixture]") {
  const Study study = study_named("gauss-mixture");
  check_agrees_and_rejects_perturbed(study);
  for (const ReferenceRun& run : study.reference_runs) {
    CAPTURE(run.name);
    CHECK(StudyRun(study, run.values).points() == run.expected);
  }
}

TEST_CASE("gauss-mixture: clusters of two shapes and unequal shares",
          "[agreement][study:gauss-mixture]") {
  const Study study = study_named("gauss-mixture");
  const StudyRun run(study,
                     {{"model.clusters", "shape"},
                      {"model.share", 0.4},
                      {"sweep.spread", List{0.8}},
                      {"sweep.alpha", List{1.0, 3.0}}});
  CHECK(run.points() == Verdict::agree);
}

}  // namespace agreement_gauss_mixture_test
