/// Theory meets simulation in the studies of dynamics, by their own rules, and theories that are
/// wrong on purpose are found.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"
#include "attica/core/gauss/ensembles.hpp"
#include "attica/theory/gauss/flow.hpp"
#include "attica/theory/gauss/sgd.hpp"

using namespace attica;
using attica::testing::StudyRun;

namespace gauss_dynamics_studies_test {

constexpr Eigen::Index kSites = 10;

/// Puts another online theory into the test errors: `wrong` changes its parameters.
template <class Wrong>
void replace_online_theory(StudyRun& run, const Wrong& wrong) {
  const GaussianMlm problem(ar1_covariance(kSites, 0.7));
  for (Prediction& p : run.observed.theory) {
    if (p.series.name != "test_error") continue;
    SgdParameters parameters{.eta = std::get<double>(p.series.point[0].second),
                             .batch = std::get<double>(p.series.point[1].second)};
    wrong(parameters);
    const std::vector<std::int64_t> steps(p.series.x.begin(), p.series.x.end());
    std::fill(p.series.y.begin(), p.series.y.end(), 0.0);
    for (Eigen::Index i = 0; i < kSites; ++i) {
      const std::vector<double> site =
          online_sgd_errors(site_regression(problem, i), parameters, steps);
      for (std::size_t k = 0; k < steps.size(); ++k) p.series.y[k] += site[k] / kSites;
    }
  }
}

TEST_CASE("gauss-sgd: agrees; twice the rate or no sampling noise does not", "[agreement][sgd]") {
  const Study study = study_named("gauss-sgd");
  const Table settings{{"model.sites", static_cast<std::int64_t>(kSites)},
                       {"sweep.eta", List{0.02, 0.05}},
                       {"sweep.batch", List{2, 8}},
                       {"sim.steps", List{1, 10, 60, 200}}};
  const StudyRun right(study, settings);
  CHECK(right.points() == Verdict::agree);
  StudyRun same = right;
  replace_online_theory(same, [](SgdParameters&) {});
  CHECK(same.points() == Verdict::agree);
  StudyRun rate = right;
  replace_online_theory(rate, [](SgdParameters& p) { p.eta *= 2; });
  CHECK(rate.points() == Verdict::disagree);
  StudyRun smooth = right;
  replace_online_theory(smooth, [](SgdParameters& p) { p.batch = 1e15; });
  CHECK(smooth.points() == Verdict::disagree);
}

TEST_CASE("gauss-sgd: agrees with masks and decay", "[agreement][sgd]") {
  for (const double probability : {0.1, 0.35}) {  // 0.1: one of the ten sites
    const StudyRun run(study_named("gauss-sgd"),
                       {{"model.sites", static_cast<std::int64_t>(kSites)},
                        {"sweep.eta", List{0.2}},
                        {"sweep.batch", List{8}},
                        {"sim.steps", List{1, 10, 100}},
                        {"sim.mask_probability", probability},
                        {"sim.lambda", 0.1},
                        {"sim.replicates", 600}});
    CHECK(run.points() == Verdict::agree);
  }
}

TEST_CASE("gauss-sgd-steady: agrees, and an error 5 % off does not", "[agreement][sgd]") {
  StudyRun run(study_named("gauss-sgd-steady"),
               {{"model.sites", static_cast<std::int64_t>(kSites)},
                {"sweep.eta", List{0.03, 0.06}},
                {"sweep.batch", List{1, 8}},
                {"sim.replicates", 300}});
  CHECK(run.points() == Verdict::agree);
  run.scale_theory("steady_error", 1.05);
  CHECK(run.points() == Verdict::disagree);
}

TEST_CASE("gauss-sgd-data: agrees, and an error 5 % off does not", "[agreement][sgd]") {
  StudyRun run(study_named("gauss-sgd-data"),
               {{"model.sites", static_cast<std::int64_t>(kSites)},
                {"model.samples", 12},
                {"sweep.eta", List{0.02, 0.05}},
                {"sweep.batch", List{1, 4}},
                {"sim.steps", List{1, 10, 60, 200}},
                {"sim.replicates", 2400}});
  CHECK(run.points() == Verdict::agree);
  run.scale_theory("test_error", 1.05);
  CHECK(run.points() == Verdict::disagree);
}

TEST_CASE("gauss-flow: agrees; a clock twice as fast does not", "[agreement][flow]") {
  const Study study = study_named("gauss-flow");
  const std::vector<double> times{0.2, 1, 5, 50};
  const Table settings{{"model.sites", 41},
                       {"sweep.alpha", List{0.5, 2.5}},
                       {"sim.times", List(times.begin(), times.end())},
                       {"sim.replicates", 2400}};
  StudyRun run(study, settings);
  CHECK(run.points() == Verdict::agree);
  const GaussianFlow flow(GaussianMlm(ar1_covariance(41, 0.7)));
  for (Prediction& p : run.observed.theory) {
    if (p.series.name != "test_error") continue;
    std::vector<ResidualFilter> filters;
    for (const double time : p.series.x) filters.push_back(flow_filter(2 * time));
    const std::vector<FlowPoint> wrong =
        flow.average(40 * std::get<double>(p.series.point[0].second), filters);
    for (std::size_t k = 0; k < wrong.size(); ++k) p.series.y[k] = wrong[k].test_error;
  }
  CHECK(run.points() == Verdict::disagree);
}

}  // namespace gauss_dynamics_studies_test
