/// @file
/// @brief What several studies of the family refuse and warn of.

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>

#include "attica/studies/bigrams/model.hpp"
#include "configured_study.hpp"

using namespace attica;

namespace studies_bigrams_refusals_test {

using attica::testing::configured;
using attica::testing::made;
using attica::testing::refusal;
using Catch::Matchers::Contains;

TEST_CASE("bigram studies: bad input is refused by name",
          "[studies][bigrams][study:bigrams-baselines][study:bigrams-floor][study:bigrams-flow]["
          "study:bigrams-large][study:bigrams-recursion][study:bigrams-regularisation][study:"
          "bigrams-transformer]") {
  const Study study = study_named("bigrams-recursion");
  CHECK_THAT(refusal(study, {{"model.sparsity", 400}}), Contains("sparsity"));
  CHECK_THAT(refusal(study_named("bigrams-large"), {{"model.tokens", 70000}}),
             Contains("model.tokens"));
  CHECK_THAT(refusal(study_named("bigrams-flow"), {{"model.p_diagonal", 1.0 / 3}}),
             Contains("K_P"));
  CHECK_THAT(refusal(study_named("bigrams-flow"), {{"model.context", 2}}),
             Contains("model.sparsity"));
  CHECK_THAT(refusal(study_named("bigrams-flow"), {{"sim.surrogate", "dense"}}),
             Contains("sim.surrogate"));
  CHECK_THAT(refusal(study_named("bigrams-floor"), {{"sim.eta", 5.0}}), Contains("sim.eta"));
  CHECK_THAT(refusal(study, {{"model.instance", "explicit"}}), Contains("model.file"));
  CHECK_THAT(refusal(study, {{"model.instance", "text"}}), Contains("model.file"));
  CHECK_THAT(refusal(study_named("bigrams-regularisation"),
                     {{"sim.surrogate", "aggregated"}, {"sim.l1", 0.1}}),
             Contains("aggregated"));
  CHECK_THAT(refusal(study, {{"model.support", "strided"}, {"model.context", 5}}),
             Contains("strided"));
  CHECK_THAT(refusal(study_named("bigrams-regularisation"), {{"sim.l1", 0.0}}), Contains("l1"));
  CHECK_THAT(refusal(study_named("bigrams-floor"), {{"sim.surrogate", "dense"}}),
             Contains("surrogate"));
  const Study baselines = study_named("bigrams-baselines");
  CHECK_THAT(refusal(baselines, {{"sweep.samples", List{20}}}), Contains("sweep.samples"));
  CHECK_THAT(refusal(baselines, {{"model.context", 2000}}), Contains("model.context"));
  CHECK_THAT(refusal(baselines, {{"sim.l1", 0.0}}), Contains("sim.l1"));
  CHECK_THAT(refusal(baselines, {{"sim.surrogate", "dense"}}), Contains("sim.surrogate"));
  CHECK_THAT(refusal(baselines, {{"model.instance", "circulant"}, {"model.p_diagonal", 1.0}}),
             Contains("model.instance") && Contains("P > 1e-6"));
  const Study transformer = study_named("bigrams-transformer");
  CHECK_THAT(refusal(transformer, {{"sim.heads", 3}}), Contains("sim.heads"));
  CHECK_THAT(refusal(transformer, {{"model.context", 40}, {"model.sparsity", 20}}),
             Contains("model.sparsity"));
  CHECK_THAT(refusal(transformer, {{"sim.surrogate", "dense"}}), Contains("sim.surrogate"));
  CHECK(refusal(study, {}) == "accepted");
}

TEST_CASE("bigram studies: what only a simulation has no memory for is predicted",
          "[studies][bigrams][study:bigrams-boosting][study:bigrams-complexity][study:bigrams-"
          "floor][study:bigrams-recursion][study:bigrams-regularisation][study:bigrams-sign]") {
  for (const char* name : {"flow",
                           "softmax",
                           "floor",
                           "stability",
                           "recursion",
                           "large",
                           "boosting",
                           "regularisation",
                           "transfer",
                           "sign",
                           "complexity"}) {
    const Study study = study_named(std::string("bigrams-") + name);
    CAPTURE(study.name);
    Table overrides{{"model.context", 400000000}};
    Configuration c = configured(study, {});
    if (c.declares("sweep.context")) overrides = {{"sweep.context", List{90000000}}};
    if (c.declares("sim.steps")) overrides.push_back({"sim.steps", List{0, 2}});
    if (study.name == "bigrams-boosting") overrides.push_back({"sim.surrogate", "none"});
    if (study.name == "bigrams-floor") overrides.push_back({"sim.eta", 1e-9});
    if (study.name == "bigrams-complexity") overrides.push_back({"model.tokens", 30});
    if (study.name == "bigrams-sign") {
      overrides = {{"sweep.context", List{400000000}},
                   {"sim.longest_sampled", 1000000000},
                   {"sweep.snr", List{0.01}}};
    }
    const std::unique_ptr<Experiment> experiment = made(study, overrides);
    // At such a T no rate that a floor has is fast, and l1 has no mean field.
    if (study.name != "bigrams-regularisation" && study.name != "bigrams-floor") {
      CHECK_FALSE(experiment->theory(TheoryGrid::requested).predictions.empty());
    }
    CHECK_THROWS_WITH(experiment->require_simulable(), Contains("model.context"));
    CHECK_THROWS_WITH(experiment->simulate({.replicates = 1, .seed = 1}),
                      Contains("model.context"));
    made(study, {})->require_simulable();
  }
  CHECK_THROWS_WITH(
      made(study_named("bigrams-recursion"), {{"model.context", 400000000}})->require_simulable(),
      Contains("aggregated"));
  made(study_named("bigrams-recursion"),
       {{"model.context", 400000000}, {"sim.surrogate", "aggregated"}})
      ->require_simulable();
}

TEST_CASE(
    "bigram studies: a huge rate that is let through diverges with a message",
    "[studies][bigrams][study:bigrams-recursion][study:bigrams-sign][study:bigrams-vocabulary]") {
  const auto end = made(study_named("bigrams-recursion"),
                        {{"sim.eta", 1e300},
                         {"sim.algorithm", "sgd_raw"},
                         {"model.context", 50},
                         {"sim.steps", List{5, 10}}})
                       ->simulate({.replicates = 1, .seed = 1});
  CHECK(end.front().failed);
  CHECK(end.front().series.empty());
  CHECK_THAT(end.front().message, Contains("diverged at step"));
  CHECK_THAT(refusal(study_named("bigrams-sign"), {{"sweep.snr", List{1e300}}}),
             Contains("sweep.snr"));
  CHECK_THAT(refusal(study_named("bigrams-vocabulary"), {{"sim.l1", 0.0}}), Contains("sim.l1"));
}

TEST_CASE("bigram studies: rates that no solution survives are refused",
          "[studies][bigrams][study:bigrams-boosting][study:bigrams-complexity][study:bigrams-"
          "floor][study:bigrams-flow][study:bigrams-large][study:bigrams-recursion][study:bigrams-"
          "regularisation][study:bigrams-sign][study:bigrams-softmax][study:bigrams-stability]["
          "study:bigrams-transfer][study:bigrams-vocabulary]") {
  // K_P = 0.32667, K_Q = 1/2 - 1/300: ω = 1 at η = 2.4827, or at η_V η_A = 6.1637.
  const auto refused = [](Table values) {
    values.insert(values.end(),
                  {{"model.instance", "circulant"},
                   {"model.weights", "uniform"},
                   {"model.contrast", 2.0},
                   {"model.p_diagonal", 0.8}});
    return refusal(study_named("bigrams-recursion"), values);
  };
  CHECK_THAT(refused({{"sim.eta", 2.49}}), Contains("sim.eta") && Contains("below 2.48"));
  CHECK(refused({{"sim.eta", 2.48}}) == "accepted");
  CHECK_THAT(refused({{"sim.eta_A", 130.0}}), Contains("sim.eta_A") && Contains("below 123"));
  CHECK_THAT(refused({{"sim.eta_V", 2.0}, {"sim.eta_A", 3.1}}),
             Contains("sim.eta_A") && Contains("below 3.08"));
  CHECK_THAT(refusal(study_named("bigrams-recursion"), {{"sim.eta_V", 1e300}}),
             Contains("sim.eta_V"));
  // Plain gradients are smaller by the tokens' frequencies.
  CHECK(refusal(study_named("bigrams-recursion"),
                {{"sim.eta", 5.0}, {"sim.algorithm", "sgd_raw"}}) == "accepted");
  for (const Study& study : {study_named("bigrams-flow"),
                             study_named("bigrams-sign"),
                             study_named("bigrams-boosting"),
                             study_named("bigrams-floor"),
                             study_named("bigrams-softmax"),
                             study_named("bigrams-complexity"),
                             study_named("bigrams-regularisation"),
                             study_named("bigrams-vocabulary"),
                             study_named("bigrams-large"),
                             study_named("bigrams-transfer")}) {
    CAPTURE(study.name);
    CHECK_THAT(refusal(study, {{"sim.eta", 1000.0}}), Contains("sim.eta") && Contains("below"));
  }
  CHECK_THAT(refusal(study_named("bigrams-softmax"), {{"sim.eta_flow", 2.7}}),
             Contains("sim.eta_flow"));
  CHECK(refusal(study_named("bigrams-stability"), {{"sim.eta", 1000.0}}) ==
        "accepted");  // it sets its own
}

TEST_CASE("bigram studies: runs that end badly are counted, not averaged",
          "[studies][bigrams][study:bigrams-recursion][study:bigrams-regularisation][study:bigrams-"
          "stability][study:bigrams-transfer]") {
  const auto outcomes = [](const Study& study, const Table& overrides) {
    Configuration c = configured(study, overrides);
    return study.make(c)->simulate({.point = 1, .stream_point = 1, .replicates = 1, .seed = 1});
  };
  // λ far above the signal: all of A is thresholded away.
  const auto collapsed = outcomes(
      study_named("bigrams-regularisation"),
      {{"model.context", 100}, {"sim.l1", 5.0}, {"sim.batch", 256}, {"sim.steps", List{0, 40}}});
  CHECK(collapsed.front().status == "collapsed");
  CHECK(collapsed.front().series.empty());
  // A rate far above the stability limit.
  const auto diverged = outcomes(
      study_named("bigrams-transfer"),
      {{"model.context", 100}, {"sim.eta", 2.0}, {"sim.batch", 4}, {"sim.steps", List{0, 200}}});
  CHECK(diverged.front().status == "diverged");
  CHECK(diverged.front().failed);
  // A negative correlation ends in the mirror solution.
  const auto mirror = outcomes(study_named("bigrams-transfer"),
                               {{"model.context", 100},
                                {"sim.batch", 256},
                                {"sweep.correlation", List{0.5, -0.3}},
                                {"sim.steps", List{0, 100}}});
  CHECK(mirror.front().status == "mirror");
  CHECK(mirror.front().series.empty());
  // Wrong signs at a signal-to-noise ratio of 0.6.
  Configuration c = configured(
      study_named("bigrams-recursion"),
      {{"sim.batch", 2}, {"sim.eta", 0.05}, {"model.context", 100}, {"sim.steps", List{0, 150}}});
  std::map<std::string, int> ends;
  for (const Outcome& outcome :
       study_named("bigrams-recursion").make(c)->simulate({.replicates = 20, .seed = 1})) {
    ++ends[outcome.status];
    CHECK(outcome.series.empty() == (outcome.status != "converged"));
  }
  CHECK(ends["converged"] > 0);
  CHECK(ends["mirror"] > 0);
  // Divergence is the question of bigrams-stability: counted there, without a value of d_A.
  const auto unstable =
      outcomes(study_named("bigrams-stability"), {{"sweep.rate_ratio", List{0.5, 3.0}}});
  CHECK(unstable.front().status == "diverged");
  CHECK_FALSE(unstable.front().failed);
  REQUIRE(unstable.front().series.size() == 1);
  CHECK(unstable.front().series.front().name == "diverged");
}

TEST_CASE("bigrams-recursion, -large: no margin of a quantity is as large as the quantity",
          "[studies][bigrams][study:bigrams-large][study:bigrams-recursion]") {
  for (const Study& study : {study_named("bigrams-recursion"), study_named("bigrams-large")}) {
    for (const int tokens : {2, 3, 20}) {
      const Configuration c = attica::testing::configured(study, {{"model.tokens", tokens}});
      for (const AgreementRule& rule : study.agreement(c)) {
        CAPTURE(study.name, rule.series, tokens);
        CHECK(rule.relative <= 0.5);
        CHECK(rule.absolute == 0);
      }
    }
  }
}

}  // namespace studies_bigrams_refusals_test
