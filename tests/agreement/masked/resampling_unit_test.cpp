/// masked-resampling-unit agrees and rejects wrong theories; ReLU with one stored mask is rejected.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;
using attica::testing::check_agrees_and_rejects_perturbed;
using attica::testing::StudyRun;

TEST_CASE("masked-resampling-unit: agrees and rejects wrong theories", "[agreement][slow]") {
  check_agrees_and_rejects_perturbed(study_named("masked-resampling-unit"));
}

TEST_CASE("masked-resampling-unit: reference runs come out as they say", "[.][all]") {
  const Study& study = study_named("masked-resampling-unit");
  for (const ReferenceRun& run : study.reference_runs) {
    CAPTURE(run.name);
    CHECK(StudyRun(study, run.values).points(false) == run.expected);
  }
}
