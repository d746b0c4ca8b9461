#pragma once
// A study small enough to know every number of: y(x) = a x, observed with a replicate-dependent
// shift.

#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "attica/core/error.hpp"
#include "attica/core/random.hpp"
#include "attica/studies/study.hpp"

namespace toy {

/// How often every (stream point, replicate) was simulated, and what to do to misbehave.
struct Log {
  std::mutex mutex;
  std::map<std::pair<std::uint64_t, std::uint64_t>, int> done;
  std::atomic<std::int64_t> throw_at{-1};  ///< stream point whose simulation throws
  std::atomic<int> milliseconds{0};        ///< time of a piece
  std::atomic<bool> told{false};           ///< says that later points take longer
  std::atomic<int> prepared{0};            ///< experiments, before
  std::vector<std::size_t> points = {};    ///< of pieces, as they are simulated
};
inline Log& log() {
  static Log instance;
  return instance;
}

class Experiment : public attica::Experiment {
 public:
  explicit Experiment(const attica::Configuration& c)
      : slope_(c.real("model.a")), x_(c.reals("sweep.x")) {}

  attica::TheoryResult theory(attica::TheoryGrid) const override {
    attica::Prediction p{.series = {.name = "y", .point = {}, .x_name = "x", .x = x_, .y = {}}};
    for (const double x : x_) p.series.y.push_back(slope_ * x);
    return {.predictions = {p}};
  }
  std::size_t points() const override { return x_.size(); }
  void require_simulable() const override {
    attica::require(slope_ < 10, "model.a", slope_, "a < 10 to simulate it");
  }
  std::uint64_t replicates_per_piece(std::size_t) const override { return 3; }
  double relative_work(std::size_t point) const override {
    return log().told ? static_cast<double>(point + 1) : 0;
  }
  void prepare() const override { ++log().prepared; }
  std::vector<attica::Outcome> simulate(const attica::Piece& piece) const override {
    if (log().throw_at == static_cast<std::int64_t>(piece.stream_point)) {
      throw attica::Error(attica::ErrorKind::numerical, "toy breaks down");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(log().milliseconds));
    {
      const std::lock_guard guard(log().mutex);
      log().points.push_back(piece.point);
    }
    std::vector<attica::Outcome> outcomes;
    for (std::uint64_t r = piece.first_replicate; r < piece.first_replicate + piece.replicates;
         ++r) {
      attica::RandomStream stream(
          {.seed = piece.seed, .point = piece.stream_point, .replicate = r});
      const double x = x_[piece.point];
      attica::Outcome outcome;
      outcome.series.push_back({"y", {}, "x", {x}, {slope_ * x * (1 + 0.01 * stream.normal())}});
      outcomes.push_back(outcome);
      const std::lock_guard guard(log().mutex);
      ++log().done[{piece.stream_point, r}];
    }
    return outcomes;
  }

 private:
  double slope_;
  std::vector<double> x_;
};

inline attica::Study study() {
  using attica::List;
  using attica::ParameterType;
  using attica::Value;
  return {
      .name = "toy-line",
      .question = "Is a line straight?",
      .approximation = "nothing",
      .parameters = {{.key = "model.a",
                      .type = ParameterType::real,
                      .fallback = Value(2.0),
                      .meaning = "slope",
                      .range = {.low = 0, .high = 10, .low_open = true}},
                     {.key = "model.word",
                      .type = ParameterType::text,
                      .fallback = Value("red"),
                      .meaning = "colour",
                      .choices = {"red", "green"}},
                     {.key = "model.note",
                      .type = ParameterType::text,
                      .fallback = Value(""),
                      .meaning = "any text"},
                     {.key = "model.flag",
                      .type = ParameterType::flag,
                      .fallback = Value(false),
                      .meaning = "a switch"},
                     {.key = "sim.steps",
                      .type = ParameterType::integer,
                      .fallback = Value(std::int64_t{10}),
                      .meaning = "number of steps",
                      .range = {.low = 1, .high = 1000}},
                     {.key = "sweep.x",
                      .type = ParameterType::real,
                      .fallback = Value(List{1.0, 2.0, 3.0}),
                      .meaning = "abscissa",
                      .list = true,
                      .range = {.low = 0}}},
      .series = {{"y", "y", "ordinate"}},
      .presets = {{"steep", "a = 5", {{"model.a", 5.0}}}},
      .sources = {},
      .make = [](attica::Configuration& c) -> std::unique_ptr<attica::Experiment> {
        return std::make_unique<Experiment>(c);
      },
      .figure =
          [](const attica::Configuration&) {
            return attica::Figure{"toy", {}, 1, ""};
          },
      .agreement =
          [](const attica::Configuration&) { return std::vector<attica::AgreementRule>{{"y"}}; },
      .renamed = {{"model.slope", "model.a"}, {"sim.abscissa", "sweep.x"}},
  };
}

inline const std::vector<attica::Study>& registry() {
  static const std::vector<attica::Study> all{study()};
  return all;
}

/// A folder of its own for a test, gone afterwards.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "attica-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }
  /// Writes a file and returns its path.
  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
    return (path_ / name).string();
  }

 private:
  std::filesystem::path path_;
};

/// The message of the attica::Error that `f` throws; "(no error)" if it does not.
template <class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const attica::Error& error) {
    return error.what();
  }
  return "(no error)";
}

}  // namespace toy
