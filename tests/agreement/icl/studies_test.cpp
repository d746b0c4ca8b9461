/// The studies of learning in context, of tokens on the sphere and of positional attention come to
/// AGREE with their defaults, and reject every theory that is planted wrong.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;
using attica::testing::check_agrees_and_rejects_perturbed;
using attica::testing::StudyRun;

namespace icl_studies_test {

std::vector<Study> family() {
  std::vector<Study> all;
  for (const Study& study : studies()) {
    if (study.name.starts_with("icl-") || study.name.starts_with("token-") ||
        study.name.starts_with("positional-"))
      all.push_back(study);
  }
  return all;
}

void check_not_rejected(std::string_view name, const Table& overrides) {
  CAPTURE(name);
  const StudyRun run(study_named(name), overrides);
  CHECK(run.points(false) != Verdict::disagree);
  if (run.study.claims == nullptr) return;
  for (const ClaimResult& claim : run.study.claims(run.configuration, run.observed)) {
    CAPTURE(claim.name, claim.detail);
    CHECK(claim.verdict != Verdict::disagree);
  }
}

TEST_CASE("in context: studies of seconds agree, their claims hold, and they reject their plants",
          "[agreement][slow]") {
  for (const char* name : {"icl-context", "token-metastable", "token-time"}) {
    check_agrees_and_rejects_perturbed(study_named(name));
  }
}

TEST_CASE("in context: every study agrees, its claims hold, and it rejects its plants",
          "[.][all]") {
  for (const Study& study : family()) check_agrees_and_rejects_perturbed(study);
}

TEST_CASE("in context: corners of the parameters are not rejected", "[agreement][slow]") {
  check_not_rejected("icl-merged", {{"model.dimension", 1}});
  check_not_rejected("icl-double-descent", {{"model.kappa", 0.05}, {"model.alpha", 0.05}});
  check_not_rejected("token-metastable", {{"model.tokens", 4}, {"model.dimension", 16}});
}

TEST_CASE("in context: more corners of the parameters are not rejected", "[.][all]") {
  check_not_rejected("icl-merged", {{"model.context", 1}});
  check_not_rejected("icl-merged", {{"model.dimension", 8}});  // not learnt in the recorded times
  check_not_rejected("token-metastable", {{"model.overlap", -0.9}});
  check_not_rejected("icl-merged", {{"model.dimension", 2}, {"model.heads", 1}});
  check_not_rejected("icl-merged", {{"model.spectrum_power", 0.0}});
  check_not_rejected("icl-merged", {{"model.spectrum_power", -3.0}});
  check_not_rejected("icl-separate", {{"model.dimension", 1}});
  check_not_rejected("icl-context", {{"sweep.alpha", List{0.05, 0.1, 0.5}}});
  check_not_rejected("token-curve", {{"model.tokens", 2}, {"sweep.beta", List{4.0}}});
  check_not_rejected("token-curve", {{"model.tokens", 5}, {"sweep.beta", List{4.0}}});
  check_not_rejected("token-curve",
                     {{"model.normalisation", "mean"},
                      {"sweep.beta", List{4.0}},
                      {"sim.times", List{0.2, 0.5, 2.0}}});
  check_not_rejected("token-metastable", {{"model.overlap", 0.9}});
  check_not_rejected("token-metastable", {{"model.jitter", 0.0}});
}

TEST_CASE("in context: at level limit the extrapolation in 1/d is the strict test", "[agreement]") {
  // d (simulation/theory - 1) settles: the deviation is of order 1/d, as the allowance says.
  const Study study = study_named("icl-double-descent");
  std::vector<double> scaled;
  for (const int d : {8, 16}) {
    const StudyRun run(study,
                       {{"model.dimension", d},
                        {"model.pool", "fresh"},
                        {"theory.level", "limit"},
                        {"sweep.tau", List{0.5}},
                        {"sweep.lambda", List{0.1}},
                        {"sim.replicates", 600}});
    CHECK(run.points() !=
          Verdict::disagree);  // squares of the few labels of d = 8 may be undecided
    const Point point = {{"lambda", 0.1}};
    const double theory = *run.observed.predicted("icl", point);
    scaled.push_back(d * (run.observed.curve("icl", point)->mean.y.front() / theory - 1));
  }
  // Measured elsewhere: 0.82 at d = 8, 0.78 at d = 16, each known to about 0.1 here.
  for (const double coefficient : scaled) CHECK_THAT(coefficient, Catch::WithinAbs(0.8, 0.4));
}

}  // namespace icl_studies_test
