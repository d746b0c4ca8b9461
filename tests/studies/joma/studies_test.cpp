/// Bad input of the studies of attention dynamics, latent trees and deep networks is refused by
/// name before any work.

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <optional>

#include "attica/core/error.hpp"
#include "attica/studies/joma/model.hpp"
#include "configured_study.hpp"

namespace joma_studies_test {

using namespace attica;
using attica::testing::configured;
using attica::testing::made;
using Catch::Matchers::Contains;

/// What `make`, or the theory if it is accepted, says.
std::string refusal(const Study& study, const Table& overrides) {
  return attica::testing::refusal(study, overrides, true);
}

Series series_of(const Study& study, const Table& overrides, const std::string& name) {
  Configuration c = configured(study, overrides);
  for (const Prediction& p : study.make(c)->theory(TheoryGrid::requested).predictions) {
    if (p.series.name == name) return p.series;
  }
  FAIL("no series " << name);
  return {};
}

TEST_CASE("joma studies: bad input is refused by name", "[studies][joma]") {
  CHECK_THAT(refusal(study_named("joma-softmax"), {{"sim.steps", List{0, 5}}}),
             Contains("sim.steps"));
  CHECK_THAT(refusal(study_named("joma-erf"), {{"sim.eta", 10.0}}), Contains("sim.eta"));
  CHECK_THAT(refusal(study_named("joma-blowup"), {{"model.delta", List{0.0, 0.0}}}),
             Contains("model.delta"));
  CHECK_THAT(refusal(study_named("joma-convergence-time"), {{"sweep.mu", List{0.0}}}),
             Contains("sweep.mu"));
  CHECK_THAT(refusal(study_named("joma-convergence-time"), {{"sweep.mu", List{60.0}}}),
             Contains("600"));
  CHECK_THAT(refusal(study_named("joma-salience"), {{"sweep.mu_j", List{1.0}}}),
             Contains("sweep.mu_k"));
  CHECK_THAT(refusal(study_named("joma-salience"), {{"sweep.mu_k", List{0.0}}}),
             Contains("sweep.mu_k"));
  CHECK_THAT(refusal(study_named("joma-bounce"), {{"sweep.gamma", List{100.0}}}), Contains("300"));
  CHECK_THAT(refusal(study_named("joma-bounce"), {{"model.probability", List{0.5, 0.3, 0.1, 0.2}}}),
             Contains("model.probability"));
  CHECK_THAT(refusal(study_named("joma-bounce"), {{"model.target", List{1.0}}}),
             Contains("model.target"));
  CHECK_THAT(refusal(study_named("joma-invariants"), {{"model.overlap", 1.0}}),
             Contains("model.overlap"));
  CHECK_THAT(refusal(study_named("joma-overlap"), {{"sweep.overlap", List{0.5}}}),
             Contains("number of tokens"));
}

TEST_CASE("joma studies: degenerate input has its limit", "[studies][joma]") {
  // Nothing to learn: constant solution, with a warning; no blow-up time is printed.
  Configuration c = configured(study_named("joma-erf"), {{"model.delta", List{0.0, 0.0}}});
  const auto still = study_named("joma-erf").make(c);
  CHECK(still->points() == 0);
  CHECK_THAT(still->warnings().at(0), Contains("never blows up"));
  CHECK(still->theory(TheoryGrid::requested).diagnostics.empty());
  // Already there.
  const Series time = series_of(study_named("joma-convergence-time"),
                                {{"sweep.mu", List{2.0}}, {"model.v0", 2.0}},
                                "convergence_time");
  CHECK(time.y == std::vector<double>(time.y.size(), 0.0));
  // Without attention there is no minimum: its series are left out, the depth is 0.
  const Series depth =
      series_of(study_named("joma-bounce"), {{"model.kind", "none"}}, "bounce_depth");
  CHECK(depth.y == std::vector<double>(depth.y.size(), 0.0));
  Configuration rest =
      configured(study_named("joma-invariants"), {{"sim.scale", 0.0}, {"sim.logit", 0.0}});
  CHECK_THAT(study_named("joma-invariants").make(rest)->warnings().at(0),
             Contains("nothing will move"));
}

TEST_CASE("tree studies: bad input is refused by name", "[studies][tree]") {
  const Study study = study_named("tree-cooccurrence");
  CHECK_THAT(refusal(study, {{"model.root_prior", List{0.5, 0.3, 0.3}}}), Contains("sum to 1"));
  CHECK_THAT(refusal(study, {{"model.root_child", List{List{0.9, 0.2}, List{0.9, 0.2}}}}),
             Contains("model.root_child"));
  CHECK_THAT(refusal(study,
                     {{"model.root_child", List{List{0.0, 0.0, 0.0}, List{0.0, 0.0, 0.0}}},
                      {"sweep.rho", List{1.0}}}),
             Contains("sweep.rho"));
  CHECK_THAT(refusal(study, {{"model.depth", 20}}), Contains("model.depth"));
  const Series one_row =
      series_of(study, {{"model.root_child", List{0.9, 0.2, 0.6}}}, "conditional_probability_root");
  CHECK(one_row.y == series_of(study, {}, "conditional_probability_root").y);

  const Study learning = study_named("tree-learning");
  CHECK_THAT(refusal(learning, {{"model.rewards", List{1.0}}}), Contains("model.rewards"));
  CHECK_THAT(refusal(learning, {{"model.root_prior", List{0.5, 0.6}}}), Contains("sum to 1"));
  CHECK_THAT(refusal(learning, {{"model.root_child", List{0.0, 0.0}}, {"model.depth", 1}}),
             Contains("sweep.rho"));

  CHECK_THAT(refusal(study_named("tree-latents"), {{"model.units", List{10}}}),
             Contains("model.units"));
  CHECK_THAT(refusal(study_named("tree-latents"), {{"model.units", List{3, 20}}}),
             Contains("model.units"));
  CHECK_THAT(refusal(study_named("tree-latents"), {{"model.children", 11}}),
             Contains("model.children"));
  CHECK_THAT(refusal(study_named("tree-latents"), {{"model.classes", 10000}}),
             Contains("model.classes"));
  CHECK_THAT(refusal(study_named("tree-latents"), {{"model.length", 3}}), Contains("model.length"));
  CHECK_THAT(refusal(study_named("tree-latents"), {{"model.heads", 3}}), Contains("model.heads"));
}

TEST_CASE("deep studies: bad input, and what follows from the data", "[studies][deep]") {
  CHECK_THAT(refusal(study_named("deep-entropy"), {{"model.heads", 5}}), Contains("model.heads"));
  CHECK_THAT(refusal(study_named("deep-width"), {{"model.heads", 2}}), Contains("model.heads"));
  CHECK_THAT(refusal(study_named("deep-entropy"), {{"model.file", "/nowhere"}}),
             Contains("model.file"));
  Configuration c = configured(study_named("deep-entropy"), {});
  static_cast<void>(study_named("deep-entropy").make(c));
  CHECK(c.integer("model.layers") == 2);
  CHECK(c.integer("model.width") == 32);

  const std::filesystem::path file = std::filesystem::temp_directory_path() / "attica-short.txt";
  std::ofstream(file) << "too short a text";
  Configuration text = configured(study_named("deep-entropy"), {{"model.file", file.string()}});
  CHECK_THROWS_WITH(study_named("deep-entropy").make(text), Contains("model.file"));
  CHECK(text.integer("model.layers") == 1);
  CHECK(text.integer("model.width") == 64);
  std::filesystem::remove(file);
  const std::string folder = std::filesystem::temp_directory_path().string();
  CHECK_THAT(refusal(study_named("deep-entropy"), {{"model.file", folder}}), Contains("no folder"));
}

TEST_CASE("joma studies: a rate too large ends as diverged, without a record if none was made",
          "[studies][joma][deep]") {
  struct Case {
    const char* study;
    Table overrides;
    bool recorded;
  };
  const Table small = {{"model.width", 8}, {"sim.batch", 4}};
  const auto with = [](Table table, const char* key, const Value& value) {
    table.emplace_back(key, value);
    return table;
  };
  for (const Case& c :
       std::vector<Case>{{"deep-entropy", with(small, "sim.steps", List{5}), false},
                         {"deep-entropy", with(small, "sim.steps", List{1}), false},
                         {"deep-entropy", with(small, "sim.steps", List{0, 5}), true},
                         {"deep-stable-rank", with(small, "sim.steps", List{5}), false},
                         {"tree-latents", with(small, "sim.steps", List{5}), false},
                         {"joma-invariants", {{"model.attention", List{"linear"}}}, false},
                         {"joma-entropy-gd", {{"sim.steps", List{1, 2}}}, false}}) {
    CAPTURE(c.study, c.recorded);
    const Study study = study_named(c.study);
    const auto experiment = made(study, with(c.overrides, "sim.eta", 1e300));
    const Outcome outcome = experiment->simulate({}).at(0);
    CHECK(outcome.failed);
    CHECK(outcome.status == "diverged");
    CHECK_THAT(outcome.message, Contains("step"));
    const bool any = std::any_of(
        outcome.series.begin(), outcome.series.end(), [](const Series& s) { return !s.x.empty(); });
    CHECK(any == c.recorded);
    // Claims look at what there is.
    if (study.claims != nullptr) {
      for (const ClaimResult& claim : study.claims(configured(study, {}), {})) {
        CHECK(claim.verdict == Verdict::inconclusive);
      }
    }
  }
}

TEST_CASE("deep studies: stopped before the first record", "[studies][deep]") {
  std::stop_source stop;
  stop.request_stop();
  for (const char* name : {"deep-entropy", "deep-stable-rank", "tree-latents"}) {
    CAPTURE(name);
    const auto experiment = made(study_named(name), {});
    for (const Outcome& outcome : experiment->simulate({.stop = stop.get_token()})) {
      CHECK(outcome.series.empty());
    }
  }
}

TEST_CASE(
    "deep-learning-rate: rank correlations of bounce and best loss, over all runs and within rates",
    "[studies][deep]") {
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

TEST_CASE("deep-entropy: a fall in every layer, and with one layer its return", "[studies][deep]") {
  // Nine runs of a curve each per layer: it falls from 2 by `fall` and ends at 2 - fall + rise.
  const auto observed = [](const std::vector<std::pair<double, double>>& layers) {
    Observed all;
    for (std::size_t l = 0; l < layers.size(); ++l) {
      const auto [fall, rise] = layers[l];
      const Point layer = {{"layer", numbered(l)}};
      ObservedCurve entropy;
      entropy.mean.name = "attention_entropy";
      entropy.mean.point = layer;
      constexpr std::size_t kRuns = 9;
      for (int k = 0; k <= 11; ++k) {
        entropy.mean.x.push_back(40.0 * k);
        entropy.mean.y.push_back(k == 0 ? 2 : k < 6 ? 2 - fall : 2 - fall + rise);
        entropy.values.emplace_back(kRuns, entropy.mean.y.back());
        entropy.replicates.push_back({0, 1, 2, 3, 4, 5, 6, 7, 8});
      }
      ObservedCurve bounce;
      bounce.mean.name = "bounce";
      bounce.mean.point = layer;
      bounce.mean.x = {0};
      bounce.mean.y = {rise / fall};
      bounce.values = {std::vector<double>(kRuns, rise / fall)};
      bounce.replicates = {entropy.replicates.front()};
      all.simulation.push_back(std::move(entropy));
      all.simulation.push_back(std::move(bounce));
    }
    return all;
  };
  const auto verdict = [](const Table& settings, const Observed& of, const std::string& name) {
    const Study study = study_named("deep-entropy");
    for (const ClaimResult& claim : study.claims(configured(study, settings), of)) {
      if (claim.name == name) return std::optional(claim.verdict);
    }
    return std::optional<Verdict>();
  };
  CHECK(verdict({}, observed({{0.05, 0.02}, {0.2, 0.1}}), "fall") == Verdict::agree);
  CHECK(verdict({}, observed({{0.05, 0.02}, {0.02, 0.1}}), "fall") == Verdict::disagree);
  CHECK_FALSE(verdict({}, observed({{0.05, 0.02}, {0.2, 0.1}}), "bounce"));
  CHECK(verdict({}, observed({{0.05, 0.02}}), "bounce") == Verdict::agree);
  CHECK(verdict({}, observed({{0.05, 0.01}}), "bounce") == Verdict::disagree);
  CHECK(verdict({}, observed({{0.02, 0.02}}), "bounce") == Verdict::disagree);
  CHECK_FALSE(verdict({{"model.heads", 4}}, observed({{0.05, 0.02}}), "bounce"));
  for (const Table& elsewhere : {Table{{"sim.eta", 1e-4}},
                                 {{"model.mask", "bidirectional"}},
                                 {{"model.width", 16}},
                                 {{"sim.lambda", 0.01}},
                                 {{"sim.steps", List{0, 200}}}}) {
    CHECK_FALSE(verdict(elsewhere, observed({{0.05, 0.02}}), "fall"));
  }
  CHECK_FALSE(verdict({}, observed({{0.05, 0.02}, {0.05, 0.02}, {0.05, 0.02}}), "fall"));
}

TEST_CASE("deep-width: what runs come to, against the width", "[studies][deep]") {
  const auto experiment =
      made(study_named("deep-width"),
           {{"sweep.width", List{2, 3}}, {"sim.steps", List{0, 1}}, {"sim.starts", 2}});
  REQUIRE(experiment->points() == 2);
  for (const std::size_t point : {0, 1}) {
    const auto width = static_cast<double>(point + 2);
    const Outcome outcome = experiment->simulate({.point = point, .stream_point = point}).at(0);
    std::size_t found = 0;
    for (const Series& s : outcome.series) {
      if (s.x_name == "step") CHECK(s.point.front().second == CoordinateValue(width));
      if (s.x_name != "width") continue;
      ++found;
      CHECK(s.x == std::vector<double>{width});
    }
    // best_loss; of the one layer bounce, rank_bounce and final_entropy; three of the start
    CHECK(found == 7);
  }
}

TEST_CASE("an integration that misses its event has failed, and says so", "[studies][joma]") {
  const auto marked = [](OdeStatus status) {
    Outcome outcome;
    OdeResult solution;
    solution.status = status;
    mark_failed(outcome, solution);
    CHECK(outcome.failed);
    CHECK_FALSE(outcome.message.empty());
    return outcome.status;
  };
  // What is "finished" or "converged" counts as well ended where a verdict is told.
  CHECK(marked(OdeStatus::finished) == "event_missed");
  CHECK(marked(OdeStatus::step_limit) == "step_limit");
  // Fewer nats than the integration tells from none are refused when a configuration is read.
  for (const Parameter& p : study_named("joma-salience").parameters) {
    if (p.key == "sweep.ell") CHECK_FALSE(p.range.contains(1e-300));
  }
}

}  // namespace joma_studies_test
