/// @file
/// @brief What gauss-overlaps refuses, and what its theory and simulation do at the limits of its
/// parameters.

#include <catch2/catch.hpp>

#include "configured_study.hpp"

using namespace attica;

namespace studies_gauss_overlaps_test {

using attica::testing::made;

TEST_CASE("gauss-overlaps: q - 2 m + variance is the test error of gauss-double-descent",
          "[studies][study:gauss-double-descent][study:gauss-overlaps]") {
  const Table overrides{{"model.sites", 8},
                        {"sweep.alpha", List{2.0}},
                        {"sweep.lambda", List{0.1}},
                        {"sim.data_sets", 2}};
  const Piece piece{.replicates = 3, .seed = 7};
  const auto errors = made(study_named("gauss-double-descent"), overrides)->simulate(piece);
  const auto overlaps = made(study_named("gauss-overlaps"), overrides)->simulate(piece);
  for (std::size_t r = 0; r < 3; ++r) {
    const double m = overlaps[r].series[0].y[0];
    const double q = overlaps[r].series[1].y[0];
    // Equal data sets, and the variance of every site of ar1 is 1.
    CHECK_THAT(1 - 2 * m + q, Catch::WithinRel(errors[r].series[0].y[0], 1e-12));
  }
}

}  // namespace studies_gauss_overlaps_test
