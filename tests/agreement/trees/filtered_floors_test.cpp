/// tree-filtered-floors agrees at its defaults and rejects every perturbed theory.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;
using attica::testing::check_agrees_and_rejects_perturbed;
using attica::testing::StudyRun;

namespace tree_filtered_floors_test {

TEST_CASE("tree-filtered-floors: agrees and rejects perturbed theories",
          "[agreement][study:tree-filtered-floors]") {
  check_agrees_and_rejects_perturbed(study_named("tree-filtered-floors"));
}

TEST_CASE("tree-filtered-floors: reference runs come out as they say",
          "[agreement][slow][study:tree-filtered-floors]") {
  const Study& study = study_named("tree-filtered-floors");
  for (const ReferenceRun& run : study.reference_runs) {
    CAPTURE(run.name);
    Table values;
    for (const Preset& preset : study.presets) {
      if (preset.name == run.preset) values = preset.values;
    }
    CHECK(StudyRun(study, values).points(false) == run.expected);
  }
}

}  // namespace tree_filtered_floors_test
