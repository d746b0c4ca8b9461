/// tree-filtered-students agrees at its defaults and rejects other floors.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using attica::testing::check_agrees_and_rejects_perturbed;

TEST_CASE("tree-filtered-students: agrees and rejects perturbed theories",
          "[agreement][slow][study:tree-filtered-students]") {
  check_agrees_and_rejects_perturbed(attica::study_named("tree-filtered-students"));
}
