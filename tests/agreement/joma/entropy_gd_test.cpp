/// @file
/// @brief Theory meets simulation in joma-entropy-gd, and errors in the theory are found.

#include <catch2/catch.hpp>
#include <utility>
#include <vector>

#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_joma_entropy_gd_test {

using attica::testing::check_agrees_and_rejects;
using attica::testing::StudyRun;

TEST_CASE("joma-entropy-gd: agrees at other temperatures and rates, and 3 % off is found",
          "[agreement][study:joma-entropy-gd]") {
  List all;
  for (std::int64_t n = 0; n <= 1000; n += 10) all.emplace_back(n);
  for (const auto& [key, value] :
       std::vector<std::pair<const char*, double>>{{"model.gamma", 0.1},
                                                   {"model.gamma", 2.0 / 3},
                                                   {"model.gamma", 3.0},
                                                   {"sim.eta", 0.1}}) {
    CAPTURE(key, value);
    StudyRun run(study_named("joma-entropy-gd"), {{"sim.steps", all}, {key, value}});
    CHECK(run.points() == Verdict::agree);
    run.scale_theory("attention_entropy", 1.03);
    CHECK(run.points() == Verdict::disagree);
  }
}

TEST_CASE("joma-entropy-gd: agrees, and small errors do not",
          "[agreement][study:joma-entropy-gd]") {
  check_agrees_and_rejects("joma-entropy-gd", {{"attention_entropy", 1.03}});
}

}  // namespace agreement_joma_entropy_gd_test
