/// @file
/// @brief What potts-learning refuses, and what its theory and simulation do at the limits of its
/// parameters.

#include <catch2/catch.hpp>
#include <cmath>

#include "configured_study.hpp"

using namespace attica;

namespace studies_potts_learning_test {

using attica::testing::made;

TEST_CASE("potts-learning: frozen models have finite allowances, and nothing compared of them",
          "[studies][potts][study:potts-learning]") {
  for (const double beta : {8.0, 50.0}) {
    const TheoryResult theory =
        made(study_named("potts-learning"), {{"model.beta", beta}})->theory(TheoryGrid::requested);
    for (const Prediction& p : theory.predictions) {
      CAPTURE(beta, p.series.name);
      for (const double allowance : p.finite_size) CHECK(std::isfinite(allowance));
      REQUIRE_FALSE(p.compared.empty());
      CHECK_FALSE(p.compared.back());
    }
  }
}

}  // namespace studies_potts_learning_test
