#include "attica/studies/rounded_values.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "configured_study.hpp"
#include "refused.hpp"

using namespace attica;
using attica::testing::made;
using attica::testing::refused;
using Catch::Contains;

namespace rounded_values_test {

Configuration of_list(const List& values, bool given) {
  Configuration c("test",
                  {{.key = "sim.times",
                    .type = ParameterType::real,
                    .fallback = std::nullopt,
                    .meaning = "recorded times",
                    .list = true}});
  c.set("sim.times", values, given);
  return c;
}

TEST_CASE("rounded values: said and refused where a user gave them", "[studies]") {
  const auto lines = [](const List& times, bool given = true) {
    return times_of_steps(of_list(times, given), "sim.times", 0.1).lines();
  };
  REQUIRE(lines({0.1, 0.25, 0.31, 0.7}).size() == 1);
  CHECK(lines({0.1, 0.25, 0.31, 0.7}).front() ==
        "sim.times: times are whole steps of 0.1: time = 0.25 is run at step 3, time 0.3; time = "
        "0.31 is run at step 3, time 0.3");
  CHECK(lines({0.1, 0.30000000000000004, 0.7}).empty());
  CHECK(lines({0.25}, false).empty());
  CHECK_THAT(lines({0.11, 0.21, 0.31, 0.41, 0.51, 0.61}).front(), Contains("and 2 more"));

  const auto distinct = [](const List& times, bool given = true) {
    return refused(
        [&] { times_of_steps(of_list(times, given), "sim.times", 0.1, 1).require_distinct(); });
  };
  CHECK(distinct({0.1, 0.25, 0.4}) == "accepted");
  CHECK(distinct({0.25, 0.31}) == "sim.times");
  CHECK(distinct({0.0, 0.1}) == "sim.times");  // at least one step
  CHECK(distinct({0.25, 0.31}, false) == "accepted");
  CHECK(distinct({0.25, 0.25}) == "accepted");  // refused elsewhere: one value twice
}

/// What can be rounded in a study: values that are run alike.
struct Case {
  const char* study;
  const char* key;
  double value;
  Table others = {};
};

TEST_CASE(
    "every study that rounds a value says so, and refuses two that become one",
    "[studies][study:bigrams-sign][study:body4-stairs][study:gauss-double-descent][study:icl-"
    "alignment][study:icl-context][study:icl-diversity][study:icl-double-descent][study:icl-merged]"
    "[study:icl-separate][study:icl-training][study:joma-bounce][study:joma-erf][study:joma-"
    "overlap][study:positional-flow][study:potts-alignment][study:potts-flow][study:topics-"
    "attention][study:topics-mode-growth][study:topics-two-stage][study:tree-learning]") {
  const std::vector<Case> cases = {
      {"icl-merged", "sim.times", 12.345678},
      {"icl-separate", "sim.times", 12.345678},
      {"positional-flow", "sim.times", 12.345678},
      {"icl-double-descent", "sweep.tau", 1.2345678},
      {"icl-double-descent", "model.alpha", 1.2345678},
      {"icl-double-descent", "model.kappa", 1.2345678},
      {"icl-context", "sweep.alpha", 2.345678},
      {"icl-context", "sweep.kappa", 2.345678},
      {"icl-diversity", "sweep.kappa", 2.345678},
      {"icl-alignment", "sweep.kappa", 2.345678},
      {"icl-training", "model.tau", 2.345678},
      {"joma-bounce", "sim.token_times", 1.2345678},
      {"joma-erf", "sweep.time_fraction", 0.12345678},
      {"joma-overlap", "sweep.overlap", 0.0456789},
      {"tree-learning", "sweep.time", 12.345678},
      {"potts-flow", "sim.times", 12.345678},
      {"body4-stairs", "model.density", 0.4567},
      {"topics-attention", "sim.times", 123.45678},
      {"topics-mode-growth", "sim.times", 12.345678},
      {"topics-two-stage", "sim.times", 12.345678},
      {"bigrams-sign", "sweep.snr", 0.7654321, {{"sim.longest_sampled", 1000000}}},
      {"gauss-double-descent", "sweep.alpha", 1.2345678},
      {"potts-alignment", "sim.held_out", 0.12345678, {{"model.alphabet", std::string("-ACDE")}}},
  };
  for (const Case& one : cases) {
    CAPTURE(one.study, one.key);
    const Study study = study_named(one.study);
    const auto parameter = std::find_if(study.parameters.begin(),
                                        study.parameters.end(),
                                        [&](const Parameter& p) { return p.key == one.key; });
    REQUIRE(parameter != study.parameters.end());
    const auto with = [&](const Value& value) {
      Table overrides = one.others;
      overrides.emplace_back(one.key, value);
      return made(study, overrides);
    };
    const bool list = parameter->list;
    const auto single = with(list ? Value(List{one.value}) : Value(one.value));
    const std::vector<std::string> warnings = single->warnings();
    const auto said = [&](const std::string& line) {
      return line.starts_with(std::string(one.key) + ": ") &&
             line.find("is run at") != std::string::npos;
    };
    CHECK(std::ranges::any_of(warnings, said));
    CHECK(refused([&] { single->require_simulable(); }) == "accepted");
    if (!list) continue;
    const auto both = with(List{one.value, one.value * (1 + 1e-9)});
    CHECK(refused([&] { both->require_simulable(); }) == one.key);
    // Nothing is said of what nobody gave.
    CHECK(std::ranges::none_of(made(study, one.others)->warnings(), said));
  }
}

TEST_CASE("potts-alignment: a share of nothing is no share",
          "[studies][potts][study:potts-alignment]") {
  const Study study = study_named("potts-alignment");
  const auto share = [&](double held_out) {
    return refused([&] {
      static_cast<void>(
          made(study, {{"model.alphabet", std::string("-ACDE")}, {"sim.held_out", held_out}}));
    });
  };
  CHECK(share(0) == "accepted");
  CHECK(share(0.1) == "accepted");
  CHECK(share(1e-3) == "sim.held_out");  // of 400 sequences
}

}  // namespace rounded_values_test
