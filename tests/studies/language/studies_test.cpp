#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "configured_study.hpp"

using namespace attica;
using attica::testing::made;
using attica::testing::refusal;
using Catch::Contains;

namespace {

/// A file of the test's own with that content.
class TextFileFor {
 public:
  TextFileFor(const std::string& name, const std::string& content)
      : path_(std::filesystem::temp_directory_path() / name) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  TextFileFor(const TextFileFor&) = delete;
  TextFileFor& operator=(const TextFileFor&) = delete;
  ~TextFileFor() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

std::string refused_text(const std::string& study, const std::string& content) {
  const TextFileFor file("attica_language_test.txt", content);
  return refusal(study_named(study), {{"model.file", file.path()}});
}

}  // namespace

TEST_CASE("language: what is no text is refused before any work", "[studies][language]") {
  for (const std::string study : {"language-clones", "language-orders"}) {
    CAPTURE(study);
    CHECK_THAT(refused_text(study, ""), Contains("model.file"));
    CHECK_THAT(refused_text(study, "word\n"), Contains("model.file"));
    CHECK_THAT(refused_text(study, "aaaa aaaa\n"), Contains("two different"));
    CHECK_THAT(refused_text(study, std::string("\xff\xfe\x54\x00\x68\x00", 6)), Contains("UTF-16"));
    std::string binary(5000, ' ');
    for (std::size_t k = 0; k < binary.size(); ++k) binary[k] = static_cast<char>(k % 255 + 1);
    CHECK_THAT(refused_text(study, binary), Contains("UTF-8"));
    CHECK_THAT(refusal(study_named(study), {{"model.file", "nowhere.txt"}}),
               Contains("model.file"));
  }
}

TEST_CASE("language: parameters out of their domain are refused by name", "[studies][language]") {
  for (const std::string name : {"language-clones", "language-orders"}) {
    CAPTURE(name);
    const Study study = study_named(name);
    CHECK_THAT(refusal(study, {{"model.chain_orders", List{1, 2, 2}}}),
               Contains("model.chain_orders") && Contains("once"));
    CHECK_THAT(refusal(study, {{"model.chain_orders", List{6}}}),
               Contains("model.chain_orders") && Contains("2^24"));
    CHECK_THAT(refusal(study, {{"model.chain_orders", List{1, 4}}, {"model.sites", 3}}),
               Contains("model.chain_orders") && Contains("model.sites"));
    CHECK_THAT(refusal(study,
                       {{"model.symbols", "words"},
                        {"model.vocabulary", 1000},
                        {"model.chain_orders", List{1, 2}}}),
               Contains("model.vocabulary"));
  }
  const Study orders = study_named("language-orders");
  CHECK_THAT(refusal(orders, {{"sim.heads", 7}}), Contains("sim.heads"));
  CHECK_THAT(refusal(orders, {{"sim.share_steps", List{5000}}}),
             Contains("sim.share_steps") && Contains("sim.length"));
}

TEST_CASE("language: words, and texts of other alphabets", "[studies][language]") {
  const Study study = study_named("language-clones");
  const auto words = made(
      study,
      {{"model.symbols", "words"}, {"model.vocabulary", 20}, {"model.chain_orders", List{1, 2}}});
  CHECK(words->theory(TheoryGrid::requested).predictions.size() == 3);
  std::string greek;
  for (int k = 0; k < 100; ++k) greek += "ἐν ἀρχῇ ἦν ὁ λόγος καὶ ὁ λόγος ἦν πρὸς τὸν θεόν\n";
  const TextFileFor file("attica_language_greek.txt", greek);
  const auto letters =
      made(study, {{"model.file", file.path()}, {"model.chain_orders", List{1, 2}}});
  const TheoryResult theory = letters->theory(TheoryGrid::requested);
  for (const Prediction& p : theory.predictions) {
    for (const double y : p.series.y) CHECK(y > 0);
  }
}

TEST_CASE("language-orders: a run too short for a crossing leaves it open, and diverging fails",
          "[studies][language]") {
  const Study study = study_named("language-orders");
  const Table small = {{"sim.length", 8},
                       {"sim.share_steps", List{4}},
                       {"sim.clone_steps", 10},
                       {"sim.share_windows", 200},
                       {"sim.share_fit_steps", 10},
                       {"sim.test_windows", 200},
                       {"sim.clone_windows", 50},
                       {"sim.gibbs_sweeps", 1}};
  Configuration c = testing::configured(study, small);
  const auto experiment = study.make(c);
  Observed observed;
  for (const Outcome& outcome : experiment->simulate({.seed = 1})) {
    CHECK_FALSE(outcome.failed);
    for (const Series& s : outcome.series) {
      ObservedCurve curve{.mean = s, .values = {}, .replicates = {}};
      for (const double y : s.y) {
        curve.values.push_back({y});
        curve.replicates.push_back({0});
      }
      observed.simulation.push_back(curve);
    }
  }
  bool open = false;
  for (const ClaimResult& claim : study.claims(c, observed)) {
    CAPTURE(claim.name);
    if (claim.name == "crossings" || claim.name == "pairs-first") {
      CHECK(claim.verdict == Verdict::inconclusive);
      CHECK_THAT(claim.detail, Contains("sim.length = 8"));
      open = true;
    }
    if (claim.name == "bound") CHECK(claim.verdict == Verdict::agree);
  }
  CHECK(open);

  Table wild = small;
  wild.emplace_back("sim.eta", 1e30);
  const auto diverging = made(study, wild);
  const std::vector<Outcome> outcomes = diverging->simulate({.seed = 1});
  CHECK(outcomes.front().failed);
  CHECK_THAT(outcomes.front().message, Contains("step"));
}

TEST_CASE("language-orders: claims tell the order of events from the exchanged one",
          "[studies][language]") {
  const Study study = study_named("language-orders");
  const Configuration c = testing::configured(study, {});
  const auto verdict = [&](const std::vector<double>& times) {
    Observed observed;
    for (std::size_t n = 0; n < times.size(); ++n) {
      const Point point{{"clone", "chain-" + std::to_string(n + 1)}};
      for (const std::string name : {"saturation_time", "crossing_time"}) {
        ObservedCurve curve{
            .mean = {.name = name, .point = point, .x_name = "none", .x = {0}, .y = {times[n]}},
            .values = {{}},
            .replicates = {{}}};
        for (std::uint64_t r = 0; r < 5; ++r) {
          curve.values[0].push_back(times[n] + static_cast<double>(r));
          curve.replicates[0].push_back(r);
        }
        observed.simulation.push_back(curve);
      }
    }
    std::vector<Verdict> verdicts;
    for (const ClaimResult& claim : study.claims(c, observed)) verdicts.push_back(claim.verdict);
    return verdicts;
  };
  // Saturation, crossings, and the pair share, of which nothing was recorded.
  const Verdict open = Verdict::inconclusive;
  CHECK(verdict({10, 100, 1000}) == std::vector{Verdict::agree, Verdict::agree, open});
  CHECK(verdict({100, 10, 1000}) == std::vector{Verdict::disagree, Verdict::disagree, open});
}
