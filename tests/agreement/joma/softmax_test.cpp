/// @file
/// @brief Theory meets simulation in joma-softmax, and errors in the theory are found.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_joma_softmax_test {

using attica::testing::check_agrees_and_rejects;

TEST_CASE("joma-softmax: agrees, and small errors do not", "[agreement][study:joma-softmax]") {
  check_agrees_and_rejects("joma-softmax",
                           {{"correlation_nc", 1.001},
                            {"correlation_weights", 1.01},
                            {"correlation_norm", 1.01},
                            {"slope", 1.01},
                            {"relative_defect", 1.03},
                            {"gradient_drift", 1.01},
                            {"gradient_turn", 1.01},
                            {"delta_drift", 1.01},
                            {"stationary_error", 1.01},
                            {"loss", 1.001}});
}

}  // namespace agreement_joma_softmax_test
