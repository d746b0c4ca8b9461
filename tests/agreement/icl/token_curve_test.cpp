/// @file
/// @brief Theory meets simulation in token-curve, and errors in the theory are found.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_icl_token_curve_test {

using attica::testing::check_agrees_and_rejects_perturbed;
using attica::testing::check_not_rejected;

TEST_CASE("token-curve: agrees, its claims hold, and it rejects perturbed theories",
          "[.][all][study:token-curve]") {
  check_agrees_and_rejects_perturbed(study_named("token-curve"));
}

TEST_CASE("token-curve: corners of its parameters are not rejected",
          "[.][all][study:token-curve]") {
  check_not_rejected("token-curve", {{"model.tokens", 2}, {"sweep.beta", List{4.0}}});
  check_not_rejected("token-curve", {{"model.tokens", 5}, {"sweep.beta", List{4.0}}});
  check_not_rejected("token-curve",
                     {{"model.normalisation", "mean"},
                      {"sweep.beta", List{4.0}},
                      {"sim.times", List{0.2, 0.5, 2.0}}});
}

}  // namespace agreement_icl_token_curve_test
