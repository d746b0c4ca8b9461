/// @file
/// @brief Theory meets simulation in joma-blowup, and errors in the theory are found.

#include <catch2/catch.hpp>
#include <vector>

#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_joma_blowup_test {

using attica::testing::check_agrees_and_rejects;
using attica::testing::StudyRun;

TEST_CASE("joma-blowup: agrees with tokens close behind, tied, or of any size",
          "[agreement][study:joma-blowup]") {
  const Study study = study_named("joma-blowup");
  using Reals = std::vector<double>;
  for (const Reals& delta :
       {Reals{0.5, 0.4999999999999}, {1.0, 0.99999, -1.0}, {1e5, 3.0}, {2e-20, 1e-20}}) {
    CAPTURE(delta);
    const StudyRun run(study,
                       {{"model.delta", List(delta.begin(), delta.end())},
                        {"sweep.gap", List{1.0, 0.1, 1e-9, 1e-15}}});
    CHECK(run.points() == Verdict::agree);
  }
}

TEST_CASE("joma-blowup: agrees, and small errors do not", "[agreement][study:joma-blowup]") {
  check_agrees_and_rejects(
      "joma-blowup", {{"v", 1 + 1e-8}, {"attention_deficit", 1 + 1e-6}, {"blowup_time", 1 + 1e-9}});
}

}  // namespace agreement_joma_blowup_test
