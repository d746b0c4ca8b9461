#pragma once
/// @file
/// @brief A study whose theory holds within a circle, for maps of where it does.

#include <catch2/catch.hpp>
#include <filesystem>

#include "app/toy_study.hpp"
#include "attica/app/verbs/verbs.hpp"

namespace toy {

using namespace attica;

/// A theory that says 1 where the simulation says 1 + (a^2 + b^2)/9: with a margin of 5 % it agrees
/// within a circle of a^2 + b^2 = 0.45, which passes no place of the grids below closer than 0.003,
/// many times the error of a mean. Beyond a = 1.5 there is no such problem.
class Bowl : public attica::Experiment {
 public:
  explicit Bowl(const Configuration& c) : a_(c.real("model.a")), b_(c.real("model.b")) {
    require(a_ <= 1.5, "model.a", a_, "a <= 1.5");
  }
  TheoryResult theory(TheoryGrid) const override {
    return {.predictions = {{.series = {"y", {}, "x", {1}, {1}}}}};
  }
  std::size_t points() const override { return 1; }
  std::uint64_t replicates_per_piece(std::size_t) const override { return 10; }
  std::vector<Outcome> simulate(const Piece& piece) const override {
    ++simulated();
    std::vector<Outcome> all;
    for (std::uint64_t r = piece.first_replicate; r < piece.first_replicate + piece.replicates;
         ++r) {
      RandomStream stream({.seed = piece.seed, .point = piece.stream_point, .replicate = r});
      Outcome outcome;
      outcome.series.push_back(
          {"y", {}, "x", {1}, {1 + (a_ * a_ + b_ * b_) / 9 + 1e-6 * stream.normal()}});
      all.push_back(std::move(outcome));
    }
    return all;
  }
  static std::atomic<int>& simulated() {
    static std::atomic<int> count{0};
    return count;
  }

 private:
  double a_;
  double b_;
};

inline std::vector<Study> bowl() {
  Study study = toy::study();
  study.name = "toy-bowl";
  study.parameters = {{.key = "model.a",
                       .type = ParameterType::real,
                       .fallback = Value(0.0),
                       .meaning = "a",
                       .range = {.low = -2, .high = 2}},
                      {.key = "model.b",
                       .type = ParameterType::real,
                       .fallback = Value(0.0),
                       .meaning = "b",
                       .range = {.low = -2, .high = 2}},
                      {.key = "model.word",
                       .type = ParameterType::text,
                       .fallback = Value("red"),
                       .meaning = "colour"}};
  study.presets = {};
  study.renamed = {};
  study.make = [](Configuration& c) -> std::unique_ptr<attica::Experiment> {
    return std::make_unique<Bowl>(c);
  };
  study.agreement = [](const Configuration&) {
    return std::vector<AgreementRule>{{.series = "y", .relative = 0.05}};
  };
  return {study};
}

inline app::Options map_options(const Folder& folder) {
  app::Options options;
  options.target = "toy-bowl";
  options.x = "model.a=-2..2:5";
  options.y = "model.b=-2..2:5";
  options.depth = 1;
  options.overrides = {{"--replicates 10", "sim.replicates=10"}};
  options.out = (folder / "maps").string();
  options.quiet = true;
  options.formats = {"svg"};
  return options;
}

inline std::filesystem::path only_folder(const std::filesystem::path& parent) {
  std::vector<std::filesystem::path> all;
  for (const auto& entry : std::filesystem::directory_iterator(parent)) all.push_back(entry.path());
  REQUIRE(all.size() == 1);
  return all.front();
}

}  // namespace toy
