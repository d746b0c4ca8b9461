/// @file
/// @brief Theory meets simulation in token-metastable, and errors in the theory are found.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_icl_token_metastable_test {

using attica::testing::check_agrees_and_rejects_perturbed;
using attica::testing::check_not_rejected;

TEST_CASE("token-metastable: agrees, its claims hold, and it rejects perturbed theories",
          "[agreement][slow][study:token-metastable]") {
  check_agrees_and_rejects_perturbed(study_named("token-metastable"));
}

TEST_CASE("token-metastable: a corner of its parameters is not rejected",
          "[agreement][slow][study:token-metastable]") {
  check_not_rejected("token-metastable", {{"model.tokens", 4}, {"model.dimension", 16}});
}

TEST_CASE("token-metastable: more corners of its parameters are not rejected",
          "[.][all][study:token-metastable]") {
  check_not_rejected("token-metastable", {{"model.overlap", -0.9}});
  check_not_rejected("token-metastable", {{"model.overlap", 0.9}});
  check_not_rejected("token-metastable", {{"model.jitter", 0.0}});
}

}  // namespace agreement_icl_token_metastable_test
