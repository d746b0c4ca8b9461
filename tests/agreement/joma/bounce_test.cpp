/// @file
/// @brief Theory meets simulation in joma-bounce, and errors in the theory are found.

#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_joma_bounce_test {

using attica::testing::StudyRun;

TEST_CASE("joma-bounce: agrees, and an entropy off does not", "[agreement][study:joma-bounce]") {
  const Study study = study_named("joma-bounce");
  const StudyRun run(study, {{"sim.replicates", 100}});
  CHECK(run.points() == Verdict::agree);
  for (const auto& [series, factor] : {std::pair<std::string, double>{"token_entropy", 1.01},
                                       {"attention_entropy", 1 + 1e-6},
                                       {"bounce_depth", 1 + 1e-6},
                                       {"final_entropy", 1 + 1e-6}}) {
    CAPTURE(series);
    StudyRun planted = run;
    planted.scale_theory(series, factor);
    CHECK(planted.points() == Verdict::disagree);
  }
}

}  // namespace agreement_joma_bounce_test
