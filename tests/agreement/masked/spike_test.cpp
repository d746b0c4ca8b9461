/// @file
/// @brief Theory meets simulation in masked-spike, and errors in the theory are found.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_masked_spike_test {

using attica::testing::check_agrees_and_rejects_perturbed;
using attica::testing::check_reference_runs;

TEST_CASE("masked-spike: agrees, its claims hold, and it rejects perturbed theories",
          "[agreement][study:masked-spike]") {
  CHECK(study_named("masked-spike").perturbed.size() >= 3);
  check_agrees_and_rejects_perturbed(study_named("masked-spike"));
}

TEST_CASE("masked-spike: reference runs come out as they say",
          "[agreement][slow][study:masked-spike]") {
  check_reference_runs(study_named("masked-spike"));
}

}  // namespace agreement_masked_spike_test
