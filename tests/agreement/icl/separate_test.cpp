/// @file
/// @brief Theory meets simulation in icl-separate, and errors in the theory are found.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_icl_separate_test {

using attica::testing::check_agrees_and_rejects_perturbed;
using attica::testing::check_not_rejected;

TEST_CASE("icl-separate: agrees, its claims hold, and it rejects perturbed theories",
          "[.][all][study:icl-separate]") {
  check_agrees_and_rejects_perturbed(study_named("icl-separate"));
}

TEST_CASE("icl-separate: a corner of its parameters is not rejected",
          "[.][all][study:icl-separate]") {
  check_not_rejected("icl-separate", {{"model.dimension", 1}});
}

}  // namespace agreement_icl_separate_test
