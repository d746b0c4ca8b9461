/// @file
/// @brief What several studies of the family refuse and warn of.

#include <algorithm>
#include <catch2/catch.hpp>

#include "configured_study.hpp"

using namespace attica;

namespace studies_gauss_refusals_test {

using attica::testing::configured;
using attica::testing::made;

TEST_CASE("gaussian studies: bad input names the parameter",
          "[studies][study:gauss-lambda][study:gauss-overlaps][study:gauss-sizes]") {
  CHECK_THROWS_WITH(made(study_named("gauss-sizes"), {{"model.nu", 1.0}}),
                    Catch::Contains("model.nu"));
  CHECK_THROWS_WITH(
      made(study_named("gauss-sizes"), {{"model.covariance", "equi"}, {"model.rho", -0.5}}),
      Catch::Contains("rho"));
  const auto few =
      made(study_named("gauss-lambda"), {{"model.sites", 3}, {"sweep.alpha", List{0.1}}});
  CHECK_THROWS_WITH(few->theory(TheoryGrid::requested), Catch::Contains("sweep.alpha"));
  CHECK_THROWS_WITH(few->theory(TheoryGrid::run), Catch::Contains("sweep.alpha"));
  const auto large = made(study_named("gauss-overlaps"), {{"sweep.alpha", List{1e30}}});
  CHECK_THROWS_WITH(large->theory(TheoryGrid::run), Catch::Contains("sweep.alpha"));
  for (const Study& study : studies()) {  // of every study that sweeps a ridge penalty
    const auto swept = [](const Parameter& p) { return p.key == "sweep.lambda"; };
    if (!study.name.starts_with("gauss-") || std::ranges::none_of(study.parameters, swept))
      continue;
    INFO(study.name);
    CHECK_THROWS_WITH(made(study, {{"sweep.lambda", List{1e300}}}), Catch::Contains("1e+60"));
  }
}

TEST_CASE("gaussian studies: every preset is a configuration that can be made",
          "[studies][study:gauss-double-descent]") {
  for (const Study& study : studies()) {
    if (study.name == "gauss-double-descent") continue;  // its demo preset needs a data folder
    for (const Preset& preset : study.presets) {
      CAPTURE(study.name, preset.name);
      Configuration c = configured(study, preset.values);
      CHECK_NOTHROW(study.figure(c));
      CHECK((!study.agreement(c).empty() || study.claims != nullptr || study.exponents != nullptr));
    }
  }
}

}  // namespace studies_gauss_refusals_test
