// What the studies of interactions beyond pairs refuse, and what their theory says.

#include <catch2/catch.hpp>
#include <fstream>

#include "attica/core/error.hpp"
#include "attica/studies/potts/body.hpp"
#include "configured_study.hpp"

using namespace attica;
using attica::testing::made;

TEST_CASE("body4-stairs: the plateaus of the default model", "[studies]") {
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

TEST_CASE("body4 studies: bad input names its key", "[studies]") {
  for (const Study& study : {study_named("body4-stairs"), study_named("body4-msd")}) {
    const auto refuses = [&](const Table& assignments, const char* key) {
      CHECK_THROWS_WITH(made(study, assignments), Catch::Contains("'" + std::string(key) + "'"));
    };
    refuses({{"model.sites", 3}}, "model.order");
    refuses({{"model.order_weights", List{1.0, 1.0}}}, "model.order_weights");
    refuses({{"model.colour_couplings", "cosine"}, {"model.order_weights", List{1.0}}},
            "model.order_weights");
    refuses({{"sim.initial_scale", List{0.1, 0.2}}}, "sim.initial_scale");
    refuses({{"model.sites", 900}}, "model.sites");
    refuses({{"model.colours", 64}, {"model.order", 6}, {"model.colour_couplings", "cosine"}},
            "model.order");
  }
}

TEST_CASE("body4-stairs: keys of one network are refused with the other", "[studies]") {
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

TEST_CASE("body_training: initial scales of shallower networks", "[studies]") {
  std::vector<Parameter> parameters = study_named("body4-stairs").parameters;
  Configuration c("body4-stairs", parameters);
  CHECK(body_training(c, 3).initial_scale == std::vector<double>{0.04, 0.2, 0.2});
  CHECK(body_training(c, 2).initial_scale == std::vector<double>{0.2, 0.2});
  c.set("sim.initial_scale", List{0.1}, true);
  CHECK(body_training(c, 4).initial_scale == std::vector<double>(4, 0.1));
}

TEST_CASE("potts-alignment: bad input names its key or its line", "[studies]") {
  const auto file = [](const std::string& text) {
    std::string path = std::string(ATTICA_BINARY_DIR) + "/alignment_study_test.aln";
    std::ofstream(path) << text;
    return Value(path);
  };
  const auto refused = [](const Table& assignments, const char* text) {
    CHECK_THROWS_WITH(made(study_named("potts-alignment"), assignments), Catch::Contains(text));
  };
  refused({{"model.file", "/nowhere.fa"}}, "'model.file'");
  refused({{"model.file", file("AC\nACD\n")}}, ":2: a sequence of 3 letters");
  refused({{"model.file", file("AC\nCA\n")}}, "3 to ");
  const std::string wide(100000, 'A');
  refused({{"model.file", file(wide + '\n' + wide + '\n')}}, "(100000 columns)");
  refused({{"model.file", file("ACD\nACD\n")}, {"model.alphabet", "A"}}, "'model.alphabet'");
  refused({{"model.file", file("ACD\nACD\nADD\n")}, {"sim.held_out", 0.9}}, "'sim.held_out'");
  const auto experiment =
      made(study_named("potts-alignment"), {{"model.file", file("ABX\nACC\n")}});
  CHECK(experiment->warnings().size() == 1);
}
