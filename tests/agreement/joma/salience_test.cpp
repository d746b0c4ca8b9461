/// @file
/// @brief Theory meets simulation in joma-salience, and errors in the theory are found.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_joma_salience_test {

using attica::testing::check_agrees_and_rejects;
using attica::testing::StudyRun;

TEST_CASE("joma-salience: agrees where j is the slower component",
          "[agreement][study:joma-salience]") {
  const Study study = study_named("joma-salience");
  const StudyRun run(study, {{"sweep.mu_j", List{1.5}}, {"sweep.mu_k", List{1.75}}});
  CHECK(run.points() == Verdict::agree);
}

TEST_CASE("joma-salience: agrees, and small errors do not", "[agreement][study:joma-salience]") {
  check_agrees_and_rejects("joma-salience", {{"lambda_correction", 1.01}, {"log_ratio", 1 + 1e-6}});
}

}  // namespace agreement_joma_salience_test
