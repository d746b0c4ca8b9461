#include "attica/app/run/failure.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <new>
#include <stdexcept>

#include "app/toy_study.hpp"
#include "attica/app/run/ranks.hpp"
#include "attica/studies/at_point.hpp"

using namespace attica;
using namespace attica::app;
using toy::message_of;

namespace failure_test {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

CheckedConfiguration configured(const std::vector<Override>& overrides) {
  static const std::vector<Study> registry = toy::registry();
  CheckedConfiguration c =
      read_configuration({.target = "toy-line", .preset = {}, .overrides = overrides}, registry);
  c.locations.clear();  // as if the values came from nowhere that can be named
  return c;
}

PartRecord observed(double y) {
  return {.first_replicate = 4,
          .outcomes = {{.series = {{"y", {{"x", 0.5}}, "step", {10, 20}, {1, y}}}}},
          .seconds = 0};
}

TEST_CASE("farthest_setting: in powers of ten, zero and signs farthest, only what was given",
          "[app][failure]") {
  CHECK(farthest_setting(configured({}), {}).text.empty());
  CHECK(farthest_setting(configured({{"", "model.a=2.0"}}), {}).text.empty());  // the default
  CHECK(farthest_setting(configured({{"", "model.a=8"}, {"", "sim.steps=1000"}}), {}).text ==
        "sim.steps = 1000 (default 10)");
  CHECK(farthest_setting(configured({{"", "model.a=1e-300"}, {"", "sim.steps=1000"}}), {}).text ==
        "model.a = 1e-300 (default 2)");
  const CheckedConfiguration list =
      configured({{"", "sweep.x=[1.0, 1e300, 0.0]"}, {"", "sim.steps=11"}});
  CHECK(farthest_setting(list, {}).key == "sweep.x");
  CHECK(farthest_setting(list, {{"x", 1e300}}).text == "sweep.x = 1e+300 (default 1, 2, 3)");
  CHECK(farthest_setting(list, {{"x", 1.0}}).key == "sim.steps");  // this x is a default
  CHECK(farthest_setting(configured({}), {{"x", 3.0}}).text == "sweep.x = 3");
  CHECK(farthest_setting(configured({{"", "sweep.a=[1.0, 7.0]"}}), {{"a", 7.0}}).text ==
        "model.a = 7 (default 2)");
}

TEST_CASE("explained: parameters stay, other quantities come with place and setting",
          "[app][failure]") {
  const CheckedConfiguration c = configured({{"", "model.a=1e-300"}});
  const Error own = invalid_parameter("a", 3, "less");
  CHECK(std::string(explained(own, c).what()) == own.what());
  const Error other = invalid_parameter("covariance", -1, "positive eigenvalues");
  const Error told = explained(other, c, {{"x", 2.0}}, "point 2 of 3");
  CHECK(std::string(told.what()) ==
        "covariance = -1: expected positive eigenvalues (at x=2, point 2 of 3); change model.a = "
        "1e-300 (default 2) first");
  CHECK(told.kind() == ErrorKind::input);
  CHECK(told.parameter() == "model.a");
  const Error numerical(ErrorKind::numerical, "no root");
  CHECK(std::string(explained(numerical, c).what()) ==
        "no root; change model.a = 1e-300 (default 2) first");
  // A place that the study said stands for the vaguer one.
  const auto thrown = [&](const Error& error) -> Error {
    try {
      at_point({{"lambda", 0.5}}, [&] { throw error; });
    } catch (const Error& placed) {
      return placed;
    }
    return error;
  };
  CHECK(std::string(explained(thrown(numerical), c, {{"x", 2.0}}, "the theory").what()) ==
        "no root (at x=2, lambda=0.5); change model.a = 1e-300 (default 2) first");
  CHECK(thrown(numerical).kind() == ErrorKind::numerical);
  CHECK(thrown(own).parameter() == "a");
  CHECK(std::string(thrown({ErrorKind::numerical, "no root (at inner=1)"}).what()) ==
        "no root (at inner=1)");
  CHECK(at_point({}, [] { return 3; }) == 3);
  // What is said of files and folders, and of options, is whole.
  const Error storage(ErrorKind::storage, "disk full");
  CHECK(std::string(explained(storage, c, {{"x", 2.0}}).what()) == "disk full");
  const Error option = invalid_parameter("--shard", "3/2", "at most 2");
  CHECK(std::string(explained(option, c, {{"x", 2.0}}).what()) == option.what());
}

TEST_CASE("rethrow_explained: memory that does not suffice is told of the largest size",
          "[app][failure]") {
  const CheckedConfiguration c = configured({{"", "sim.steps=1000"}});
  for (const auto& thrown : {std::make_exception_ptr(std::bad_alloc()),
                             std::make_exception_ptr(std::length_error("vector"))}) {
    CHECK(message_of([&] { rethrow_explained(thrown, c, c.values); }) ==
          "parameter 'sim.steps' = 1000: expected a problem that fits into the memory of this "
          "machine");
  }
  CHECK_THROWS_AS(
      rethrow_explained(std::make_exception_ptr(std::out_of_range("slip")), c, c.values),
      std::out_of_range);
}

TEST_CASE("require_finite: the first observation that is no number, with its place",
          "[app][failure]") {
  const CheckedConfiguration c = configured({{"", "sweep.x=[0.5, 1e9]"}});
  CHECK(message_of([&] { require_finite(observed(1), c, {}); }) == "(no error)");
  CHECK(message_of([&] {
          require_finite(observed(kNaN), c, {{"a", 3.0}});
        }) ==
        "series 'y': an observation is not finite (at a=3, x=0.5, step=20, replicate 4); change "
        "sweep.x = 0.5 (default 1, 2, 3) first");
  PartRecord failed = observed(kNaN);
  failed.outcomes[0].failed = true;
  CHECK(message_of([&] { require_finite(failed, c, {}); }) == "(no error)");
}

TEST_CASE("carry_out: what a simulation throws is told with its point", "[app][failure]") {
  static const std::vector<Study> registry = toy::registry();
  const Work work = prepare(read_configuration(
      {.target = "toy-line", .preset = {}, .overrides = {{"", "sweep.a=[2.0, 9.0]"}}}, registry));
  const std::vector<PieceOfRun> all = pieces(work, std::size_t{1});
  toy::log().throw_at = 4;
  CHECK(message_of([&] { carry_out(work, all[4], {}); }) ==
        "toy breaks down (at a=9, point 2 of 3); change model.a = 9 (default 2) first");
  toy::log().throw_at = -1;
}

TEST_CASE("compute_theory: without a bounded allowance a point is drawn and not compared",
          "[app][failure]") {
  // A theory whose allowances are what the parameter says.
  struct Boundless : toy::Experiment {
    using toy::Experiment::Experiment;
    TheoryResult theory(TheoryGrid grid) const override {
      TheoryResult result = toy::Experiment::theory(grid);
      constexpr double kInf = std::numeric_limits<double>::infinity();
      result.predictions[0].finite_size = {0.1, kInf, -0.5};
      result.predictions[0].numerical_error = {kNaN, 0, 0};
      result.diagnostics = {{"limit", kInf}, {"list", List{1.0, kNaN}}};
      return result;
    }
  };
  std::vector<Study> registry = toy::registry();
  registry[0].make = [](Configuration& c) -> std::unique_ptr<attica::Experiment> {
    return std::make_unique<Boundless>(c);
  };
  const Work work =
      prepare(read_configuration({.target = "toy-line", .preset = {}, .overrides = {}}, registry));
  const TheoryRecord record = compute_theory(work, TheoryGrid::run);
  const Prediction& p = record.predictions.at(0);
  CHECK(p.series.y == std::vector<double>{2, 4, 6});
  CHECK(p.finite_size == std::vector<double>{0.1, 0, 0});
  CHECK(p.numerical_error == std::vector<double>{0, 0, 0});
  CHECK(p.compared == std::vector<bool>{false, false, false});
  CHECK_NOTHROW(dump(theory_object(work, record)));
  CHECK_FALSE(record.failed);
}

}  // namespace failure_test
