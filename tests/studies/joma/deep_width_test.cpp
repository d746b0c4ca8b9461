/// @file
/// @brief What deep-width refuses, and what its theory and simulation do at the limits of its
/// parameters.

#include <catch2/catch.hpp>
#include <vector>

#include "configured_study.hpp"

using namespace attica;

namespace studies_joma_deep_width_test {

using attica::testing::made;

TEST_CASE("deep-width: what runs come to, against the width", "[studies][deep][study:deep-width]") {
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

}  // namespace studies_joma_deep_width_test
