/// @file
/// @brief Theory meets simulation in potts-flow, and errors in the theory are found.

#include <catch2/catch.hpp>

#include "agreement/potts/claims.hpp"
#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_potts_flow_test {

using attica::testing::check_agrees_until;

TEST_CASE("potts-flow: SGD follows the flow, and a flow 5 % off is found",
          "[agreement][potts][study:potts-flow]") {
  check_agrees_until("potts-flow", {{"sim.times", List{10.0, 20.0}}, {"sim.eta", 0.025}}, 40, 1.05);
}

}  // namespace agreement_potts_flow_test
