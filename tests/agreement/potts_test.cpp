// Theory meets simulation on Potts data: learning tails, square loss, flow; planted errors are
// found.

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "agreement/study_run.hpp"
#include "attica/solvers/agreement.hpp"
#include "attica/studies/potts_studies.hpp"

using namespace attica;
using attica::testing::StudyRun;

namespace {

std::unique_ptr<Experiment> build(const Study& study,
                                  const std::vector<std::pair<std::string, Value>>& assignments,
                                  Configuration& c) {
  std::vector<Parameter> parameters = study.parameters;
  parameters.push_back({.key = "sim.seed",
                        .type = ParameterType::integer,
                        .fallback = Value(std::int64_t{1}),
                        .meaning = "seed"});
  c = Configuration(study.name, parameters);
  for (const auto& [key, value] : assignments) c.set(key, value, true);
  return study.make(c);
}

/// The verdict over all points where theory and simulation have the same series, point and x.
/// @param planted factor on the theory
Verdict verdict(const Study& study,
                const std::vector<std::pair<std::string, Value>>& assignments,
                std::uint64_t replicates,
                double planted) {
  Configuration c;
  const auto experiment = build(study, assignments, c);
  const TheoryResult theory = experiment->theory(TheoryGrid::run);
  std::vector<Outcome> outcomes;
  for (std::size_t p = 0; p < experiment->points(); ++p) {
    for (Outcome& o : experiment->simulate(
             {.point = p, .stream_point = p, .replicates = replicates, .seed = 1})) {
      outcomes.push_back(std::move(o));
    }
  }
  std::vector<ComparedPoint> points;
  for (const AgreementRule& rule : study.agreement(c)) {
    for (const Prediction& p : theory.predictions) {
      if (p.series.name != rule.series) continue;
      for (std::size_t k = 0; k < p.series.x.size(); ++k) {
        if (!p.compared.empty() && !p.compared[k]) continue;
        ComparedPoint point{.theory = planted * p.series.y[k],
                            .margin = {.absolute = rule.absolute, .relative = rule.relative}};
        if (!p.finite_size.empty()) point.margin.finite_size = p.finite_size[k];
        for (const Outcome& o : outcomes) {
          for (const Series& s : o.series) {
            if (s.name != p.series.name || s.point != p.series.point) continue;
            for (std::size_t n = 0; n < s.x.size(); ++n) {
              if (s.x[n] == p.series.x[k]) point.replicates.push_back(s.y[n]);
            }
          }
        }
        if (!point.replicates.empty()) points.push_back(std::move(point));
      }
    }
  }
  REQUIRE_FALSE(points.empty());
  return judge(points).verdict;
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

}  // namespace

TEST_CASE("potts-square: agrees, and a theory 5 % off is found", "[agreement][potts]") {
  const std::vector<std::pair<std::string, Value>> small{{"sweep.alpha", List{1.0, 2.0}},
                                                         {"sim.chains", 10000}};
  CHECK(verdict(potts_square(), small, 100, 1) == Verdict::agree);
  CHECK(verdict(potts_square(), small, 100, 1.05) == Verdict::disagree);
}

TEST_CASE("potts-learning: the tails agree, and ones 40 % off are found", "[agreement][potts]") {
  const std::vector<std::pair<std::string, Value>> large{{"sweep.samples", List{10000.0}}};
  CHECK(verdict(potts_learning(), large, 60, 1) == Verdict::agree);
  CHECK(verdict(potts_learning(), large, 60, 1.4) == Verdict::disagree);
}

TEST_CASE("potts-flow: SGD follows the flow, and a flow 5 % off is found", "[agreement][potts]") {
  const std::vector<std::pair<std::string, Value>> brief{{"sim.times", List{10.0, 20.0}},
                                                         {"sim.eta", 0.025}};
  CHECK(verdict(potts_flow(), brief, 40, 1) == Verdict::agree);
  CHECK(verdict(potts_flow(), brief, 40, 1.05) == Verdict::disagree);
}

TEST_CASE("potts-sampler: Gibbs means are the enumerated ones, a shift is found",
          "[agreement][potts]") {
  const std::vector<std::pair<std::string, Value>> one{{"sweep.beta", List{1.0}}};
  CHECK(verdict(potts_sampler(), one, 12, 1) == Verdict::agree);
  CHECK(verdict(potts_sampler(), one, 12, 1.2) == Verdict::disagree);
}

TEST_CASE("potts-couplings: attention is the couplings, and 8 % off is found",
          "[agreement][potts]") {
  // The margin is 5 % of the largest coupling.
  const Study study = potts_couplings();
  StudyRun run(study, {{"sim.replicates", 30}, {"sim.starts", 4}});
  CHECK(run.points() == Verdict::agree);
  CHECK(claim(run, "couplings-found") == Verdict::agree);
  run.scale_theory("coupling", 1.08);
  CHECK(run.points() == Verdict::disagree);
  change(run, "coupling_error", {}, 1, 0.05);
  CHECK(claim(run, "couplings-found") == Verdict::disagree);
}

TEST_CASE("potts-loss: factored attention gets to the Bayes loss, a hundredth of a nat is found",
          "[agreement][potts]") {
  const Study study = potts_loss();
  StudyRun run(study, {{"sim.steps", 1000}, {"sim.layers", List{1}}, {"sim.replicates", 2}});
  CHECK(claim(run, "factored-reaches-the-bayes-loss") == Verdict::agree);
  CHECK(claim(run, "one-layer-falls-short") == Verdict::agree);
  change(run, "excess_loss", {{"model", "factored"}}, 1, 0.01);
  CHECK(claim(run, "factored-reaches-the-bayes-loss") == Verdict::disagree);
}

TEST_CASE("potts-peak: the claims hold, and a tail 30 % off is found", "[agreement][potts]") {
  const Study study = potts_peak();
  StudyRun run(study, {{"sweep.alpha", List{0.4, 1.8, 4.0, 120.0}}, {"sim.replicates", 16}});
  for (const ClaimResult& result : study.claims(run.configuration, run.observed)) {
    CAPTURE(result.name, result.detail);
    CHECK(result.verdict == Verdict::agree);
  }
  change(run, "excess_loss", {{"lambda", 1e-4}}, 1.3, 0);
  CHECK(claim(run, "tail") == Verdict::disagree);
  // Four times the parameters, 8 samples for each: no tail to claim.
  run.configuration.set("model.colours", std::int64_t{5}, true);
  CHECK_THROWS_AS(claim(run, "tail"), std::logic_error);
}
