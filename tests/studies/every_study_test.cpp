// Properties that every study of the registry has, so that a new one is covered the day it is
// added.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <set>
#include <thread>

#include "attica/studies/grids.hpp"
#include "attica/studies/study.hpp"
#include "configured_study.hpp"

namespace attica {
namespace {

using testing::configured;
using testing::made;

constexpr std::uint64_t kSeed = 1;

Piece piece_of(std::size_t point, std::uint64_t first, std::uint64_t count) {
  return {.point = point,
          .stream_point = point,
          .first_replicate = first,
          .replicates = count,
          .seed = kSeed};
}

/// Everything that a replicate recorded, to be compared digit for digit.
std::string written(const Outcome& outcome) {
  std::string text = outcome.status + (outcome.failed ? " failed " : " ") + outcome.message;
  for (const Series& s : outcome.series) {
    text += '\n' + s.name + ' ' + describe(s.point) + ' ' + s.x_name;
    for (std::size_t k = 0; k < s.x.size(); ++k) {
      text += ' ' + describe(CoordinateValue(s.x[k])) + ':' + describe(CoordinateValue(s.y[k]));
    }
  }
  return text;
}

/// A tenth of the training, where it takes hundreds of steps, and few starts: their number is no
/// matter here.
Table short_training(const Study& study) {
  constexpr std::int64_t kMany = 500;
  constexpr std::int64_t kLess = 10;
  constexpr std::int64_t kStarts = 16;
  static const std::set<std::string> kLengths{"sim.length",
                                              "sim.clone_steps",
                                              "sim.factored_steps",
                                              "sim.clone_windows",
                                              "sim.share_fit_steps",
                                              "sim.share_windows"};
  Table values;
  for (const Parameter& p : study.parameters) {
    if (kLengths.count(p.key) != 0 && p.type == ParameterType::integer && !p.list && p.fallback) {
      const auto length = std::get<std::int64_t>(*p.fallback);
      if (length >= kMany) values.push_back({p.key, length / kLess});
    }
    if (p.key == "sim.starts") values.push_back({p.key, kStarts});
    if (p.key == "sim.share_steps") values.push_back({p.key, List{64, 128}});
    if (p.key != "sim.steps" || !p.list) continue;
    const std::int64_t last =
        p.fallback ? std::get<std::int64_t>(std::get<List>(*p.fallback).back()) : 2 * kMany;
    const std::int64_t first = p.range.contains(0) ? 0 : 1;
    if (last > kMany) values.push_back({p.key, List{first, last / kLess / 2, last / kLess}});
  }
  return values;
}

/// With the defaults, but for the length of training if the study takes another.
std::unique_ptr<Experiment> made_short(const Study& study) {
  try {
    return made(study, short_training(study));
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::input);
    return made(study, {});
  }
}

std::vector<Outcome> simulated(const Experiment& experiment, const Piece& piece) {
  return experiment.simulate(piece);
}

}  // namespace

TEST_CASE("every study: has words for what it asks, neglects, cites and yields", "[studies]") {
  std::set<std::string> names;
  for (const Study& study : studies()) {
    INFO(study.name);
    CHECK(names.insert(study.name).second);
    CHECK(study.question.back() == '?');
    CHECK_FALSE(study.neglects.empty());
    CHECK_FALSE(study.sources.empty());
    CHECK(study.make != nullptr);
    CHECK(study.figure != nullptr);
    std::set<std::string> keys;
    for (const Parameter& p : study.parameters) {
      INFO(p.key);
      CHECK(keys.insert(p.key).second);
      CHECK_FALSE(p.meaning.empty());
    }
    CHECK(keys.count("sim.replicates") == 1);
    // One word for a length, one for recorded steps, one for a learning rate.
    for (const Parameter& p : study.parameters) {
      INFO(p.key);
      if (p.key == "sim.steps") CHECK(p.list);
      if (p.key == "sim.length") CHECK_FALSE(p.list);
      CHECK(p.name().find("learning_rate") == std::string::npos);
    }
    for (const auto& [old_key, new_key] : study.renamed) {
      INFO(old_key);
      CHECK(keys.count(new_key) == 1);
    }
  }
}

/// Legends of several layers fall back on the names of the series, which are for files.
TEST_CASE("every study: axes have labels, and layers side by side have words", "[studies]") {
  for (const Study& study : studies()) {
    INFO(study.name);
    for (const Panel& panel : study.figure(configured(study, {})).panels) {
      CHECK_FALSE(panel.x.label.empty());
      CHECK_FALSE(panel.y.label.empty());
      const bool map = panel.kind == PanelKind::heat_map || panel.kind == PanelKind::contours;
      for (std::size_t k = map ? 1 : 0; k < panel.layers.size(); ++k) {
        INFO(panel.layers[k].series);
        // Levels that the caption names are no curves.
        CHECK((panel.layers.size() == 1 || !panel.layers[k].label.empty() ||
               panel.layers[k].reference));
      }
    }
  }
}

TEST_CASE("steps_between: whole numbers, the recorded ones among them", "[studies]") {
  const std::vector<std::int64_t> steps = {0, 3, 100, 1000};
  CHECK(steps_between(steps, TheoryGrid::requested) == steps);
  const std::vector<std::int64_t> all = steps_between(steps, TheoryGrid::run);
  CHECK(all.size() > 30);
  CHECK(all.size() < 40);                                                     // 0, 1, 2, 3 once
  CHECK(std::ranges::adjacent_find(all, std::greater_equal{}) == all.end());  // rising
  CHECK(std::ranges::includes(all, steps));
}

/// The theory of a preset has neither the memory nor the hours that its simulation needs: seconds
/// of processor time.
void check_theory(const Study& study, const Preset& preset) {
  constexpr double kPatience = 300;
  INFO(study.name << ' ' << preset.name);
  // Sampled populations are as exact as their chains are many, which is no matter here.
  Table values = preset.values;
  for (const Parameter& p : study.parameters) {
    if (p.key == "sim.chains") values.push_back({p.key, std::int64_t{1000}});
  }
  const std::clock_t start = std::clock();  // of this process: other work does not count
  const std::unique_ptr<Experiment> experiment = made(study, values);
  CHECK_NOTHROW(experiment->theory(TheoryGrid::run));
  TheoryResult theory;
  try {
    theory = experiment->theory(TheoryGrid::requested);
  } catch (const Error& error) {
    // Some have no theory, some enumerate states: where there are too many, they say so.
    CHECK(error.kind() == ErrorKind::input);
    CHECK_FALSE(std::string(error.what()).empty());
  }
  for (const Prediction& p : theory.predictions) {
    INFO(p.series.name);
    CHECK(p.series.x.size() == p.series.y.size());
    CHECK((p.finite_size.empty() || p.finite_size.size() == p.series.x.size()));
    CHECK((p.numerical_error.empty() || p.numerical_error.size() == p.series.x.size()));
    CHECK((p.compared.empty() || p.compared.size() == p.series.x.size()));
  }
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  CHECK(seconds < kPatience);
  if (seconds > 1) WARN(study.name << ' ' << preset.name << ": theory takes " << seconds << " s");
}

TEST_CASE("every study: all presets and recipes can be made, and their theory answers",
          "[studies][slow]") {
  // Theories of these take more than two seconds at paper size: theirs are asked below.
  const std::set<std::string> long_ones{"bigrams-large",
                                        "bigrams-regularisation",
                                        "bigrams-softmax",
                                        "bigrams-vocabulary",
                                        "gauss-flow",
                                        "gauss-lambda",
                                        "gauss-sgd",
                                        "gauss-sgd-data",
                                        "gauss-teacher",
                                        "icl-alignment",
                                        "icl-context",
                                        "icl-diversity",
                                        "icl-double-descent",
                                        "joma-overlap",
                                        "positional-phase",
                                        "potts-flow",
                                        "potts-square"};
  for (const Study& study : studies()) {
    for (const Preset& preset : study.presets) {
      INFO(study.name << ' ' << preset.name);
      // A run that names no preset is the quick one.
      if (preset.name == "quick") CHECK(preset.values.empty());
      const std::unique_ptr<Experiment> experiment = made(study, preset.values);
      REQUIRE(experiment != nullptr);
      // What a run would refuse, it would refuse here.
      CHECK_NOTHROW(experiment->require_simulable());
      if (preset.name != "paper" || long_ones.count(study.name) == 0) check_theory(study, preset);
    }
    for (const Recipe& recipe : study.recipes) {
      INFO(study.name << ' ' << recipe.name);
      Table values;
      for (const Preset& preset : study.presets) {
        if (preset.name == recipe.preset) values = preset.values;
      }
      values.insert(values.end(), recipe.values.begin(), recipe.values.end());
      CHECK(made(study, values) != nullptr);
    }
  }
}

TEST_CASE("every study: the theory of its paper preset answers", "[.][all]") {
  for (const Study& study : studies()) {
    for (const Preset& preset : study.presets) {
      if (preset.name == "paper") check_theory(study, preset);
    }
  }
}

TEST_CASE("every study: how replicates are cut into pieces is no matter", "[studies][slow]") {
  for (const Study& study : studies()) {
    INFO(study.name);
    const std::unique_ptr<Experiment> experiment = made_short(study);
    if (experiment->points() == 0) continue;
    const std::size_t point = experiment->points() - 1;
    CHECK(experiment->replicates_per_piece(point) >= 1);
    const std::vector<Outcome> both = simulated(*experiment, piece_of(point, 0, 2));
    REQUIRE(both.size() == 2);
    // Another experiment: nothing is left over from the first.
    const std::unique_ptr<Experiment> again = made_short(study);
    const std::vector<Outcome> second = simulated(*again, piece_of(point, 1, 1));
    REQUIRE(second.size() == 1);
    CHECK(written(second.front()) == written(both[1]));
  }
}

TEST_CASE("every study: what it yields is described, and drawn, judged or said to be diagnostic",
          "[studies][slow]") {
  for (const Study& study : studies()) {
    INFO(study.name);
    const Configuration c = configured(study, {});
    const std::unique_ptr<Experiment> experiment = made_short(study);
    const TheoryResult theory = experiment->theory(TheoryGrid::run);
    std::set<std::string> seen;
    for (const Prediction& p : theory.predictions) seen.insert(p.series.name);
    for (std::size_t point = 0; point < experiment->points(); ++point) {
      for (const Outcome& outcome : simulated(*experiment, piece_of(point, 0, 1))) {
        for (const Series& s : outcome.series) seen.insert(s.name);
      }
    }
    std::set<std::string> used;
    const Figure figure = study.figure(c);
    for (const Panel& panel : figure.panels) {
      for (const Layer& layer : panel.layers) used.insert(layer.series);
    }
    if (study.agreement != nullptr) {
      for (const AgreementRule& rule : study.agreement(c)) used.insert(rule.series);
    }
    if (study.exponents != nullptr) {
      for (const ExponentClaim& claim : study.exponents(c)) {
        used.insert(claim.series);
        used.insert(claim.cap_series);
      }
    }
    std::set<std::string> described;
    for (const SeriesInfo& info : study.series) described.insert(info.name);
    used.insert(study.diagnostic.begin(), study.diagnostic.end());
    for (const std::string& name : study.diagnostic) CHECK(described.count(name) == 1);
    for (const std::string& name : seen) {
      INFO(name);
      REQUIRE(described.count(name) == 1);
      // What is neither drawn nor compared serves a claim, or is said to be diagnostic.
      CHECK((used.count(name) != 0 || study.claims != nullptr));
    }
  }
}

TEST_CASE("every study: may be stopped at any moment, and carries on from what it has kept",
          "[studies][slow]") {
  for (const Study& study : studies()) {
    INFO(study.name);
    const std::unique_ptr<Experiment> experiment = made_short(study);
    if (experiment->points() == 0) continue;
    Piece piece = piece_of(0, 0, 1);
    piece.state = std::filesystem::temp_directory_path() / ("attica-" + study.name);
    const std::filesystem::path kept = piece.state_file(0);
    std::filesystem::remove(kept);
    for (const int microseconds : {0, 100, 3000, 100000}) {
      std::stop_source source;
      piece.stop = source.get_token();
      std::jthread stopper([&] {
        std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
        source.request_stop();
      });
      CHECK_NOTHROW(experiment->simulate(piece));
    }
    if (!std::filesystem::exists(kept)) continue;
    piece.stop = {};
    CHECK(written(simulated(*experiment, piece).front()) ==
          written(simulated(*experiment, piece_of(0, 0, 1)).front()));
    std::filesystem::remove(kept);
  }
}

}  // namespace attica
