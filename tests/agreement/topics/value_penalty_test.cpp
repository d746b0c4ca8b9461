/// @file
/// @brief Theory meets simulation in topics-value-penalty, and errors in the theory are found.

#include <catch2/catch.hpp>
#include <utility>

#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_topics_value_penalty_test {

using attica::testing::perturbed;
using attica::testing::StudyRun;

TEST_CASE("topics-value-penalty and -length: entries between topics 10 % off are found",
          "[agreement][study:topics-value-length][study:topics-value-penalty]") {
  const Study penalty = study_named("topics-value-penalty");
  const Study length = study_named("topics-value-length");
  const StudyRun penalties(penalty, {{"sweep.lambda", List{0.001, 0.03}}});
  const StudyRun lengths(length, {{"sweep.length", List{20, 40}}, {"model.prior", "subset"}});
  for (const StudyRun* run : {&penalties, &lengths}) {
    INFO(run->study.name);
    CHECK(run->points() == Verdict::agree);
    CHECK(perturbed(*run, {.name = "", .series = "value_g", .factor = 1.1}).points() ==
          Verdict::disagree);
  }
  for (const auto& [series, factor] :
       {std::pair{"mask_square", 1.01}, std::pair{"kept_share", 1.03}}) {
    INFO(series);
    CHECK(perturbed(lengths, {.name = "", .series = series, .factor = factor}).points() ==
          Verdict::disagree);
  }
}

}  // namespace agreement_topics_value_penalty_test
