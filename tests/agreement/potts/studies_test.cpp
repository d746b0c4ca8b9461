// Theory meets simulation on Potts data: learning tails, square loss, flow; planted errors are
// found.

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "agreement/study_run.hpp"
#include "attica/solvers/statistics/agreement.hpp"

using namespace attica;
using attica::testing::StudyRun;

namespace potts_studies_test {

/// The study agrees, and no longer with all of its theory times `planted`.
void check_agrees_until(const char* study,
                        Table assignments,
                        std::int64_t replicates,
                        double planted) {
  assignments.emplace_back("sim.replicates", replicates);
  StudyRun run(study_named(study), assignments);
  CHECK(run.points() == Verdict::agree);
  run.scale_theory("", planted);
  CHECK(run.points() == Verdict::disagree);
}

Verdict claim(const StudyRun& run, const std::string& name) {
  for (const ClaimResult& result : run.study.claims(run.configuration, run.observed)) {
    if (result.name == name) return result.verdict;
  }
  throw std::logic_error("no claim " + name);
}

/// Plants an error in a simulated series with this point.
void change(
    StudyRun& run, const std::string& series, const Point& point, double factor, double shift) {
  for (ObservedCurve& curve : run.observed.simulation) {
    if (curve.mean.name != series || curve.mean.point != point) continue;
    for (double& y : curve.mean.y) y = factor * y + shift;
    for (std::vector<double>& values : curve.values) {
      for (double& y : values) y = factor * y + shift;
    }
  }
}

TEST_CASE("potts-square: agrees, and a theory 5 % off is found", "[agreement][potts]") {
  // Without the control, whose margin of 0.1 % takes thousands of data sets.
  check_agrees_until(
      "potts-square",
      {{"sweep.alpha", List{1.0, 2.0}}, {"sim.chains", 10000}, {"sim.gaussian_control", false}},
      100,
      1.05);
}

TEST_CASE("potts-square: agrees where inputs are few, two colours or twelve sites",
          "[agreement][potts]") {
  for (const char* key : {"model.colours", "model.sites"}) {
    const bool colours = std::string(key) == "model.colours";
    check_agrees_until("potts-square",
                       {{key, colours ? 2 : 12},
                        {"sweep.alpha", List{0.5, 1.0, 2.0}},
                        {"sim.gaussian_control", false}},
                       600,
                       1.08);
  }
}

TEST_CASE("potts-learning: the tails agree, and ones 40 % off are found", "[agreement][potts]") {
  check_agrees_until("potts-learning", {{"sweep.samples", List{10000.0}}}, 120, 1.4);
}

TEST_CASE("potts-flow: SGD follows the flow, and a flow 5 % off is found", "[agreement][potts]") {
  check_agrees_until("potts-flow", {{"sim.times", List{10.0, 20.0}}, {"sim.eta", 0.025}}, 40, 1.05);
}

TEST_CASE("potts-sampler: Gibbs means are the enumerated ones, a shift is found",
          "[agreement][potts]") {
  check_agrees_until("potts-sampler", {{"sweep.beta", List{1.0}}}, 40, 1.05);
}

TEST_CASE("potts-couplings: attention and values are the couplings, and 8 % off is found",
          "[agreement][potts]") {
  // The margins are 2 % of the largest coupling.
  const Study study = study_named("potts-couplings");
  StudyRun run(study, {{"sim.replicates", 30}, {"sim.starts", 4}});
  CHECK(run.points() == Verdict::agree);
  CHECK(claim(run, "couplings-found") == Verdict::agree);
  StudyRun colours = run;
  colours.scale_theory("colour_coupling", 1.08);
  CHECK(colours.points() == Verdict::disagree);
  run.scale_theory("coupling", 1.08);
  CHECK(run.points() == Verdict::disagree);
  change(run, "coupling_error", {}, 1, 0.05);
  CHECK(claim(run, "couplings-found") == Verdict::disagree);
}

TEST_CASE("potts-loss: networks come to the best loss, half a per cent is found",
          "[agreement][potts]") {
  const Study study = study_named("potts-loss");
  StudyRun run(study,
               {{"sim.length", 1500},
                {"sim.layers", List{1}},
                {"sim.realisations", 1},
                {"sim.replicates", 10}});
  CHECK(run.points() == Verdict::agree);
  CHECK(claim(run, "factored-reaches-the-bayes-loss") == Verdict::agree);
  CHECK(claim(run, "one-layer-falls-short") == Verdict::agree);
  CHECK(claim(run, "one-layer-misses-a-tenth") == Verdict::agree);
  const Point factored{{"model", "factored"}, {"realisation", 0.0}};
  change(run, "excess_loss", factored, 1, 0.01);
  CHECK(claim(run, "factored-reaches-the-bayes-loss") == Verdict::disagree);
  run.scale_theory("end_loss", 1.005);
  CHECK(run.points() == Verdict::disagree);
}

TEST_CASE("potts-peak: the claims hold, and a tail 30 % off is found", "[agreement][potts]") {
  const Study study = study_named("potts-peak");
  StudyRun run(study, {{"sweep.alpha", List{0.4, 1.8, 4.0, 120.0}}, {"sim.replicates", 60}});
  for (const ClaimResult& result : study.claims(run.configuration, run.observed)) {
    CAPTURE(result.name, result.detail);
    CHECK(result.verdict == Verdict::agree);
  }
  change(run, "excess_loss", {{"lambda", 1e-4}}, 1.3, 0);
  CHECK(claim(run, "tail") == Verdict::disagree);
  // Four times the parameters, 8 samples for each: no tail to claim.
  run.configuration.set("model.colours", std::int64_t{5}, true);
  CHECK_THROWS_AS(claim(run, "tail"), std::logic_error);
  // Penalties in between have a low peak, or none.
  const StudyRun between(study,
                         {{"sweep.alpha", List{0.4, 1.8, 120.0}},
                          {"sweep.lambda", List{0.01, 0.05}},
                          {"sim.replicates", 8}});
  CHECK(study.claims(between.configuration, between.observed).empty());
}

}  // namespace potts_studies_test
