/// @file
/// @brief Theory meets simulation in masked-spectrum, and errors in the theory are found.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_masked_spectrum_test {

using attica::testing::check_agrees_and_rejects_perturbed;
using attica::testing::check_reference_runs;
using attica::testing::StudyRun;

TEST_CASE("masked-spectrum: a second moment 10 % off is found on digits",
          "[agreement][study:masked-spectrum]") {
  const Study& study = study_named("masked-spectrum");
  StudyRun run(study,
               {{"model.covariance", "data"},
                {"model.file", "digits.csv"},
                {"sweep.alpha", List{2.0}},
                {"sim.replicates", 60}});
  CHECK(run.points() == Verdict::agree);
  run.scale_theory("moment2", 1.1);
  CHECK(run.points() == Verdict::disagree);
}

TEST_CASE("masked-spectrum: agrees, its claims hold, and it rejects perturbed theories",
          "[agreement][study:masked-spectrum]") {
  CHECK(study_named("masked-spectrum").perturbed.size() >= 3);
  check_agrees_and_rejects_perturbed(study_named("masked-spectrum"));
}

TEST_CASE("masked-spectrum: reference runs come out as they say",
          "[agreement][slow][study:masked-spectrum]") {
  check_reference_runs(study_named("masked-spectrum"));
}

}  // namespace agreement_masked_spectrum_test
