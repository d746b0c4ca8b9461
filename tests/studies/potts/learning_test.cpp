/// @file
/// @brief What potts-learning refuses, and what its theory and simulation do at the limits of its
/// parameters.

#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <variant>
#include <vector>

#include "configured_study.hpp"

using namespace attica;

namespace studies_potts_learning_test {

using attica::testing::made;

TEST_CASE("potts-learning: frozen models have finite allowances, and nothing compared of them",
          "[studies][potts][study:potts-learning]") {
  for (const double beta : {8.0, 50.0}) {
    const TheoryResult theory =
        made(study_named("potts-learning"), {{"model.beta", beta}})->theory(TheoryGrid::requested);
    for (const Prediction& p : theory.predictions) {
      CAPTURE(beta, p.series.name);
      for (const double allowance : p.finite_size) CHECK(std::isfinite(allowance));
      REQUIRE_FALSE(p.compared.empty());
      CHECK_FALSE(p.compared.back());
    }
  }
}

double told(const TheoryResult& theory, const std::string& name) {
  for (const auto& [key, value] : theory.diagnostics) {
    if (key != name) continue;
    const auto* whole = std::get_if<std::int64_t>(&value);
    return whole != nullptr ? static_cast<double>(*whole) : std::get<double>(value);
  }
  FAIL("no " + name);
  return 0;
}

TEST_CASE("potts-learning: temperatures that are swept have the curves of each alone",
          "[studies][potts][study:potts-learning]") {
  const auto theory = [](const Table& settings) {
    return made(study_named("potts-learning"), settings)->theory(TheoryGrid::requested);
  };
  const TheoryResult both = theory({{"sweep.beta", std::vector{0.6, 1.2}}});
  const TheoryResult one = theory({});
  std::size_t met = 0;
  for (const Prediction& p : both.predictions) {
    Point alone;
    bool here = false;
    for (const auto& [name, value] : p.series.point) {
      if (name == "beta")
        here = std::get<double>(value) == 1.2;
      else
        alone.emplace_back(name, value);
    }
    for (const Prediction& q : one.predictions) {
      if (!here || q.series.name != p.series.name || q.series.point != alone) continue;
      CHECK(q.series.y == p.series.y);
      ++met;
    }
  }
  CHECK(met == one.predictions.size());
  CHECK(both.predictions.size() == 2 * met);
}

TEST_CASE("potts-learning: models too large to enumerate",
          "[studies][potts][study:potts-learning]") {
  const auto large = [](std::int64_t seed) {
    return made(study_named("potts-learning"),
                {{"model.sites", 10},
                 {"model.colours", 4},
                 {"model.beta", 0.5},
                 {"sweep.samples", std::vector{4000.0}},
                 {"sim.test_sequences", 200},
                 {"sim.chains", 4000},
                 {"sim.seed", seed}});
  };
  // What two pools say of the same number differs as they tell.
  const TheoryResult one = large(1)->theory(TheoryGrid::requested);
  const TheoryResult two = large(2)->theory(TheoryGrid::requested);
  const double error =
      std::hypot(told(one, "trace_factored_error"), told(two, "trace_factored_error"));
  CHECK(error > 0);
  CHECK(error < 0.02 * told(one, "trace_factored"));
  CHECK(std::abs(told(one, "trace_factored") - told(two, "trace_factored")) < 4 * error);
  CHECK(told(one, "parameters_per_site") == 3 * (1 + 9 * 3));
}

}  // namespace studies_potts_learning_test
