/// @file
/// @brief What body4-stairs refuses, and what its theory and simulation do at the limits of its
/// parameters.

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "attica/studies/potts/body.hpp"
#include "configured_study.hpp"

using namespace attica;

namespace studies_potts_body4_stairs_test {

using attica::testing::made;

TEST_CASE("body4-stairs: the plateaus of the default model", "[studies][study:body4-stairs]") {
  const TheoryResult theory = made(study_named("body4-stairs"), {})->theory(TheoryGrid::requested);
  // Measured with an independent program to three digits.
  const std::vector<double> expected{0.951, 0.731, 0.542, 0.397};
  std::vector<double> found;
  for (const Prediction& p : theory.predictions) {
    if (p.series.name == "plateau") found.push_back(p.series.y.front());
  }
  REQUIRE(found.size() == expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    CHECK(found[k] == Approx(expected[k]).margin(5e-4));
  }
  CHECK(theory.predictions.front().series.name == "bayes_loss");
  CHECK(theory.predictions.front().series.y.front() == found.back());
  CHECK(theory.diagnostics.front().first == "log_partition");
}

TEST_CASE("body4-stairs: keys of one network are refused with the other",
          "[studies][study:body4-stairs]") {
  const Study& study = study_named("body4-stairs");
  const auto refuses = [&](const Table& assignments, const char* key) {
    CHECK_THROWS_WITH(made(study, assignments), Catch::Contains("'" + std::string(key) + "'"));
  };
  refuses({{"sim.width", 8}}, "sim.width");
  refuses({{"sim.heads", 2}}, "sim.heads");
  const auto transformer = [&](const char* key, const Value& value) {
    refuses({{"sim.network", "transformer"}, {key, value}}, key);
  };
  transformer("sim.heads", 5);
  transformer("sim.residual", false);
  transformer("sim.initial_scale", List{0.1});
  transformer("sim.samples", 1000);
  transformer("model.sites", 12);
}

TEST_CASE("body_training: initial scales of shallower networks", "[studies][study:body4-stairs]") {
  std::vector<Parameter> parameters = study_named("body4-stairs").parameters;
  Configuration c("body4-stairs", parameters);
  CHECK(body_training(c, 3).initial_scale == std::vector<double>{0.04, 0.2, 0.2});
  CHECK(body_training(c, 2).initial_scale == std::vector<double>{0.2, 0.2});
  c.set("sim.initial_scale", List{0.1}, true);
  CHECK(body_training(c, 4).initial_scale == std::vector<double>(4, 0.1));
}

}  // namespace studies_potts_body4_stairs_test
