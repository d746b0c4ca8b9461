/// @file
/// @brief Theory meets simulation in joma-convergence-time, and errors in the theory are found.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_joma_convergence_time_test {

using attica::testing::check_agrees_and_rejects;

TEST_CASE("joma-convergence-time: agrees, and small errors do not",
          "[agreement][study:joma-convergence-time]") {
  check_agrees_and_rejects("joma-convergence-time", {{"convergence_time", 1 + 1e-8}});
}

}  // namespace agreement_joma_convergence_time_test
