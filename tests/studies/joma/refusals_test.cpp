/// @file
/// @brief What several studies of the family refuse and warn of.

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "configured_study.hpp"
#include "studies/joma/series_of.hpp"

using namespace attica;

namespace studies_joma_refusals_test {

using attica::testing::configured;
using attica::testing::made;
using attica::testing::refusal_with_theory;
using attica::testing::series_of;
using Catch::Matchers::Contains;

TEST_CASE(
    "joma studies: bad input is refused by name",
    "[studies][joma][study:joma-blowup][study:joma-bounce][study:joma-convergence-time][study:joma-"
    "erf][study:joma-invariants][study:joma-overlap][study:joma-salience][study:joma-softmax]") {
  CHECK_THAT(refusal_with_theory(study_named("joma-softmax"), {{"sim.steps", List{0, 5}}}),
             Contains("sim.steps"));
  CHECK_THAT(refusal_with_theory(study_named("joma-erf"), {{"sim.eta", 10.0}}),
             Contains("sim.eta"));
  CHECK_THAT(refusal_with_theory(study_named("joma-blowup"), {{"model.delta", List{0.0, 0.0}}}),
             Contains("model.delta"));
  CHECK_THAT(refusal_with_theory(study_named("joma-convergence-time"), {{"sweep.mu", List{0.0}}}),
             Contains("sweep.mu"));
  CHECK_THAT(refusal_with_theory(study_named("joma-convergence-time"), {{"sweep.mu", List{60.0}}}),
             Contains("600"));
  CHECK_THAT(refusal_with_theory(study_named("joma-salience"), {{"sweep.mu_j", List{1.0}}}),
             Contains("sweep.mu_k"));
  CHECK_THAT(refusal_with_theory(study_named("joma-salience"), {{"sweep.mu_k", List{0.0}}}),
             Contains("sweep.mu_k"));
  CHECK_THAT(refusal_with_theory(study_named("joma-bounce"), {{"sweep.gamma", List{100.0}}}),
             Contains("300"));
  CHECK_THAT(refusal_with_theory(study_named("joma-bounce"),
                                 {{"model.probability", List{0.5, 0.3, 0.1, 0.2}}}),
             Contains("model.probability"));
  CHECK_THAT(refusal_with_theory(study_named("joma-bounce"), {{"model.target", List{1.0}}}),
             Contains("model.target"));
  CHECK_THAT(refusal_with_theory(study_named("joma-invariants"), {{"model.overlap", 1.0}}),
             Contains("model.overlap"));
  CHECK_THAT(refusal_with_theory(study_named("joma-overlap"), {{"sweep.overlap", List{0.5}}}),
             Contains("number of tokens"));
}

TEST_CASE("joma studies: degenerate input has its limit",
          "[studies][joma][study:joma-bounce][study:joma-convergence-time][study:joma-erf][study:"
          "joma-invariants]") {
  // Nothing to learn: constant solution, with a warning; no blow-up time is printed.
  Configuration c = configured(study_named("joma-erf"), {{"model.delta", List{0.0, 0.0}}});
  const auto still = study_named("joma-erf").make(c);
  CHECK(still->points() == 0);
  CHECK_THAT(still->warnings().at(0), Contains("never blows up"));
  CHECK(still->theory(TheoryGrid::requested).diagnostics.empty());
  // Already there.
  const Series time = series_of(study_named("joma-convergence-time"),
                                {{"sweep.mu", List{2.0}}, {"model.v0", 2.0}},
                                "convergence_time");
  CHECK(time.y == std::vector<double>(time.y.size(), 0.0));
  // Without attention there is no minimum: its series are left out, the depth is 0.
  const Series depth =
      series_of(study_named("joma-bounce"), {{"model.kind", "none"}}, "bounce_depth");
  CHECK(depth.y == std::vector<double>(depth.y.size(), 0.0));
  Configuration rest =
      configured(study_named("joma-invariants"), {{"sim.scale", 0.0}, {"sim.logit", 0.0}});
  CHECK_THAT(study_named("joma-invariants").make(rest)->warnings().at(0),
             Contains("nothing will move"));
}

TEST_CASE("joma studies: a rate too large ends as diverged, without a record if none was made",
          "[studies][joma][deep][study:deep-entropy][study:deep-stable-rank][study:joma-entropy-gd]"
          "[study:joma-invariants][study:tree-latents]") {
  struct Case {
    const char* study;
    Table overrides;
    bool recorded;
  };
  const Table small = {{"model.width", 8}, {"sim.batch", 4}};
  const auto with = [](Table table, const char* key, const Value& value) {
    table.emplace_back(key, value);
    return table;
  };
  for (const Case& c :
       std::vector<Case>{{"deep-entropy", with(small, "sim.steps", List{5}), false},
                         {"deep-entropy", with(small, "sim.steps", List{1}), false},
                         {"deep-entropy", with(small, "sim.steps", List{0, 5}), true},
                         {"deep-stable-rank", with(small, "sim.steps", List{5}), false},
                         {"tree-latents", with(small, "sim.steps", List{5}), false},
                         {"joma-invariants", {{"model.attention", List{"linear"}}}, false},
                         {"joma-entropy-gd", {{"sim.steps", List{1, 2}}}, false}}) {
    CAPTURE(c.study, c.recorded);
    const Study study = study_named(c.study);
    const auto experiment = made(study, with(c.overrides, "sim.eta", 1e300));
    const Outcome outcome = experiment->simulate({}).at(0);
    CHECK(outcome.failed);
    CHECK(outcome.status == "diverged");
    CHECK_THAT(outcome.message, Contains("step"));
    const bool any = std::any_of(
        outcome.series.begin(), outcome.series.end(), [](const Series& s) { return !s.x.empty(); });
    CHECK(any == c.recorded);
    // Claims look at what there is.
    if (study.claims != nullptr) {
      for (const ClaimResult& claim : study.claims(configured(study, {}), {})) {
        CHECK(claim.verdict == Verdict::inconclusive);
      }
    }
  }
}

}  // namespace studies_joma_refusals_test
