/// potts-loss-flow agrees at its defaults and rejects wrong theories.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using attica::testing::check_agrees_and_rejects_perturbed;

TEST_CASE("potts-loss-flow: agrees and rejects perturbed theories",
          "[agreement][slow][study:potts-loss-flow]") {
  check_agrees_and_rejects_perturbed(attica::study_named("potts-loss-flow"));
}
