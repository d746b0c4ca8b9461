/// @file
/// @brief What potts-loss refuses, and what its theory and simulation do at the limits of its
/// parameters.

#include <catch2/catch.hpp>
#include <cmath>

#include "configured_study.hpp"
#include "studies/potts/models.hpp"

using namespace attica;

namespace studies_potts_loss_test {

using attica::testing::file_with;
using attica::testing::kCosine;
using attica::testing::made;
using attica::testing::with;
using Catch::Matchers::WithinAbs;

TEST_CASE("potts-loss: theory gives the enumerated Bayes loss",
          "[studies][potts][study:potts-loss]") {
  const TheoryResult result =
      made(study_named("potts-loss"), kCosine)->theory(TheoryGrid::requested);
  // Entropies, the best losses of two networks, and even masks.
  REQUIRE(result.predictions.size() == 5);
  CHECK(result.predictions[0].series.name == "bayes_loss");
  CHECK(result.predictions[1].series.name == "marginal_loss");
  CHECK(result.predictions[2].series.name == "end_loss");
  CHECK(result.predictions[2].series.y[0] == result.predictions[0].series.y[0]);
  CHECK(result.predictions[3].series.y[0] > result.predictions[0].series.y[0]);
  CHECK(result.predictions[1].series.y[0] > result.predictions[0].series.y[0]);
  CHECK_THAT(result.predictions[0].series.y[0], WithinAbs(0.9381283009512966, 1e-12));
  CHECK(result.predictions[4].series.name == "mask_evenness");
  CHECK_THAT(result.predictions[4].series.y[0], WithinAbs(1, 1e-4));
  CHECK(result.diagnostics[0].first == "log_partition");
}

TEST_CASE("potts-loss: a model without couplings is legal, and is told",
          "[studies][potts][study:potts-loss]") {
  const auto none =
      made(study_named("potts-loss"),
           with(kCosine,
                {{"model.couplings", "explicit"},
                 {"model.file", file_with("none.csv", "0,0,0,0\n0,0,0,0\n0,0,0,0\n0,0,0,0\n")}}));
  for (const std::size_t entropy : {0, 1}) {  // other sites teach nothing
    CHECK_THAT(none->theory(TheoryGrid::requested).predictions[entropy].series.y[0],
               WithinAbs(std::log(3.0), 1e-12));
  }
  CHECK(none->warnings().size() == 1);
  CHECK(made(study_named("potts-loss"), kCosine)->warnings().empty());
}

}  // namespace studies_potts_loss_test
