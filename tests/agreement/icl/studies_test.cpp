/// The studies of learning in context, of tokens on the sphere and of positional attention come to
/// AGREE with their defaults, and reject every theory that is planted wrong.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;
using attica::testing::configured;
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

/// The run with the planted theory in place of its own.
StudyRun planted(const StudyRun& run, const Plant& plant) {
  StudyRun wrong = run;
  if (!plant.values.empty()) {
    Configuration c = configured(run.study, plant.values);
    wrong.observed.theory = run.study.make(c)->theory(TheoryGrid::run).predictions;
  } else {
    wrong.scale_theory(plant.series, plant.factor);
  }
  return wrong;
}

TEST_CASE("in context: every study agrees, its claims hold, and it rejects its plants",
          "[agreement][slow]") {
  for (const Study& study : family()) {
    CAPTURE(study.name);
    const StudyRun run(study, {});
    CHECK(run.points() == Verdict::agree);
    if (study.claims != nullptr) {
      for (const ClaimResult& claim : study.claims(run.configuration, run.observed)) {
        CAPTURE(claim.name, claim.detail);
        CHECK(claim.verdict == Verdict::agree);
      }
    }
    CHECK(study.plants.size() >= 2);
    for (const Plant& plant : study.plants) {
      CAPTURE(plant.name);
      CHECK(planted(run, plant).points() == Verdict::disagree);
    }
  }
}

TEST_CASE("in context: corners of the parameters are not rejected", "[agreement][slow]") {
  const std::vector<std::pair<const char*, Table>> corners = {
      {"icl-merged", {{"model.dimension", 1}}},
      {"icl-merged", {{"model.dimension", 2}, {"model.heads", 1}}},
      {"icl-merged", {{"model.context", 1}}},
      {"icl-merged", {{"model.spectrum_power", 0.0}}},
      {"icl-merged", {{"model.spectrum_power", -3.0}}},
      {"icl-separate", {{"model.dimension", 1}}},
      {"icl-context", {{"sweep.alpha", List{0.05, 0.1, 0.5}}}},
      {"icl-double-descent", {{"model.kappa", 0.05}, {"model.alpha", 0.05}}},
      {"token-curve", {{"model.tokens", 2}, {"sweep.beta", List{4.0}}}},
      {"token-curve", {{"model.tokens", 5}, {"sweep.beta", List{4.0}}}},
      {"token-curve",
       {{"model.normalisation", "mean"},
        {"sweep.beta", List{4.0}},
        {"sim.times", List{0.2, 0.5, 2.0}}}},
      {"token-metastable", {{"model.overlap", -0.9}}},
      {"token-metastable", {{"model.overlap", 0.9}}},
      {"token-metastable", {{"model.jitter", 0.0}}},
      {"token-metastable", {{"model.tokens", 4}, {"model.dimension", 16}}}};
  for (const auto& [name, overrides] : corners) {
    CAPTURE(name);
    const StudyRun run(study_named(name), overrides);
    CHECK(run.points(false) != Verdict::disagree);
    for (const ClaimResult& claim : run.study.claims
                                        ? run.study.claims(run.configuration, run.observed)
                                        : std::vector<ClaimResult>{}) {
      CAPTURE(claim.name, claim.detail);
      CHECK(claim.verdict != Verdict::disagree);
    }
  }
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
