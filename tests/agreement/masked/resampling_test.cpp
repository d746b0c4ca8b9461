/// Masked autoencoders on stored and fresh masks: theory meets training, wrong theories are
/// rejected, and an error of 2 % in the norm would have been detected.

#include "attica/sim/masked/resampling.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "agreement/study_run.hpp"
#include "attica/solvers/statistics/resolution.hpp"
#include "attica/theory/masked/resampling.hpp"

using namespace attica;
using attica::testing::check_agrees_and_rejects_perturbed;
using attica::testing::StudyRun;

namespace masked_resampling_agreement_test {

/// The smallest relative error that a series would have detected, of either sign.
double resolution_of(const StudyRun& run, const std::string& series) {
  const app::Comparison compared =
      app::compare(run.study.agreement(run.configuration), run.observed.theory, run.replicates);
  const RunVerdict verdict = judge(compared.points);
  std::vector<Resolution> of_series;
  for (std::size_t k = 0; k < compared.points.size(); ++k) {
    if (compared.places[k].series != series) continue;
    of_series.push_back(resolution(compared.points[k], verdict.points[k], verdict.compared));
  }
  REQUIRE_FALSE(of_series.empty());
  return joint(of_series).not_agree.both().value_or(1);
}

void check_seed(std::int64_t seed) {
  const Study& study = study_named("masked-resampling");
  CAPTURE(seed);
  check_agrees_and_rejects_perturbed(study, {{"sim.seed", seed}});
  const StudyRun run(study, {{"sim.seed", seed}});
  CHECK(resolution_of(run, "weight_norm") <= 0.02);
}

TEST_CASE("masked-resampling: agrees, resolves 2 % of Q, and rejects wrong theories",
          "[agreement]") {
  check_seed(1);
}

TEST_CASE("masked-resampling: the same at other seeds", "[.][all]") {
  for (const std::int64_t seed : {2, 3}) check_seed(seed);
}

TEST_CASE("masked-resampling-labels, -threshold: agree and reject wrong theories", "[agreement]") {
  for (const char* name : {"masked-resampling-labels", "masked-resampling-threshold"}) {
    check_agrees_and_rejects_perturbed(study_named(name));
  }
}

TEST_CASE("masked-resampling: reference runs come out as they say", "[.][all]") {
  const Study& study = study_named("masked-resampling");
  for (const ReferenceRun& reference_run : study.reference_runs) {
    CAPTURE(reference_run.name);
    CHECK(StudyRun(study, reference_run.values).points() == reference_run.expected);
  }
}

TEST_CASE("few_labels_accuracy: labels drawn one by one", "[agreement]") {
  // Five standard errors of 40000 data sets.
  const UnitMeasures unit{.alignment = -0.7, .weight_norm = 1, .noise_norm = 0.9, .accuracy = 0};
  UnitMeasures measured = unit;
  measured.accuracy = 0.5 + std::atan(0.7 / std::sqrt(0.9)) / 3.14159265358979;
  constexpr std::int64_t kSets = 40000;
  for (const std::int64_t labels : {1, 4, 16}) {
    RandomStream stream({.seed = 21, .point = static_cast<std::uint64_t>(labels)});
    const double seen = labelled_accuracy(measured, 1, labels, kSets, stream);
    const double error = (measured.accuracy - 0.5) / std::sqrt(static_cast<double>(kSets));
    CHECK_THAT(few_labels_accuracy(measured.accuracy, static_cast<double>(labels)),
               Catch::WithinAbs(seen, 5 * error));
  }
}

}  // namespace masked_resampling_agreement_test
