/// @file
/// @brief What several studies of the family refuse and warn of.

#include <catch2/catch.hpp>

#include "attica/studies/bigrams/model.hpp"

using namespace attica;

namespace studies_bigrams_curve_allowance_test {

TEST_CASE("bigram studies: the allowance of a curve is small against every value",
          "[studies][bigrams]") {
  CHECK(curve_allowance(1, 1) == 0.01);
  CHECK(curve_allowance(0.01, 1) == Approx(0.0006));
  CHECK(curve_allowance(0, 1) == 0);
}

}  // namespace studies_bigrams_curve_allowance_test
