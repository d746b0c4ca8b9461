/// init-trainability agrees at its defaults and rejects every perturbed theory; maps have a verdict
/// on either side of its lines.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;
using attica::testing::check_agrees_and_rejects_perturbed;
using attica::testing::StudyRun;

namespace init_trainability_test {

TEST_CASE("init-trainability: agrees and rejects perturbed theories",
          "[agreement][slow][study:init-trainability]") {
  check_agrees_and_rejects_perturbed(study_named("init-trainability"));
}

TEST_CASE("init-trainability: claims hold inside of both lines and fail outside of one",
          "[agreement][study:init-trainability]") {
  const Study& study = study_named("init-trainability");
  const auto claimed = [&](double beta, double skip) {
    const StudyRun run(study,
                       {{"sim.place", "here"},
                        {"sweep.beta", List{beta}},
                        {"model.skip", skip},
                        {"sim.replicates", 20}});
    std::vector<Verdict> verdicts;
    for (const ClaimResult& claim : study.claims(run.configuration, run.observed))
      verdicts.push_back(claim.verdict);
    return verdicts;
  };
  // The lines are at a skip of 1.34 and a beta of 2.19.
  CHECK(claimed(1.0, 1.6) == std::vector{Verdict::agree, Verdict::agree});
  CHECK(claimed(1.0, 1.1) == std::vector{Verdict::disagree, Verdict::agree});
  CHECK(claimed(3.0, 1.6) == std::vector{Verdict::agree, Verdict::disagree});
}

}  // namespace init_trainability_test
