/// @file
/// @brief Theory meets simulation in joma-erf, and errors in the theory are found.

#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_joma_erf_test {

using attica::testing::StudyRun;

TEST_CASE("joma-erf: agrees, and growth 3 % or a spread 30 % off does not",
          "[agreement][study:joma-erf]") {
  const Study study = study_named("joma-erf");
  const StudyRun run(study, {});
  CHECK(run.points() == Verdict::agree);
  for (const auto& [series, factor] : {std::pair<std::string, double>{"erf_coordinate", 1.03},
                                       {"v", 1.05},
                                       {"fluctuation", 1.3}}) {
    CAPTURE(series);
    StudyRun planted = run;
    planted.scale_theory(series, factor);
    CHECK(planted.points() == Verdict::disagree);
  }
}

}  // namespace agreement_joma_erf_test
