/// Masked autoencoders on stored and fresh masks: theory meets training, wrong theories are
/// rejected, and an error of 2 % in the norm would have been detected.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"
#include "attica/solvers/statistics/resolution.hpp"

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

TEST_CASE("masked-resampling: reference runs come out as they say", "[.][all]") {
  const Study& study = study_named("masked-resampling");
  for (const ReferenceRun& reference_run : study.reference_runs) {
    CAPTURE(reference_run.name);
    CHECK(StudyRun(study, reference_run.values).points() == reference_run.expected);
  }
}

}  // namespace masked_resampling_agreement_test
