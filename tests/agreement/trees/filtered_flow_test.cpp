/// tree-filtered-flow agrees at its defaults and rejects wrong theories.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using attica::testing::check_agrees_and_rejects_perturbed;

TEST_CASE("tree-filtered-flow: agrees and rejects perturbed theories",
          "[agreement][slow][study:tree-filtered-flow]") {
  check_agrees_and_rejects_perturbed(attica::study_named("tree-filtered-flow"));
}
