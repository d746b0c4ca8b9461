/// @file
/// @brief Theory meets simulation in icl-merged, and errors in the theory are found.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_icl_merged_test {

using attica::testing::check_agrees_and_rejects_perturbed;
using attica::testing::check_not_rejected;

TEST_CASE("icl-merged: agrees, its claims hold, and it rejects perturbed theories",
          "[.][all][study:icl-merged]") {
  check_agrees_and_rejects_perturbed(study_named("icl-merged"));
}

TEST_CASE("icl-merged: a corner of its parameters is not rejected",
          "[agreement][slow][study:icl-merged]") {
  check_not_rejected("icl-merged", {{"model.dimension", 1}});
}

TEST_CASE("icl-merged: more corners of its parameters are not rejected",
          "[.][all][study:icl-merged]") {
  check_not_rejected("icl-merged", {{"model.context", 1}});
  check_not_rejected("icl-merged", {{"model.dimension", 8}});  // not learnt in the recorded times
  check_not_rejected("icl-merged", {{"model.dimension", 2}, {"model.heads", 1}});
  check_not_rejected("icl-merged", {{"model.spectrum_power", 0.0}});
  check_not_rejected("icl-merged", {{"model.spectrum_power", -3.0}});
}

}  // namespace agreement_icl_merged_test
