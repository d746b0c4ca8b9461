#include "attica/app/verdict/judge_run.hpp"

#include <catch2/catch.hpp>

#include "app/toy_study.hpp"

using namespace attica;
using namespace attica::app;

namespace judge_run_test {

/// "The last y is twice the slope", as a study that knows nothing of sweeps puts it.
std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  ClaimResult claim{.name = "steep", .statement = "y = 2 a", .detail = ""};
  for (const ObservedCurve& curve : observed.simulation) {
    if (!curve.mean.point.empty()) continue;
    claim.verdict =
        curve.mean.y.back() == 2 * c.real("model.a") ? Verdict::agree : Verdict::disagree;
  }
  if (observed.theory.size() != 1) claim.verdict = Verdict::inconclusive;
  return {claim};
}

TEST_CASE("judge_run: every problem of a sweep has claims of its own", "[app][check]") {
  std::vector<Study> registry = toy::registry();
  registry.front().claims = claims;
  const auto configured = [&](const std::string& setting) {
    return read_configuration({.target = "toy-line", .preset = {}, .overrides = {{"", setting}}},
                              registry);
  };
  RunRecord run;
  run.study = "toy-line";
  run.replicates = 2;
  run.diagnostics = Json::object();
  Replicates all;
  const auto add = [&](const Point& point, double y) {
    run.theory.push_back({.series = {"y", point, "x", {1}, {y}}});
    PartRecord part;
    part.outcomes.assign(2, {.series = {{"y", {}, "x", {1}, {y}}}});
    all.add(part, point);
  };

  SECTION("swept") {
    add({{"a", 1.0}}, 2);
    add({{"a", 3.0}}, 5);
    all.finish();
    const auto found = judge_run(run, configured("sweep.a=[1,3]"), all).claims;
    REQUIRE(found.size() == 2);
    CHECK(found[0].name == "steep (a=1)");
    CHECK(found[0].verdict == Verdict::agree);
    CHECK(found[1].name == "steep (a=3)");
    CHECK(found[1].verdict == Verdict::disagree);
  }
  SECTION("without a sweep") {
    add({}, 4);
    all.finish();
    const auto found = judge_run(run, configured("model.a=2"), all).claims;
    REQUIRE(found.size() == 1);
    CHECK(found[0].name == "steep");
    CHECK(found[0].verdict == Verdict::agree);
  }
}

}  // namespace judge_run_test
