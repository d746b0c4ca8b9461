/// @file
/// @brief Theory meets simulation in potts-sampler, and errors in the theory are found.

#include <catch2/catch.hpp>

#include "agreement/potts/claims.hpp"
#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_potts_sampler_test {

using attica::testing::check_agrees_until;

TEST_CASE("potts-sampler: Gibbs means are the enumerated ones, a shift is found",
          "[agreement][potts][study:potts-sampler]") {
  check_agrees_until("potts-sampler", {{"sweep.beta", List{1.0}}}, 40, 1.05);
}

}  // namespace agreement_potts_sampler_test
