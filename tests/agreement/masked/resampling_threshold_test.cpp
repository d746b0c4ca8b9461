/// masked-resampling-threshold agrees and rejects wrong theories.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;
using attica::testing::check_agrees_and_rejects_perturbed;

TEST_CASE("masked-resampling-threshold: agrees and rejects wrong theories", "[agreement]") {
  check_agrees_and_rejects_perturbed(study_named("masked-resampling-threshold"));
}
