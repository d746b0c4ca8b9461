// Properties of every study of the registry that take long: its theories, its simulation.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include "attica/studies/expected_points.hpp"
#include "attica/studies/study.hpp"
#include "attica/studies/used_with.hpp"
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
                                              "sim.clone_length",
                                              "sim.factored_length",
                                              "sim.clone_windows",
                                              "sim.share_fit_length",
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

}  // namespace

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
    // Who marks points as not compared says where and why.
    const bool all = std::find(p.compared.begin(), p.compared.end(), false) == p.compared.end();
    CHECK((all || !study.not_compared.empty()));
  }
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  CHECK(seconds < kPatience);
  if (seconds > 1) WARN(study.name << ' ' << preset.name << ": theory takes " << seconds << " s");
}

/// A sweep of a scalar that the study does not know, which a run makes an experiment of each value
/// of, at the first of them.
Table first_of_sweeps(const Study& study, Table values) {
  const auto known = [&](const std::string& key) {
    return std::ranges::any_of(study.parameters, [&](const Parameter& p) { return p.key == key; });
  };
  const std::string sweep = "sweep.";
  for (auto& [key, value] : values) {
    if (known(key) || !key.starts_with(sweep)) continue;
    const std::string name = key.substr(sweep.size());
    key = (known("model." + name) ? "model." : "sim.") + name;
    value = Value(std::get<List>(value).front());
  }
  return values;
}

TEST_CASE("every study: all presets and reference_runs can be made, and their theory answers",
          "[studies][slow][study:bigrams-"
          "softmax][study:gauss-"
          "sgd]["
          "study:icl-diversity][study:positional-"
          "phase]") {
  // Theories of these take more than two seconds at paper size: theirs are asked below.
  const std::set<std::string> long_ones{"bigrams-large",
                                        "bigrams-regularisation",
                                        "bigrams-softmax",
                                        "bigrams-vocabulary",
                                        "body4-stairs",
                                        "deep-learning-rate",
                                        "gauss-flow",
                                        "gauss-lambda",
                                        "gauss-sgd",
                                        "gauss-sgd-data",
                                        "gauss-teacher",
                                        "icl-alignment",
                                        "icl-context",
                                        "icl-diversity",
                                        "icl-double-descent",
                                        "init-attention",
                                        "init-trainability",
                                        "joma-overlap",
                                        "masked-resampling-unit",
                                        "positional-phase",
                                        "potts-flow",
                                        "potts-learning",
                                        "potts-loss-flow",
                                        "potts-softmax-flow",
                                        "potts-square",
                                        "topics-two-stage-deep",
                                        "tree-filtered-floors",
                                        "tree-filtered-flow"};
  for (const Study& study : studies()) {
    for (const Preset& preset : study.presets) {
      INFO(study.name << ' ' << preset.name);
      // A run that names no preset is the quick one.
      if (preset.name == "quick") CHECK(preset.values.empty());
      const std::unique_ptr<Experiment> experiment = made(study, preset.values);
      REQUIRE(experiment != nullptr);
      // What a run would refuse, it would refuse here.
      CHECK_NOTHROW(experiment->require_simulable());
      // Those of quick presets are asked in tests/agreement, which runs them.
      const bool later = preset.name == "paper" && long_ones.contains(study.name);
      if (preset.name != "quick" && !later) check_theory(study, preset);
    }
    for (const ReferenceRun& reference_run : study.reference_runs) {
      INFO(study.name << ' ' << reference_run.name);
      if (reference_run.fetched) {  // the file may not be there
        CHECK(std::ranges::count(reference_run.values, "model.file", [](const auto& v) {
                return std::string_view(v.first);
              }) == 1);
        continue;
      }
      Table values;
      for (const Preset& preset : study.presets) {
        if (preset.name == reference_run.preset) values = preset.values;
      }
      values.insert(values.end(), reference_run.values.begin(), reference_run.values.end());
      CHECK(made(study, first_of_sweeps(study, values)) != nullptr);
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

/// What claims say of the theory and of two replicates like the first of every point; of one series
/// as many as are left.
std::string claimed(const Study& study,
                    const Configuration& c,
                    const std::vector<Prediction>& theory,
                    const std::vector<std::vector<Outcome>>& outcomes,
                    const std::string& without = {},
                    std::size_t left = 0) {
  constexpr std::size_t kReplicates = 2;
  Observed observed;
  for (const Prediction& p : theory) {
    if (p.series.name != without) observed.theory.push_back(p);
  }
  for (const std::vector<Outcome>& of_point : outcomes) {
    for (const Series& series : of_point.front().series) {
      const std::size_t count = series.name == without ? left : kReplicates;
      if (count == 0) continue;
      ObservedCurve curve{.mean = series, .values = {}, .replicates = {}};
      for (const double y : series.y) {
        curve.values.emplace_back(count, y);
        curve.replicates.emplace_back();
        for (std::size_t r = 0; r < count; ++r) curve.replicates.back().push_back(r);
      }
      observed.simulation.push_back(std::move(curve));
    }
  }
  std::string text;
  for (const ClaimResult& claim : study.claims(c, observed)) {
    text += claim.name + ' ' + claim.statement + ' ' + claim.detail + '\n';
  }
  return text;
}

/// What the theory and the simulation yield has words, and is drawn, judged or said to be
/// diagnostic.
void check_words(const Study& study,
                 const std::set<std::string>& seen,
                 const std::vector<Prediction>& theory,
                 const std::vector<std::vector<Outcome>>& outcomes) {
  const Configuration c = configured(study, {});
  std::set<std::string> used;
  const Figure figure = study.figure(c);
  for (const Panel& panel : figure.panels) {
    for (const Layer& layer : panel.layers) used.insert(layer.series);
    used.insert(panel.recorded_marks.begin(), panel.recorded_marks.end());
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
    // A table from which rows were taken on purpose has open claims or an error, not a crash.
    std::string rest;
    try {
      if (study.claims != nullptr) {
        static_cast<void>(claimed(study, c, theory, outcomes, name, 1));
        rest = claimed(study, c, theory, outcomes, name);
      }
    } catch (const Error& error) {
      CHECK_THAT(error.what(), Catch::Contains("series"));
    }
    if (used.count(name) != 0) continue;
    // What is neither drawn nor compared serves a claim, or is said to be diagnostic.
    REQUIRE(study.claims != nullptr);
    CHECK(claimed(study, c, theory, outcomes) != rest);
  }
}

/// Whether a parameter is a learning rate: "eta" between dots and underscores of its key.
bool is_rate(const Parameter& p) {
  const std::string padded = '_' + p.key + '_';
  for (std::size_t at = padded.find("eta"); at != std::string::npos;
       at = padded.find("eta", at + 1)) {
    const auto ends = [](char c) { return c == '.' || c == '_'; };
    if (ends(padded[at - 1]) && ends(padded[at + 3])) return p.type == ParameterType::real;
  }
  return false;
}

TEST_CASE("every study: a rate of 10^300 is refused by name, or diverges", "[studies][slow]") {
  // Their rate is the largest that may be used: they lower it to what the growth of a step allows.
  const std::set<std::string> lower_it{"topics-onset", "topics-mode-growth"};
  constexpr double kHuge = 1e300;
  int tried = 0;
  for (const Study& study : studies()) {
    for (const Parameter& p : study.parameters) {
      if (!is_rate(p) || !p.range.contains(kHuge)) continue;
      INFO(study.name << ' ' << p.key);
      ++tried;
      Table values = short_training(study);
      values.push_back({p.key, p.list ? Value(List{kHuge}) : Value(kHuge)});
      std::unique_ptr<Experiment> experiment;
      try {
        experiment = made(study, values);
        experiment->require_simulable();
      } catch (const Error& error) {
        CHECK(error.kind() == ErrorKind::input);
        CHECK_THAT(error.what(), Catch::Contains("eta"));
        continue;
      }
      // Some points have another rate.
      bool diverged = lower_it.count(study.name) != 0;
      for (std::size_t point = 0; point < experiment->points(); ++point) {
        try {
          const Outcome outcome = experiment->simulate(piece_of(point, 0, 1)).front();
          for (const Series& series : outcome.series) {
            INFO(series.name);
            CHECK(std::ranges::all_of(series.y, [](double y) { return std::isfinite(y); }));
          }
          diverged = diverged || outcome.status == "diverged";
        } catch (const Error& error) {  // of what is fitted before the training
          CHECK(error.kind() == ErrorKind::numerical);
          CHECK_THAT(error.what(), Catch::Contains("diverged"));
          diverged = true;
        }
      }
      CHECK(diverged);
    }
  }
  CHECK(tried > 30);
}

/// The series that the quick settings compare, controls apart.
std::set<std::string> compared_series(const Study& study) {
  std::set<std::string> compared;
  const std::map<std::string, ExpectedPoints> presets = expected_points(study.name);
  const ExpectedPoints& quick = presets.at("quick");
  for (const AgreementRule& rule : study.agreement(configured(study, {}))) {
    const auto points = quick.find(rule.series);
    if (!rule.control && points != quick.end() && points->second > 0) compared.insert(rule.series);
  }
  return compared;
}

/// What a replicate of every point has of them.
std::string simulated(const Experiment& experiment, const std::set<std::string>& series) {
  std::string text;
  for (std::size_t point = 0; point < experiment.points(); ++point) {
    Outcome outcome = experiment.simulate(piece_of(point, 0, 1)).front();
    std::erase_if(outcome.series, [&](const Series& s) { return !series.contains(s.name); });
    text += written(outcome);
  }
  return text;
}

/// Whether one of them is compared after the start, or along the learning rate, by the theory's own
/// axis.
bool compared_later(const Experiment& experiment, const std::set<std::string>& series) {
  for (const Prediction& p : experiment.theory(TheoryGrid::run).predictions) {
    if (!series.contains(p.series.name)) continue;
    if (p.series.x_name == "rate_ratio") return true;
    if (p.series.x_name != "step" && p.series.x_name != "time") continue;
    for (std::size_t k = 0; k < p.series.x.size(); ++k) {
      if (p.series.x[k] > 0 && (p.compared.empty() || p.compared[k])) return true;
    }
  }
  return false;
}

// The start and the data are no result of training: what is compared of them are controls, and the
// verdict is that of the claims.
TEST_CASE("every study: no AGREE by what is known before the first step", "[studies][slow]") {
  int trained = 0;
  int claiming = 0;
  for (const Study& study : studies()) {
    const auto rate = std::ranges::find_if(study.parameters, [](const Parameter& p) {
      return is_rate(p) && p.key.starts_with("sim.") && !p.list && p.fallback;
    });
    const bool by_steps = std::ranges::any_of(study.parameters, [](const Parameter& p) {
      return p.key == "sim.steps" || p.key == "sim.length" || p.key.ends_with("_length");
    });
    if (rate == study.parameters.end() || !by_steps) continue;
    if (used_with(*rate, study.parameters) != nullptr) continue;  // trains in another variant
    INFO(study.name << ' ' << rate->key);
    const std::set<std::string> series = compared_series(study);
    if (series.empty()) {
      ++claiming;
      continue;
    }
    const std::unique_ptr<Experiment> experiment = made_short(study);
    if (compared_later(*experiment, series)) continue;
    ++trained;
    Table values = short_training(study);
    values.push_back({rate->key, 0.5 * std::get<double>(*rate->fallback)});
    std::unique_ptr<Experiment> slower;
    try {
      slower = made(study, values);
    } catch (const Error&) {  // as made_short
      slower = made(study, {values.back()});
    }
    CHECK(simulated(*slower, series) != simulated(*experiment, series));
  }
  CHECK(trained > 2);
  CHECK(claiming > 2);
}

/// Stopped at any moment, the first replicate carries on from what it has kept to what it was
/// without a stop.
void check_stops(const Study& study, const Experiment& experiment, const Outcome& undisturbed) {
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
    CHECK_NOTHROW(experiment.simulate(piece));
  }
  if (!std::filesystem::exists(kept)) return;
  piece.stop = {};
  CHECK(written(experiment.simulate(piece).front()) == written(undisturbed));
  std::filesystem::remove(kept);
}

TEST_CASE("every study: has words for what it yields, may be cut into pieces, and may be stopped",
          "[studies][slow]") {
  for (const Study& study : studies()) {
    INFO(study.name);
    const std::unique_ptr<Experiment> experiment = made_short(study);
    std::set<std::string> seen;
    const std::vector<Prediction> theory = experiment->theory(TheoryGrid::run).predictions;
    for (const Prediction& p : theory) seen.insert(p.series.name);
    std::vector<std::vector<Outcome>> outcomes;  // of every point; two replicates of the last
    for (std::size_t point = 0; point < experiment->points(); ++point) {
      const bool last = point + 1 == experiment->points();
      outcomes.push_back(experiment->simulate(piece_of(point, 0, last ? 2 : 1)));
      for (const Series& s : outcomes.back().front().series) seen.insert(s.name);
    }
    check_words(study, seen, theory, outcomes);
    if (outcomes.empty()) continue;
    // Another experiment, the second replicate alone: nothing is left over from the first.
    const std::size_t last = outcomes.size() - 1;
    CHECK(experiment->replicates_per_piece(last) >= 1);
    const std::vector<Outcome> second = made_short(study)->simulate(piece_of(last, 1, 1));
    REQUIRE(outcomes.back().size() == 2);
    REQUIRE(second.size() == 1);
    CHECK(written(second.front()) == written(outcomes.back()[1]));
    check_stops(study, *experiment, outcomes.front().front());
  }
}

}  // namespace attica
