// Cards: what the language says, the places of mistakes, and properties of all that are embedded.
#include "attica/studies/card.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "attica/core/error.hpp"
#include "attica/studies/expected_points.hpp"
#include "configured_study.hpp"

namespace attica {
namespace {

using testing::configured;

constexpr const char* kBase = R"(
approximation = "nothing"
sources = [{cite = "tian2023joma", used = "all"}]
parameter = [
  {key = "model.sites", default = 10, range = "2 <= sites <= 100", meaning = "sites"},
  {key = "model.kind", default = "near", choices = ["near", "far"], meaning = "kind"},
  {key = "model.file", type = "file", meaning = "file"},
  {key = "sweep.lambda", list = true, type = "real", range = "lambda >= 0", meaning = "penalty"},
]
series = [{name = "loss", symbol = "L", meaning = "loss"}]
[[margin]]
series = "loss"
relative = 0.01
[[margin]]
when = {"model.file" = true}
series = "loss"
relative = 0.05
)";

constexpr const char* kCard = R"(
base = "common"
question = "Why?"
parameter = [
  "model.*",
  {key = "sweep.lambda", default = {log = [0.01, 1.0], n = 3}, range = "lambda > 0"},
  {key = "sim.eta", default = 0.5, meaning = "rate"},
]
series = ["loss", {name = "bound", meaning = "bound", diagnostic = true}]
[words.theory]
key = "model.kind"
near = "near theory"
far = "far theory"
[[margin]]
series = "bound"
absolute = 0.5
tails = "normal"
[[preset]]
name = "paper"
meaning = "more"
expected = {loss = 3, bound = 0}
model.sites = 100
sweep.lambda = [0.5]
[[perturbed]]
name = "rate"
scale = {series = "loss", by = 1.5}
meaning = "wrong"
[figure]
caption = "{theory}, {model.sites} sites, eta = {sim.eta:.2f}."
[[figure.panels]]
x = {label = "$\\lambda$", scale = "log"}
y = {label = "loss"}
layers = [
  {series = "loss", each = {penalty = "sweep.lambda"}, label = "$\\lambda = {penalty}$", only = {lambda = "{penalty}"}},
  {series = "bound", when = {"model.kind" = "far"}, show = "theory", label = "bound"},
]
[[figure.panels]]
when = {"model.sites" = [20, 30]}
layers = [{series = "loss", label = "{lambda}"}]
)";

Study card(const std::string& text, const std::string& base = kBase) {
  return read_card(text, "studies/some/my_card.toml", [&](const std::string& path) {
    return path == "studies/some/common.toml" ? std::string_view(base) : std::string_view();
  });
}

std::string mistakes(const std::string& text) {
  try {
    static_cast<void>(card(text));
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST_CASE("read_card: a study of a card and its base", "[studies]") {
  const Study study = card(kCard);
  CHECK(study.name == "some-my-card");
  CHECK(study.question == "Why?");
  CHECK(study.approximation == "nothing");
  REQUIRE(study.parameters.size() == 5);
  CHECK(study.parameters[0].type == ParameterType::integer);
  CHECK(study.parameters[0].range.describe("sites") == "2 <= sites <= 100");
  CHECK(study.parameters[2].type == ParameterType::file);
  CHECK_FALSE(study.parameters[2].fallback.has_value());
  CHECK(study.parameters[3].list);
  CHECK(study.parameters[3].range.describe("lambda") == "lambda > 0");
  CHECK(std::get<List>(*study.parameters[3].fallback).size() == 3);
  CHECK(study.parameters[3].meaning == "penalty");
  REQUIRE(study.series.size() == 2);
  CHECK(study.series[0].symbol == "L");
  CHECK(study.diagnostic == std::vector<std::string>{"bound"});
  REQUIRE(study.presets.size() == 1);
  CHECK(study.presets[0].values.front().first == "model.sites");
  REQUIRE(study.perturbed.size() == 1);
  CHECK(study.perturbed[0].factor == 1.5);
  REQUIRE(study.sources.size() == 1);
  CHECK(study.sources[0].year == 2023);
}

TEST_CASE("read_card: figure and margins follow the configuration", "[studies]") {
  const Study study = card(kCard);
  const Configuration c = configured(study, {});
  const Figure figure = study.figure(c);
  CHECK(figure.caption == "near theory, 10 sites, eta = 0.50.");
  REQUIRE(figure.panels.size() == 1);
  REQUIRE(figure.panels[0].layers.size() == 3);
  CHECK(figure.panels[0].x.label == "{/:Italic λ}");
  CHECK(figure.panels[0].layers[1].label == "{/:Italic λ} = 0.1");
  CHECK(figure.panels[0].layers[2].only == Point{{"lambda", 1.0}});
  const Figure far = study.figure(
      configured(study, {{"model.kind", "far"}, {"model.sites", 30}, {"sweep.lambda", List{0.5}}}));
  CHECK(far.caption == "far theory, 30 sites, eta = 0.50.");
  REQUIRE(far.panels.size() == 2);
  REQUIRE(far.panels[0].layers.size() == 2);
  CHECK_FALSE(far.panels[0].layers[1].simulation);
  CHECK(far.panels[1].layers[0].label == "{lambda}");  // a coordinate, filled in when it is drawn

  const std::vector<AgreementRule> rules = study.agreement(c);
  REQUIRE(rules.size() == 2);
  CHECK(rules[0].relative == 0.01);
  CHECK(rules[1].absolute == 0.5);
  CHECK(rules[1].relative == 0);
  CHECK(rules[1].tails == Tails::normal);
  CHECK(study.agreement(configured(study, {{"model.file", "a.csv"}}))[0].relative == 0.05);
}

TEST_CASE("read_card: mistakes have their places", "[studies]") {
  CHECK(mistakes("base = \"common\"\nquestoin = \"Why?\"\n") ==
        "studies/some/my_card.toml:2:1: error: unknown key 'questoin'; did you mean 'question'?");
  CHECK(mistakes("base = \"nothing\"\n").find("there is no studies/some/nothing.toml") !=
        std::string::npos);
  CHECK(mistakes("parameter = [{key = \"model.a\", meaning = \"a\"}]\n")
            .find("1:14: error: model.a: expected default or type") != std::string::npos);
  CHECK(mistakes("base = \"common\"\nparameter = [\"model.size\"]\n")
            .find("expected one that a base defines") != std::string::npos);
  CHECK(mistakes("parameter = [{key = \"a.b\", default = 1, range = \"b is 1\", meaning = \"\"}]\n")
            .find("a range such as") != std::string::npos);
  CHECK(mistakes("sources = [{cite = \"nobody2000\", used = \"\"}]\n")
            .find("a paper of studies/sources.cpp") != std::string::npos);
  const auto of_figure = [](const std::string& figure) -> std::string {
    const Study study = card(std::string("base = \"common\"\n") + figure);
    try {
      static_cast<void>(study.figure(configured(study, {})));
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  };
  CHECK(of_figure("[figure]\n[[figure.panels]]\nlayers = [{series = \"loss\", colour = \"red\"}]\n")
            .find("4:29: error: unknown key 'colour' in figure.panels[0].layers[0]") !=
        std::string::npos);
  CHECK(
      of_figure("[figure]\n[[figure.panels]]\nwhen = {\"model.size\" = 3}\n").find("model.size") !=
      std::string::npos);
}

/// What is said of a series in a card must be of one that the study has.
TEST_CASE("every study: figure, margins and wrong theories name series that it has", "[studies]") {
  for (const Study& study : studies()) {
    INFO(study.name);
    std::set<std::string> names;
    for (const SeriesInfo& info : study.series) names.insert(info.name);
    std::vector<Table> settings(1);
    for (const Preset& preset : study.presets) settings.push_back(preset.values);
    for (const Table& all : settings) {
      Table values;
      for (const auto& [key, value] : all) {  // of those that are swept the default is as good
        if (std::ranges::count(study.parameters, key, &Parameter::key) > 0)
          values.emplace_back(key, value);
      }
      const Configuration c = configured(study, values);
      std::set<std::string> controls;
      for (const AgreementRule& rule : study.agreement(c)) {
        INFO(rule.series);
        if (rule.control) controls.insert(rule.series);
        // One function has the margins of both value studies; the map never records this one.
        CHECK((names.count(rule.series) == 1 || rule.series == "fixed_d"));
      }
      for (const Panel& panel : study.figure(c).panels) {
        CHECK_FALSE(panel.layers.empty());
        for (const Layer& layer : panel.layers) {
          INFO(layer.series);
          CHECK(controls.count(layer.series) == 0);  // they watch our code, and are drawn nowhere
          // "<series>_fit" and "<series>_bound" are the lines of exponents (app/verdict/exponents).
          const std::size_t end = study.exponents ? layer.series.rfind('_') : std::string::npos;
          CHECK((names.count(layer.series) == 1 || names.count(layer.series.substr(0, end)) == 1));
        }
      }
    }
    for (const PerturbedTheory& wrong : study.perturbed) {
      INFO(wrong.name);
      CHECK((wrong.series.empty() || names.count(wrong.series) == 1));
    }
    for (const std::string& name : study.diagnostic) CHECK(names.count(name) == 1);
  }
}

/// A mistyped key of a card would be found by whoever runs that preset.
TEST_CASE("every study: presets, reference runs and wrong theories set what can be set",
          "[studies]") {
  for (const Study& study : studies()) {
    INFO(study.name);
    const auto declared = [&](const std::string& key) {
      return key == "sim.seed" || key == "check.margin" || key == "check.family" ||
             std::ranges::count(study.parameters, key, &Parameter::key) > 0;
    };
    const auto check = [&](const std::string& name, const Table& values) {
      INFO(name);
      for (const auto& [key, value] : values) {
        INFO(key);
        const std::string scalar = key.substr(key.find('.') + 1);
        CHECK((declared(key) || (key.starts_with("sweep.") &&
                                 (declared("model." + scalar) || declared("sim." + scalar)))));
      }
    };
    for (const Preset& preset : study.presets) check(preset.name, preset.values);
    for (const ReferenceRun& run : study.reference_runs) check(run.name, run.values);
    for (const PerturbedTheory& wrong : study.perturbed) check(wrong.name, wrong.values);
  }
}

TEST_CASE("every study: quick settings say how many points they compare", "[studies]") {
  for (const Study& study : studies()) {
    INFO(study.name);
    const auto presets = expected_points(study.name);
    REQUIRE(presets.contains("quick"));
    const Configuration c = configured(study, {});
    const std::vector<AgreementRule> rules = study.agreement(c);
    for (const auto& [name, expected] : presets) {
      INFO(name);
      for (const auto& [series, points] : expected) {
        INFO(series);
        // A margin that one function states for two studies may be of a series that one lacks.
        CHECK((points == 0 || std::ranges::count(study.series, series, &SeriesInfo::name) == 1));
      }
    }
    for (const AgreementRule& rule : rules) {
      INFO(rule.series);
      if (rule.relative > 0 || rule.absolute > 0) CHECK(presets.at("quick").contains(rule.series));
    }
  }
}

}  // namespace
}  // namespace attica
