/// @file
/// @brief What potts-flow refuses, and what its theory and simulation do at the limits of its
/// parameters.

#include <catch2/catch.hpp>

#include "configured_study.hpp"
#include "refused.hpp"

using namespace attica;

namespace studies_potts_flow_test {

using attica::testing::made;
using attica::testing::refused;

TEST_CASE("potts-flow: a rate without a step up to the last time is refused",
          "[studies][potts][study:potts-flow]") {
  const auto flow = [](double eta) {
    return refused([&] { made(study_named("potts-flow"), {{"sim.eta", eta}}); });
  };
  CHECK(flow(1e9) == "sim.eta");
  CHECK(flow(1e300) == "sim.eta");
  CHECK(flow(1e-300) == "sim.eta");
  CHECK(flow(300) == "accepted");
}

TEST_CASE("potts studies: replicates depend on their number alone",
          "[studies][potts][study:potts-flow]") {
  const auto flow = made(study_named("potts-flow"), {{"sim.times", List{0.0, 5.0}}});
  const Piece both{.first_replicate = 3, .replicates = 2, .seed = 1};
  const Piece last{.first_replicate = 4, .replicates = 1, .seed = 1};
  CHECK(flow->simulate(both)[1].series[0].y == flow->simulate(last)[0].series[0].y);
  CHECK(flow->simulate(both)[0].series[0].y != flow->simulate(last)[0].series[0].y);
}

}  // namespace studies_potts_flow_test
