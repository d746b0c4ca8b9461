#pragma once
/// @file
/// @brief A study run from its defaults to its verdict, in memory and in one thread.

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attica/app/run/results.hpp"
#include "attica/app/verdict/comparison.hpp"
#include "attica/solvers/statistics/agreement.hpp"
#include "attica/solvers/statistics/claim_tests.hpp"
#include "attica/studies/study.hpp"
#include "configured_study.hpp"

namespace attica::testing {

struct StudyRun {
  const Study& study;
  Configuration configuration;
  app::Replicates replicates;
  Observed observed;

  StudyRun(const Study& of, const Table& overrides)
      : study(of), configuration(configured(of, overrides)) {
    const std::unique_ptr<Experiment> experiment = study.make(configuration);
    observed.theory = experiment->theory(TheoryGrid::run).predictions;
    const auto count = static_cast<std::uint64_t>(configuration.integer("sim.replicates"));
    const std::uint64_t seed = configuration.seed();
    for (std::size_t point = 0; point < experiment->points(); ++point) {
      const Piece all{.point = point, .stream_point = point, .replicates = count, .seed = seed};
      replicates.add({.first_replicate = 0, .outcomes = experiment->simulate(all)}, {});
    }
    replicates.finish();
    observed.simulation = replicates.curves();
  }

  /// @brief Whether anything is compared with a theory: studies of claims alone have no such point.
  bool has_points() const {
    return !app::compare(study.agreement(configuration), observed.theory, replicates)
                .points.empty();
  }

  /// @brief The verdict over all compared points, as the program comes to it; `whole`: every one
  /// has a theory.
  Verdict points(bool whole = true) const {
    const app::Comparison compared =
        app::compare(study.agreement(configuration), observed.theory, replicates);
    REQUIRE_FALSE(compared.points.empty());
    if (whole) CHECK(compared.with_theory() == compared.points.size());
    return judge(compared.points).verdict;
  }

  /// @brief A series of the theory times a factor; all of them without a name.
  void scale_theory(const std::string& series, double factor) {
    for (Prediction& p : observed.theory) {
      if (!series.empty() && p.series.name != series) continue;
      for (double& y : p.series.y) y *= factor;
    }
  }
};

/// @brief The run with a perturbed theory in place of its own: a series times a factor, or the
/// theory of other parameters, compared where the run's is.
inline StudyRun perturbed(const StudyRun& run, const PerturbedTheory& perturbation) {
  StudyRun wrong = run;
  if (perturbation.values.empty()) {
    wrong.scale_theory(perturbation.series, perturbation.factor);
    return wrong;
  }
  Configuration c = configured(run.study, perturbation.values);
  const std::vector<Prediction> other = run.study.make(c)->theory(TheoryGrid::run).predictions;
  REQUIRE(other.size() == wrong.observed.theory.size());
  for (std::size_t k = 0; k < other.size(); ++k) {
    const Point point = wrong.observed.theory[k].series.point;
    wrong.observed.theory[k] = other[k];
    wrong.observed.theory[k].series.point = point;
  }
  return wrong;
}

/// @brief Every claim that holds could have failed, beside the others, with so many replicates.
inline void check_claims_can_fail(const std::vector<ClaimResult>& claims) {
  const auto by_chance =
      std::ranges::count_if(claims, [](const auto& c) { return c.p_disagree.has_value(); });
  for (const ClaimResult& claim : claims) {
    CAPTURE(claim.name, claim.detail, by_chance);
    CHECK(claim.least_p_disagree * static_cast<double>(by_chance) <= kClaimLevel);
  }
}

/// @brief All claims of the run hold, and could have failed.
inline void check_claims_hold(const StudyRun& run) {
  if (run.study.claims == nullptr) return;
  const std::vector<ClaimResult> claims = run.study.claims(run.configuration, run.observed);
  for (const ClaimResult& claim : claims) {
    CAPTURE(claim.name, claim.detail);
    CHECK(claim.verdict == Verdict::agree);
  }
  check_claims_can_fail(claims);
}

/// @brief The run comes to AGREE, its claims hold, and each of the study's perturbed theories comes
/// to DISAGREE; `whole`: every point has a theory.
inline void check_agrees_and_rejects_perturbed(const StudyRun& run, bool whole = true) {
  const Study& study = run.study;
  CAPTURE(study.name);
  CHECK(run.points(whole) == Verdict::agree);
  check_claims_hold(run);
  CHECK(study.perturbed.size() >= 2);
  for (const PerturbedTheory& perturbation : study.perturbed) {
    CAPTURE(perturbation.name);
    CHECK(perturbed(run, perturbation).points(whole) == Verdict::disagree);
  }
}

inline void check_agrees_and_rejects_perturbed(const Study& study,
                                               const Table& overrides = {},
                                               bool whole = true) {
  check_agrees_and_rejects_perturbed(StudyRun(study, overrides), whole);
}

/// @brief The study at its defaults comes to AGREE, and no longer with a series of its theory times
/// a factor.
inline void check_agrees_and_rejects(std::string_view name,
                                     const std::vector<std::pair<std::string, double>>& errors) {
  CAPTURE(name);
  const StudyRun run(study_named(name), {});
  CHECK(run.points() == Verdict::agree);
  for (const auto& [series, factor] : errors) {
    CAPTURE(series, factor);
    StudyRun wrong = run;
    wrong.scale_theory(series, factor);
    CHECK(wrong.points() == Verdict::disagree);
  }
}

/// @brief Nothing speaks against the study with these values, neither points nor claims.
inline void check_not_rejected(std::string_view name, const Table& overrides) {
  CAPTURE(name);
  const StudyRun run(study_named(name), overrides);
  CHECK(run.points(false) != Verdict::disagree);
  if (run.study.claims == nullptr) return;
  for (const ClaimResult& claim : run.study.claims(run.configuration, run.observed)) {
    CAPTURE(claim.name, claim.detail);
    CHECK(claim.verdict != Verdict::disagree);
  }
}

/// @brief The study's reference runs come to the verdicts that they expect, and their claims hold.
inline void check_reference_runs(const Study& study) {
  for (const ReferenceRun& reference_run : study.reference_runs) {
    CAPTURE(reference_run.name);
    const StudyRun run(study, reference_run.values);
    CHECK(run.points() == reference_run.expected);
    const std::vector<ClaimResult> claims = study.claims(run.configuration, run.observed);
    CHECK_FALSE(claims.empty());
    for (const ClaimResult& claim : claims) {
      CAPTURE(claim.name, claim.detail);
      CHECK(claim.verdict == Verdict::agree);
    }
  }
}

}  // namespace attica::testing
