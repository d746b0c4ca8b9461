/// @file
/// @brief What potts-flow refuses, and what its theory and simulation do at the limits of its
/// parameters.

#include <catch2/catch.hpp>

#include "configured_study.hpp"
#include "refused.hpp"

using namespace attica;

namespace studies_potts_flow_test {

using attica::testing::curves_of;
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

/// Excess loss at t = 20, where the network leaves the start's saddle point.
double excess_at(const std::string& level, double eta) {
  const auto flow = made(
      study_named("potts-flow"),
      {{"sim.times", List{20.0}}, {"sim.eta", eta}, {"theory.level", level}, {"theory.hold", 20}});
  return curves_of(flow->theory(TheoryGrid::requested), "excess_loss").at(0).y.at(0);
}

TEST_CASE("potts-flow: descent at its rate comes to gradient flow in proportion to the rate",
          "[studies][potts][study:potts-flow]") {
  const double limit = excess_at("flow", 0.5);
  CHECK(excess_at("flow", 0.25) == Approx(limit).epsilon(1e-8));
  const double coarse = excess_at("steps", 0.1) - limit;
  const double fine = excess_at("steps", 0.05) - limit;
  CHECK(coarse > 1e-4);
  CHECK(coarse / fine == Approx(2).epsilon(0.05));
}

TEST_CASE("potts-flow: batches lift the loss as the rate over their size", "[studies][potts]") {
  const double steps = excess_at("steps", 0.1);
  CHECK(excess_at("batches", 0.1) > steps);
  CHECK(excess_at("batches", 0.1) < steps + 1e-3);
}

TEST_CASE("potts-flow: a theory of too many steps is refused", "[studies][potts]") {
  const auto parameter = [](const std::string& level) {
    return refused([&] {
      made(study_named("potts-flow"),
           {{"model.sites", 10}, {"sim.eta", 1e-3}, {"theory.level", level}});
    });
  };
  CHECK(parameter("batches") == "sim.eta");
  CHECK(parameter("flow") == "accepted");
}

TEST_CASE("potts-flow: the seed of a start that is not random is refused", "[studies][potts]") {
  const auto parameter = [](const Table& overrides) {
    return refused([&] { (void)made(study_named("potts-flow"), overrides); });
  };
  CHECK(parameter({{"model.init_seed", 2}}) == "accepted");
  CHECK(parameter({{"sim.initialisation", "deterministic"}}) == "accepted");
  // At its default, as in what `attica init` writes.
  CHECK(parameter({{"sim.initialisation", "deterministic"}, {"model.init_seed", 1}}) == "accepted");
  CHECK(parameter({{"sim.initialisation", "deterministic"}, {"model.init_seed", 2}}) ==
        "model.init_seed");
}

TEST_CASE("potts-flow, body4-msd: the start is that of its own seed", "[studies][potts]") {
  for (const char* name : {"potts-flow", "body4-msd"}) {
    CAPTURE(name);
    const auto first = [&](std::int64_t init_seed, std::int64_t seed) {
      Table overrides{{"model.init_seed", init_seed}, {"sim.seed", seed}, {"theory.rank", 2}};
      if (std::string(name) == "potts-flow") {
        overrides.emplace_back("sim.times", List{0.0, 0.025});
      } else {
        overrides.emplace_back("sim.length", 1);
      }
      for (const Prediction& p :
           made(study_named(name), overrides)->theory(TheoryGrid::requested).predictions) {
        if (p.series.name == "excess_loss" || p.series.name == "test_loss")
          return p.series.y.back();
      }
      return 0.0;
    };
    CHECK(first(1, 3) == first(1, 4));
    CHECK(first(1, 3) != first(2, 3));
  }
}

}  // namespace studies_potts_flow_test
