/// @file
/// @brief What body4-stairs refuses, and what its theory and simulation do at the limits of its
/// parameters.

#include <algorithm>
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

TEST_CASE("body4-stairs: a theory of the first steps of every depth, where there is one",
          "[studies][study:body4-stairs]") {
  const Study& study = study_named("body4-stairs");
  const Table few = {{"sim.early_steps", List{2, 4, 8, 16}}, {"sim.layers", List{1, 2}}};
  const auto with = [&](const char* key, const Value& value) {
    Table values = few;
    values.emplace_back(key, value);
    return made(study, values);
  };
  const auto experiment = made(study, few);
  CHECK(experiment->points() == 2 * 3 + 2);
  const TheoryResult theory = experiment->theory(TheoryGrid::requested);
  CHECK(theory.warnings.empty());
  std::vector<std::size_t> compared;
  for (const Prediction& p : theory.predictions) {
    if (p.series.name != "loss" && p.series.name != "msd") continue;
    CHECK(p.compared.empty());
    compared.push_back(p.series.x.size());
  }
  CHECK(compared == std::vector<std::size_t>(5, 4));
  const auto other = with("sim.seed", 2)->theory(TheoryGrid::requested);
  CHECK(attica::testing::curves_of(theory, "loss").at(0).y !=
        attica::testing::curves_of(other, "loss").at(0).y);

  const auto none = [&](const char* key, const Value& value, const char* why) {
    CAPTURE(why);
    const auto without = with(key, value);
    CHECK(without->points() == 2 * 3);
    const std::vector<std::string> warnings = without->theory(TheoryGrid::requested).warnings;
    CHECK(std::ranges::any_of(
        warnings, [&](const std::string& w) { return w.find(why) != std::string::npos; }));
  };
  none("sim.optimiser", "adam", "it is of SGD");
  none("model.sites", 12, "too many states");
  none("sim.early_steps", List{1, 1000000}, "contexts times steps");
  none("sim.samples", 1, "far from all");

  const TheoryResult clipped = with("sim.clip", 0.02)->theory(TheoryGrid::requested);
  REQUIRE(clipped.warnings.size() == 2);
  for (const std::string& warning : clipped.warnings) {
    CHECK_THAT(warning, Catch::Contains("clip_norm"));
  }
  for (const Prediction& p : clipped.predictions) {
    if (p.series.name == "msd") CHECK_FALSE(p.compared.back());
  }
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
