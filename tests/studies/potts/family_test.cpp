/// @file
/// @brief What several studies of the family refuse and warn of.

#include <catch2/catch.hpp>

#include "configured_study.hpp"
#include "refused.hpp"
#include "studies/potts/models.hpp"

using namespace attica;

namespace studies_potts_family_test {

using attica::testing::kCosine;
using attica::testing::made;
using attica::testing::refused;
using attica::testing::with;

TEST_CASE("PottsFamily: draws that are too flat are replaced",
          "[studies][potts][study:potts-learning]") {
  const Table gauss{{"model.couplings", "gauss"}, {"model.colour_couplings", "gauss"}};
  const auto learning = [&](double curvature) {
    return refused([&] {
      made(study_named("potts-learning"),
           with(with(kCosine, gauss), {{"model.least_curvature", curvature}}))
          ->theory(TheoryGrid::requested);
    });
  };
  CHECK(learning(1e-3) == "accepted");
  CHECK(learning(100) == "model.least_curvature");
}

TEST_CASE("PottsFamily: draws that teach nothing are replaced or refused",
          "[studies][potts][study:potts-loss]") {
  const Table ordered{{"model.couplings", "ring"},
                      {"model.colour_couplings", "potts"},
                      {"model.beta", 0.01},
                      {"model.least_learnable", 0.2}};
  CHECK(refused([&] {
          made(study_named("potts-loss"), with(kCosine, ordered))->theory(TheoryGrid::requested);
        }) == "model.least_learnable");
}

}  // namespace studies_potts_family_test
