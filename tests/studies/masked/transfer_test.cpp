/// @file
/// @brief What masked-transfer refuses, and what its theory and simulation do at the limits of its
/// parameters.

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "configured_study.hpp"

using namespace attica;

namespace studies_masked_transfer_test {

using attica::testing::is_compared;
using attica::testing::made;

TEST_CASE("masked-transfer: labels, strengths and noise out of range are no values",
          "[studies][masked][study:masked-transfer]") {
  const Study study = study_named("masked-transfer");
  for (const Parameter& p : study.parameters) {
    if (p.key == "sweep.labels") CHECK_FALSE(p.range.contains(4));
    if (p.key == "model.theta" || p.key == "model.noise") CHECK_FALSE(p.range.contains(-0.1));
    if (p.key == "model.lambda") CHECK_FALSE(p.range.contains(0));
  }
}

TEST_CASE("masked-transfer: gains are differences, and zero at the crossing",
          "[studies][masked][study:masked-transfer]") {
  const auto experiment = made(study_named("masked-transfer"), {{"model.dimension", 60}});
  CHECK_FALSE(experiment->warnings().empty());
  const std::vector<Prediction> theory = experiment->theory(TheoryGrid::requested).predictions;
  const auto curve = [&](const std::string& name, const Point& point) {
    for (const Prediction& p : theory) {
      if (p.series.name == name && p.series.point == point) return p;
    }
    FAIL("no series " << name);
    return theory.front();
  };
  const Prediction raw = curve("raw_risk", {});
  const Prediction crossing = curve("crossing", {});
  // Below the threshold, at alpha = 0.05, there is no crossing and nothing is compared.
  CHECK(crossing.series.x == std::vector<double>{1.5, 3});
  for (const double alpha : {0.05, 1.5, 3.0}) {
    const Prediction risk = curve("feature_risk", {{"alpha", alpha}});
    const Prediction gain = curve("gain", {{"alpha", alpha}});
    const Prediction overlap = curve("overlap_right", {{"alpha", alpha}});
    CHECK((overlap.series.y[0] > 0) == (alpha > 0.25));
    CHECK(is_compared(overlap, 0) == (alpha > 0.25));
    for (std::size_t k = 0; k < raw.series.x.size(); ++k) {
      CHECK_THAT(gain.series.y[k], Catch::WithinAbs(raw.series.y[k] - risk.series.y[k], 1e-12));
      CHECK(is_compared(gain, k) == (alpha > 0.25));
      if (alpha < 0.25) {
        CHECK(gain.series.y[k] < 0);
        continue;
      }
      const double at = 60 * crossing.series.y[alpha == 1.5 ? 0 : 1];
      CHECK((gain.series.y[k] > 0) == (raw.series.x[k] < at));
    }
  }
}

}  // namespace studies_masked_transfer_test
