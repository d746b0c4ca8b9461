/// @file
/// @brief What potts-samples refuses, its theory, and the slope of factored attention.

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "configured_study.hpp"

using namespace attica;

namespace studies_potts_samples_test {

using attica::testing::made;
using attica::testing::refusal;
using Catch::WithinAbs;
using Catch::WithinRel;

TEST_CASE("potts-samples: numbers of sequences are whole, and two or more",
          "[studies][potts][study:potts-samples]") {
  const Study& study = study_named("potts-samples");
  CHECK(refusal(study, {{"sweep.samples", List{100.5, 200.0}}}).find("sweep.samples") !=
        std::string::npos);
  CHECK(refusal(study, {{"sweep.samples", List{100.0}}}).find("two or more") != std::string::npos);
  CHECK(refusal(study, {{"model.sites", 40}}).find("model.sites") != std::string::npos);
}

TEST_CASE("potts-samples: seventeen parameters over 2M, where they are few",
          "[studies][potts][study:potts-samples]") {
  const TheoryResult theory = made(study_named("potts-samples"),
                                   {{"sweep.samples", List{100.0, 1000.0, 10000.0}},
                                    {"sweep.epsilon", List{0.01, 0.001, 0.0001}}})
                                  ->theory(TheoryGrid::requested);
  const auto curve = [&](const std::string& name) {
    return *std::ranges::find_if(theory.predictions,
                                 [&](const Prediction& p) { return p.series.name == name; });
  };
  const Prediction excess = curve("excess_loss");
  CHECK_THAT(excess.series.y[1], WithinRel(17.0 / 2000, 1e-12));
  CHECK(excess.compared == std::vector<bool>{false, true, true});
  const Prediction reached = curve("samples_to_reach");
  CHECK_THAT(reached.series.y[1], WithinRel(8500.0, 1e-12));
  CHECK(reached.compared == std::vector<bool>{true, true, false});
}

TEST_CASE("potts-samples: no theory of what samples leave undetermined",
          "[studies][potts][study:potts-samples]") {
  // Two colours whose couplings by cosines differ from fields by 1e-3: attention is hardly seen.
  const TheoryResult theory =
      made(study_named("potts-samples"), {{"model.colours", 2}})->theory(TheoryGrid::run);
  CHECK(theory.predictions.size() == 3);
  for (const Prediction& p : theory.predictions)
    CHECK(std::ranges::none_of(p.compared, [](bool compared) { return compared; }));
}

TEST_CASE("potts-samples: more samples, a lower loss, and a start that is not chosen by chance",
          "[studies][potts][study:potts-samples]") {
  const auto experiment = made(
      study_named("potts-samples"),
      {{"sweep.samples", List{500.0, 8000.0}}, {"sim.sets", 4}, {"sweep.epsilon", List{0.004}}});
  const auto outcomes = experiment->simulate({.replicates = 2, .seed = 3});
  REQUIRE(outcomes.size() == 2);
  for (const Outcome& outcome : outcomes) {
    for (const Series& s : outcome.series) {
      if (s.name == "slope") CHECK_THAT(s.y.front(), WithinAbs(-1, 0.35));
      if (s.name == "excess_loss") CHECK(s.y.back() < 0.003);
    }
  }
}

}  // namespace studies_potts_samples_test
