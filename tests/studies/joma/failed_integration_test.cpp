/// @file
/// @brief What several studies of the family refuse and warn of.

#include <catch2/catch.hpp>

#include "attica/studies/joma/model.hpp"

using namespace attica;

namespace studies_joma_failed_integration_test {

TEST_CASE("an integration that misses its event has failed, and says so",
          "[studies][joma][study:joma-salience]") {
  const auto marked = [](OdeStatus status) {
    Outcome outcome;
    OdeResult solution;
    solution.status = status;
    mark_failed(outcome, solution);
    CHECK(outcome.failed);
    CHECK_FALSE(outcome.message.empty());
    return outcome.status;
  };
  // What is "finished" or "converged" counts as well ended where a verdict is told.
  CHECK(marked(OdeStatus::finished) == "event_missed");
  CHECK(marked(OdeStatus::step_limit) == "step_limit");
  // Fewer nats than the integration tells from none are refused when a configuration is read.
  for (const Parameter& p : study_named("joma-salience").parameters) {
    if (p.key == "sweep.ell") CHECK_FALSE(p.range.contains(1e-300));
  }
}

}  // namespace studies_joma_failed_integration_test
