/// @file
/// @brief What deep-learning-rate refuses, and what its theory and simulation do at the limits of
/// its parameters.

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "configured_study.hpp"

using namespace attica;

namespace studies_joma_deep_learning_rate_test {

using attica::testing::configured;
using Catch::Matchers::Contains;

TEST_CASE(
    "deep-learning-rate: rank correlations of bounce and best loss, over all runs and within rates",
    "[studies][deep][study:deep-learning-rate]") {
  // Within each rate they rise together; from the slow rate to the fast one bounce rises, loss
  // falls. The fast rate's second run has no bounce: it does not count.
  const auto curve = [](const std::string& name,
                        const Point& point,
                        const std::vector<double>& values,
                        const std::vector<std::uint64_t>& replicates) {
    ObservedCurve c;
    c.mean.name = name;
    c.mean.point = point;
    c.mean.x = {0};
    c.mean.y = {values.front()};
    c.values = {values};
    c.replicates = {replicates};
    return c;
  };
  const auto bounce = [](double eta) { return Point{{"eta", eta}, {"layer", 1.0}}; };
  const Observed observed{
      .theory = {},
      .simulation = {curve("bounce", bounce(1e-3), {0.1, 0.2, 0.3}, {0, 1, 2}),
                     curve("bounce", bounce(1e-2), {0.7, 0.9, 0.8}, {0, 2, 3}),
                     curve("best_loss", {{"eta", 1e-3}}, {5, 6, 7}, {0, 1, 2}),
                     curve("best_loss", {{"eta", 1e-2}}, {1, 9, 3, 2}, {0, 1, 2, 3})}};
  const Study study = study_named("deep-learning-rate");
  const std::vector<TextFile> files = study.files(configured(study, {}), observed);
  REQUIRE(files.size() == 1);
  // Ranks 1 2 3 4 6 5 and 4 5 6 1 3 2: 1 - 6 (9 + 9 + 9 + 9 + 9 + 9) / (6 35).
  CHECK_THAT(files[0].content, Contains("\"layer=1\",all rates,-0.5429,"));
  CHECK_THAT(files[0].content, Contains("\"layer=1\",within rates,1.0000,,,1.0000,"));
}

}  // namespace studies_joma_deep_learning_rate_test
