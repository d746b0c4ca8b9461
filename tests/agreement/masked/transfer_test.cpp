/// @file
/// @brief Theory meets simulation in masked-transfer, and errors in the theory are found.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_masked_transfer_test {

using attica::testing::check_agrees_and_rejects_perturbed;

TEST_CASE("masked-transfer: agrees, its claims hold, and it rejects perturbed theories",
          "[.][all][study:masked-transfer]") {
  CHECK(study_named("masked-transfer").perturbed.size() >= 3);
  check_agrees_and_rejects_perturbed(study_named("masked-transfer"));
}

}  // namespace agreement_masked_transfer_test
