/// @file
/// @brief Theory meets simulation in potts-learning, and errors in the theory are found.

#include <catch2/catch.hpp>

#include "agreement/potts/claims.hpp"
#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_potts_learning_test {

using attica::testing::check_agrees_until;

TEST_CASE("potts-learning: the tails agree, and ones 40 % off are found",
          "[agreement][potts][study:potts-learning]") {
  check_agrees_until("potts-learning", {{"sweep.samples", List{10000.0}}}, 120, 1.4);
}

}  // namespace agreement_potts_learning_test
