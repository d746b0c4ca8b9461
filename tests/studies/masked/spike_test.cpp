/// @file
/// @brief What masked-spike refuses, and what its theory and simulation do at the limits of its
/// parameters.

#include <catch2/catch.hpp>
#include <string>

#include "configured_study.hpp"

using namespace attica;

namespace studies_masked_spike_test {

using attica::testing::is_compared;
using attica::testing::made;

TEST_CASE("masked-spike: near the threshold nothing is compared",
          "[studies][masked][study:masked-spike]") {
  // γ = 1/2: θ_c = 0.7071.
  const auto experiment = made(study_named("masked-spike"), {{"sweep.theta", List{0.3, 0.8, 2.0}}});
  CHECK_FALSE(experiment->warnings().empty());
  for (const Prediction& p : experiment->theory(TheoryGrid::requested).predictions) {
    if (p.series.x_name != "theta") continue;
    INFO(p.series.name);
    CHECK_FALSE(is_compared(p, 1));
    CHECK(is_compared(p, 2));
    const bool eigenvalue = p.series.name.find("outlier") != std::string::npos;
    CHECK(is_compared(p, 0) != eigenvalue);
  }
}

}  // namespace studies_masked_spike_test
