/// @file
/// @brief Theory meets simulation in icl-context, and errors in the theory are found.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_icl_context_test {

using attica::testing::check_agrees_and_rejects_perturbed;
using attica::testing::check_not_rejected;

TEST_CASE("icl-context: agrees, its claims hold, and it rejects perturbed theories",
          "[agreement][slow][study:icl-context]") {
  check_agrees_and_rejects_perturbed(study_named("icl-context"));
}

TEST_CASE("icl-context: a corner of its parameters is not rejected",
          "[.][all][study:icl-context]") {
  check_not_rejected("icl-context", {{"sweep.alpha", List{0.05, 0.1, 0.5}}});
}

}  // namespace agreement_icl_context_test
