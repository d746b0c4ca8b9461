/// @file
/// @brief What bigrams-stability refuses, and what its theory and simulation do at the limits of
/// its parameters.

#include <catch2/catch.hpp>
#include <memory>

#include "configured_study.hpp"

using namespace attica;

namespace studies_bigrams_stability_test {

using attica::testing::configured;

TEST_CASE("bigram studies: noise is compared where runs are long enough for it",
          "[studies][bigrams][study:bigrams-stability]") {
  const auto compared = [](const Table& overrides) {
    Configuration c = configured(study_named("bigrams-stability"), overrides);
    const std::unique_ptr<Experiment> experiment = study_named("bigrams-stability").make(c);
    const TheoryResult theory = experiment->theory(TheoryGrid::run);
    const bool first = testing::is_compared(theory.predictions[0], 0);
    CHECK(experiment->warnings().empty() == first);
    return first;
  };
  CHECK(compared({}));
  CHECK_FALSE(compared({{"sim.batch", 1}}));  // the limit is 15 times lower
}

}  // namespace studies_bigrams_stability_test
