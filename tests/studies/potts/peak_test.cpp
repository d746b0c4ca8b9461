/// @file
/// @brief What potts-peak refuses, and what its theory and simulation do at the limits of its
/// parameters.

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "configured_study.hpp"
#include "refused.hpp"
#include "studies/potts/models.hpp"

using namespace attica;

namespace studies_potts_peak_test {

using attica::testing::kCosine;
using attica::testing::made;
using attica::testing::refused;
using attica::testing::with;
using Catch::Matchers::WithinAbs;

TEST_CASE("potts-peak: draws that leave too little entropy are drawn again, where states are few",
          "[studies][potts][study:potts-peak]") {
  const auto diagnostics = [](Table values) {
    values.push_back({"sim.test_sequences", 100});
    const TheoryResult theory =
        made(study_named("potts-peak"), values)->theory(TheoryGrid::requested);
    std::map<std::string, double> found{{"rejected_draws", 0}};
    for (const auto& [name, value] : theory.diagnostics) {
      if (const auto* real = std::get_if<double>(&value)) found[name] = *real;
      if (const auto* whole = std::get_if<std::int64_t>(&value))
        found[name] = static_cast<double>(*whole);
    }
    return found;
  };
  constexpr double kLeast = 0.65;
  auto taken = diagnostics({{"sim.seed", 80}});
  auto first = diagnostics({{"sim.seed", 80}, {"model.least_entropy", 0.0}});
  CHECK(taken["rejected_draws"] == 1);
  CHECK(taken["bayes_loss"] > kLeast * std::log(3));
  CHECK(first["bayes_loss"] < kLeast * std::log(3));
  CHECK(refused([&] {
          diagnostics({{"sim.seed", 80}, {"model.least_entropy", 0.9999}});
        }) == "model.least_entropy");
  // The default belongs to the default temperature: who sets another one gets the first draw.
  CHECK(diagnostics({{"sim.seed", 80}, {"model.beta", 1.0}})["bayes_loss"] == first["bayes_loss"]);
  CHECK(refused([] {
          made(study_named("potts-peak"), {{"model.sites", 40}, {"model.least_entropy", 0.5}});
        }) == "model.sites");
  CHECK_NOTHROW(made(study_named("potts-peak"), {{"model.sites", 40}}));
}

TEST_CASE("potts-peak: alpha counts sequences per site, the tail is d/2M",
          "[studies][potts][study:potts-peak]") {
  const auto peak = made(study_named("potts-peak"),
                         with(kCosine,
                              {{"sweep.alpha", List{0.5, 25.0}},
                               {"sweep.lambda", List{1.0}},
                               {"sim.test_sequences", 100}}));
  const TheoryResult theory = peak->theory(TheoryGrid::requested);
  CHECK(theory.predictions[0].series.x == std::vector<double>{0.5, 25.0});
  CHECK_THAT(theory.predictions[0].series.y[1], WithinAbs(14.0 / 200, 1e-12));  // d = 2 (1 + 3 x 2)
  const Outcome outcome = peak->simulate({.point = 1, .seed = 1})[0];
  REQUIRE(outcome.series.size() == 3);
  for (const Series& s : outcome.series) CHECK(s.y[0] > 0);
  CHECK(outcome.series[1].name == "penalty_balance");
  CHECK_THAT(outcome.series[1].y[0], WithinAbs(1, 1e-4));
  CHECK(refused([&] {
          made(study_named("potts-peak"), {{"sweep.alpha", List{0.01}}});
        }) == "sweep.alpha");
}

}  // namespace studies_potts_peak_test
