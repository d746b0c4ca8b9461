/// @file
/// @brief Theory meets simulation in token-time, and errors in the theory are found.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_icl_token_time_test {

using attica::testing::check_agrees_and_rejects_perturbed;

TEST_CASE("token-time: agrees, its claims hold, and it rejects perturbed theories",
          "[agreement][slow][study:token-time]") {
  check_agrees_and_rejects_perturbed(study_named("token-time"));
}

}  // namespace agreement_icl_token_time_test
