/// init-gradients agrees at its defaults and rejects every perturbed theory.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;
using attica::testing::check_agrees_and_rejects_perturbed;

TEST_CASE("init-gradients: agrees and rejects perturbed theories", "[agreement][slow]") {
  check_agrees_and_rejects_perturbed(study_named("init-gradients"));
}
