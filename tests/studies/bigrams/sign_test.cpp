/// @file
/// @brief What bigrams-sign refuses, and what its theory and simulation do at the limits of its
/// parameters.

#include <catch2/catch.hpp>

#include "configured_study.hpp"

using namespace attica;

namespace studies_bigrams_sign_test {

using attica::testing::configured;

TEST_CASE("bigram studies: signs are compared where the noise of A matters little",
          "[studies][bigrams][study:bigrams-sign]") {
  Configuration c = configured(study_named("bigrams-sign"), {{"sweep.context", List{300, 300000}}});
  const TheoryResult theory = study_named("bigrams-sign").make(c)->theory(TheoryGrid::requested);
  REQUIRE(theory.predictions.size() == 2);
  CHECK_FALSE(testing::is_compared(theory.predictions[0], 0));  // snr 0.5
  CHECK(testing::is_compared(theory.predictions[0], theory.predictions[0].series.x.size() - 1));
  CHECK(testing::is_compared(theory.predictions[1], 0));
}

}  // namespace studies_bigrams_sign_test
