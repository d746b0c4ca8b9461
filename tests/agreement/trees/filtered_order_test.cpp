/// tree-filtered-order: claims hold at its defaults, and fail of a network that is its blurred end.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;
using attica::testing::check_claims_hold;
using attica::testing::StudyRun;

namespace tree_filtered_order_test {

ClaimResult claim(const StudyRun& run, const std::string& name) {
  for (const ClaimResult& c : run.study.claims(run.configuration, run.observed)) {
    if (c.name == name) return c;
  }
  FAIL("no claim " << name);
  return {};
}

void add_to(StudyRun& run, const std::string& series, double shift) {
  for (ObservedCurve& curve : run.observed.simulation) {
    if (curve.mean.name != series) continue;
    for (auto& values : curve.values) {
      for (double& value : values) value += shift;
    }
  }
}

TEST_CASE("tree-filtered-order: claims hold, and fail where they should",
          "[agreement][study:tree-filtered-order]") {
  const StudyRun run(study_named("tree-filtered-order"), {});
  check_claims_hold(run);
  // The blurred end in place of the network.
  StudyRun blurred = run;
  std::erase_if(blurred.observed.simulation,
                [](const ObservedCurve& c) { return c.mean.name == "passage"; });
  for (ObservedCurve curve : run.observed.simulation) {
    if (curve.mean.name != "null_passage") continue;
    curve.mean.name = "passage";
    blurred.observed.simulation.push_back(curve);
  }
  CHECK(claim(blurred, "one-by-one").verdict == Verdict::disagree);
  // Floors of too high a level.
  StudyRun wrong = run;
  add_to(wrong, "excess", -0.1);
  CHECK(claim(wrong, "bound").verdict == Verdict::disagree);
  add_to(wrong, "block_excess", -0.1);
  CHECK(claim(wrong, "block-bound").verdict == Verdict::disagree);
}

}  // namespace tree_filtered_order_test
