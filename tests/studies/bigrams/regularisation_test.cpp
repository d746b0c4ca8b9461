/// @file
/// @brief What bigrams-regularisation refuses, and what its theory and simulation do at the limits
/// of its parameters.

#include <catch2/catch.hpp>
#include <memory>

#include "configured_study.hpp"

using namespace attica;

namespace studies_bigrams_regularisation_test {

using attica::testing::configured;
using Catch::Matchers::Contains;

TEST_CASE("bigram studies: above the stability limit there is no mean field with l1, but runs",
          "[studies][bigrams][study:bigrams-regularisation]") {
  Configuration c = configured(study_named("bigrams-regularisation"), {{"sim.batch", 1}});
  const std::unique_ptr<Experiment> experiment = study_named("bigrams-regularisation").make(c);
  CHECK_THAT(experiment->warnings().front(), Contains("stability limit"));
  CHECK_THROWS_WITH(experiment->theory(TheoryGrid::requested), Contains("stability limit"));
  CHECK(experiment->theory(TheoryGrid::run).predictions.empty());
}

}  // namespace studies_bigrams_regularisation_test
