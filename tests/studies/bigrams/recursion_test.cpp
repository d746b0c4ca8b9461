/// @file
/// @brief What bigrams-recursion refuses, and what its theory and simulation do at the limits of
/// its parameters.

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "attica/core/error.hpp"
#include "configured_study.hpp"

using namespace attica;

namespace studies_bigrams_recursion_test {

using attica::testing::configured;
using Catch::Matchers::Contains;

TEST_CASE("bigram studies: doubtful settings are warned of",
          "[studies][bigrams][study:bigrams-recursion]") {
  const Study study = study_named("bigrams-recursion");
  const auto warnings = [&](const Table& overrides) {
    Configuration c = configured(study, overrides);
    std::string all;
    for (const std::string& w : study.make(c)->warnings()) all += w + "\n";
    return all;
  };
  CHECK(warnings({}).empty());
  CHECK_THAT(warnings({{"model.context", 40}}), Contains("10 N Q"));
  CHECK_THAT(warnings({{"sim.eta", 2.0}}), Contains("stability limit"));
  CHECK_THAT(warnings({{"sim.batch", 8}}), Contains("snr"));
}

TEST_CASE("bigram studies: without a signal there are runs and no theory",
          "[studies][bigrams][study:bigrams-recursion]") {
  for (const Table& overrides :
       {Table{{"model.instance", "circulant"}, {"model.p_diagonal", 1.0 / 3}},
        Table{{"model.context", 2}, {"model.weights", "uniform"}, {"sim.batch", 256}}}) {
    Configuration c = configured(study_named("bigrams-recursion"), overrides);
    c.set("sim.steps", List{5, 10}, true);
    const std::unique_ptr<Experiment> experiment = study_named("bigrams-recursion").make(c);
    CHECK_THAT(experiment->warnings().front(), Contains("without signal"));
    CHECK_THROWS_AS(experiment->theory(TheoryGrid::requested), Error);
    CHECK(experiment->theory(TheoryGrid::run).predictions.empty());
    const auto outcomes = experiment->simulate({.replicates = 1, .seed = 1});
    CHECK(outcomes.front().series.size() == 3);
  }
}

}  // namespace studies_bigrams_recursion_test
