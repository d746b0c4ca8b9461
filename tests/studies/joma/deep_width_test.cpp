/// @file
/// @brief What deep-width refuses, and what its theory and simulation do at the limits of its
/// parameters.

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "configured_study.hpp"

using namespace attica;

namespace studies_joma_deep_width_test {

using attica::testing::made;

TEST_CASE("deep-width: what runs come to, against the width", "[studies][deep][study:deep-width]") {
  const auto experiment =
      made(study_named("deep-width"),
           {{"sweep.width", List{2, 3}}, {"sim.steps", List{0, 1}}, {"sim.starts", 2}});
  // After them the small networks of two widths, and all slopes.
  REQUIRE(experiment->points() == 5);
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

TEST_CASE("deep-width: small networks, the mean of their runs from one start",
          "[studies][deep][study:deep-width]") {
  const auto experiment = [](std::int64_t runs) {
    return made(study_named("deep-width"),
                {{"sweep.width", List{2}},
                 {"model.small_depth", 2},
                 {"model.small_width", List{4}},
                 {"sim.small_steps", List{0, 3}},
                 {"sim.small_runs", runs},
                 {"theory.pairs", 2}});
  };
  const auto losses = [](const Experiment& e, std::uint64_t replicate) {
    const Piece piece{.point = 1, .stream_point = 1, .first_replicate = replicate, .seed = 1};
    const std::vector<Outcome> outcomes = e.simulate(piece);
    for (const Series& s : outcomes.at(0).series) {
      if (s.name == "loss") return s.y;
    }
    return std::vector<double>();
  };
  const auto single = experiment(1);
  const auto pair = experiment(2);
  const std::vector<double> first = losses(*single, 2);
  const std::vector<double> second = losses(*single, 3);
  const std::vector<double> mean = losses(*pair, 1);
  REQUIRE(mean.size() == 2);
  CHECK(first[0] == second[0]);
  CHECK(first[1] != second[1]);
  CHECK(mean[1] == Approx((first[1] + second[1]) / 2).epsilon(1e-12));
  // The start is the same number on both sides.
  const auto theory = attica::testing::curves_of(single->theory(TheoryGrid::requested), "loss");
  REQUIRE(theory.size() == 1);
  CHECK(theory[0].y[0] == Approx(first[0]).epsilon(1e-5));
  CHECK(attica::testing::refusal(
            study_named("deep-width"),
            {{"model.small_width", List{3}}, {"model.heads", 2}, {"sweep.width", List{2}}})
            .find("model.small_width") != std::string::npos);
}

}  // namespace studies_joma_deep_width_test
