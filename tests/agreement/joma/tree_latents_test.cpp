/// tree-latents agrees at its defaults and rejects wrong theories.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using attica::testing::check_agrees_and_rejects_perturbed;

TEST_CASE("tree-latents: training agrees and perturbed theories are rejected",
          "[agreement][slow][study:tree-latents]") {
  check_agrees_and_rejects_perturbed(attica::study_named("tree-latents"));
}
