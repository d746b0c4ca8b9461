/// Bad input of the bigram studies is refused by name before any work.

#include "attica/studies/bigram_studies.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <memory>

#include "attica/core/error.hpp"
#include "attica/studies/bigram_common.hpp"
#include "configured_study.hpp"

namespace {

using namespace attica;
using attica::testing::configured;
using attica::testing::refusal;
using Catch::Matchers::Contains;

}  // namespace

TEST_CASE("bigram studies: bad input is refused by name", "[studies][bigrams]") {
  const Study study = bigrams_recursion();
  CHECK_THAT(refusal(study, {{"model.sparsity", 400}}), Contains("sparsity"));
  CHECK_THAT(refusal(bigrams_large(), {{"model.tokens", 70000}}), Contains("model.tokens"));
  CHECK_THAT(refusal(bigrams_flow(), {{"model.p_diagonal", 1.0 / 3}}), Contains("K_P"));
  CHECK_THAT(refusal(bigrams_flow(), {{"model.context", 2}}), Contains("model.sparsity"));
  CHECK_THAT(refusal(bigrams_flow(), {{"model.context", 100000000}}), Contains("model.context"));
  CHECK_THAT(refusal(bigrams_softmax(), {{"model.context", 100000000}}), Contains("model.context"));
  CHECK_THAT(refusal(bigrams_floor(), {{"sim.eta", 5.0}}), Contains("sim.eta"));
  CHECK_THAT(refusal(study, {{"model.instance", "explicit"}}), Contains("model.file"));
  CHECK_THAT(refusal(study, {{"model.instance", "text"}}), Contains("model.file"));
  CHECK_THAT(refusal(study, {{"model.context", 400000000}}), Contains("aggregated"));
  CHECK_THAT(refusal(study, {{"sim.surrogate", "aggregated"}, {"sim.l1", 0.1}}),
             Contains("aggregated"));
  CHECK_THAT(refusal(study, {{"model.support", "strided"}, {"model.context", 5}}),
             Contains("strided"));
  CHECK_THAT(refusal(bigrams_regularisation(), {{"sim.l1", 0.0}}), Contains("l1"));
  CHECK_THAT(refusal(bigrams_floor(), {{"sim.surrogate", "dense"}}), Contains("surrogate"));
  CHECK(refusal(study, {}) == "accepted");
}

TEST_CASE("bigram studies: rates that no solution survives are refused", "[studies][bigrams]") {
  // K_P = 0.32667, K_Q = 1/2 - 1/300: ω = 1 at η = 2.4827, or at η_V η_A = 6.1637.
  CHECK_THAT(refusal(bigrams_recursion(), {{"sim.eta", 2.49}}),
             Contains("sim.eta") && Contains("below 2.48"));
  CHECK(refusal(bigrams_recursion(), {{"sim.eta", 2.48}}) == "accepted");
  CHECK_THAT(refusal(bigrams_recursion(), {{"sim.eta_A", 130.0}}),
             Contains("sim.eta_A") && Contains("below 123"));
  CHECK_THAT(refusal(bigrams_recursion(), {{"sim.eta_V", 2.0}, {"sim.eta_A", 3.1}}),
             Contains("sim.eta_A") && Contains("below 3.08"));
  CHECK_THAT(refusal(bigrams_recursion(), {{"sim.eta_V", 1e300}}), Contains("sim.eta_V"));
  // Plain gradients are smaller by the tokens' frequencies.
  CHECK(refusal(bigrams_recursion(), {{"sim.eta", 5.0}, {"sim.algorithm", "sgd_raw"}}) ==
        "accepted");
  for (const Study& study : {bigrams_flow(),
                             bigrams_sign(),
                             bigrams_boosting(),
                             bigrams_floor(),
                             bigrams_softmax(),
                             bigrams_complexity(),
                             bigrams_regularisation(),
                             bigrams_vocabulary(),
                             bigrams_large(),
                             bigrams_transfer()}) {
    CAPTURE(study.name);
    CHECK_THAT(refusal(study, {{"sim.eta", 1000.0}}), Contains("sim.eta") && Contains("below"));
  }
  CHECK_THAT(refusal(bigrams_softmax(), {{"sim.eta_flow", 2.5}}), Contains("sim.eta_flow"));
  CHECK(refusal(bigrams_stability(), {{"sim.eta", 1000.0}}) == "accepted");  // it sets its own
}

TEST_CASE("bigram studies: above the stability limit there is no mean field with l1, but runs",
          "[studies][bigrams]") {
  Configuration c = configured(bigrams_regularisation(), {{"sim.batch", 1}});
  const std::unique_ptr<Experiment> experiment = bigrams_regularisation().make(c);
  CHECK_THAT(experiment->warnings().front(), Contains("stability limit"));
  CHECK_THROWS_WITH(experiment->theory(TheoryGrid::requested), Contains("stability limit"));
  CHECK(experiment->theory(TheoryGrid::run).predictions.empty());
}

TEST_CASE("bigram studies: the allowance of a curve is small against every value",
          "[studies][bigrams]") {
  CHECK(curve_allowance(1, 1) == 0.01);
  CHECK(curve_allowance(0.01, 1) == Approx(0.0015));
  CHECK(curve_allowance(0, 1) == 0);
}

TEST_CASE("bigram studies: doubtful settings are warned of", "[studies][bigrams]") {
  const Study study = bigrams_recursion();
  const auto warnings = [&](const Table& overrides) {
    Configuration c = configured(study, overrides);
    std::string all;
    for (const std::string& w : study.make(c)->warnings()) all += w + "\n";
    return all;
  };
  CHECK(warnings({}).empty());
  CHECK_THAT(warnings({{"model.context", 40}}), Contains("10 N Q"));
  CHECK_THAT(warnings({{"sim.eta", 2.0}}), Contains("stability limit"));
  CHECK_THAT(warnings({{"sim.batch", 8}}), Contains("snr"));
}

TEST_CASE("bigram studies: without a signal there are runs and no theory", "[studies][bigrams]") {
  for (const Table& overrides :
       {Table{{"model.p_diagonal", 1.0 / 3}}, Table{{"model.context", 2}, {"sim.batch", 256}}}) {
    Configuration c = configured(bigrams_recursion(), overrides);
    c.set("sim.steps", List{5, 10}, true);
    const std::unique_ptr<Experiment> experiment = bigrams_recursion().make(c);
    CHECK_THAT(experiment->warnings().front(), Contains("without signal"));
    CHECK_THROWS_AS(experiment->theory(TheoryGrid::requested), Error);
    CHECK(experiment->theory(TheoryGrid::run).predictions.empty());
    const auto outcomes = experiment->simulate({.replicates = 1, .seed = 1});
    CHECK(outcomes.front().series.size() == 3);
  }
}

TEST_CASE("bigram studies: noise is compared where runs are long enough for it",
          "[studies][bigrams]") {
  const auto compared = [](const Table& overrides) {
    Configuration c = configured(bigrams_stability(), overrides);
    const std::unique_ptr<Experiment> experiment = bigrams_stability().make(c);
    const TheoryResult theory = experiment->theory(TheoryGrid::run);
    CHECK(experiment->warnings().empty() == theory.predictions[0].compared.front());
    return theory.predictions[0].compared.front();
  };
  CHECK(compared({}));
  CHECK_FALSE(compared({{"sim.batch", 1}}));  // the limit is 15 times lower
}

TEST_CASE("bigram studies: signs are compared where the noise of A matters little",
          "[studies][bigrams]") {
  Configuration c = configured(bigrams_sign(), {{"sweep.context", List{300, 300000}}});
  const TheoryResult theory = bigrams_sign().make(c)->theory(TheoryGrid::requested);
  REQUIRE(theory.predictions.size() == 2);
  CHECK_FALSE(theory.predictions[0].compared.front());  // snr 0.5
  CHECK(theory.predictions[0].compared.back());         // snr 2
  CHECK(theory.predictions[1].compared.front());
}

TEST_CASE("bigram studies: runs that end badly are counted, not averaged", "[studies][bigrams]") {
  const auto outcomes = [](const Study& study, const Table& overrides) {
    Configuration c = configured(study, overrides);
    return study.make(c)->simulate({.point = 1, .stream_point = 1, .replicates = 1, .seed = 1});
  };
  // λ far above the signal: all of A is thresholded away.
  const auto collapsed = outcomes(
      bigrams_regularisation(),
      {{"model.context", 100}, {"sim.l1", 5.0}, {"sim.batch", 256}, {"sim.steps", List{0, 40}}});
  CHECK(collapsed.front().status == "collapsed");
  CHECK(collapsed.front().series.empty());
  // A rate far above the stability limit.
  const auto diverged = outcomes(
      bigrams_transfer(),
      {{"model.context", 100}, {"sim.eta", 2.0}, {"sim.batch", 4}, {"sim.steps", List{0, 200}}});
  CHECK(diverged.front().status == "diverged");
  CHECK(diverged.front().failed);
  // A negative correlation ends in the mirror solution.
  const auto mirror = outcomes(bigrams_transfer(),
                               {{"model.context", 100},
                                {"sim.batch", 256},
                                {"sweep.correlation", List{0.5, -0.3}},
                                {"sim.steps", List{0, 100}}});
  CHECK(mirror.front().status == "mirror");
  CHECK(mirror.front().series.empty());
  // Wrong signs at a signal-to-noise ratio of 0.6.
  Configuration c = configured(
      bigrams_recursion(),
      {{"sim.batch", 2}, {"sim.eta", 0.05}, {"model.context", 100}, {"sim.steps", List{0, 150}}});
  std::map<std::string, int> ends;
  for (const Outcome& outcome :
       bigrams_recursion().make(c)->simulate({.replicates = 20, .seed = 1})) {
    ++ends[outcome.status];
    CHECK(outcome.series.empty() == (outcome.status != "converged"));
  }
  CHECK(ends["converged"] > 0);
  CHECK(ends["mirror"] > 0);
  // Divergence is the question of bigrams-stability: counted there, without a value of d_A.
  const auto unstable = outcomes(bigrams_stability(), {{"sweep.rate_ratio", List{0.5, 3.0}}});
  CHECK(unstable.front().status == "diverged");
  CHECK_FALSE(unstable.front().failed);
  REQUIRE(unstable.front().series.size() == 1);
  CHECK(unstable.front().series.front().name == "diverged");
}

TEST_CASE("bigrams-recursion, -large: no margin of a quantity is as large as the quantity",
          "[studies][bigrams]") {
  for (const Study& study : {bigrams_recursion(), bigrams_large()}) {
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
