/// @file
/// @brief Theory meets simulation in gauss-sgd, and errors in the theory are found.

#include "attica/theory/gauss/sgd.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "agreement/gauss/sites.hpp"
#include "agreement/study_run.hpp"
#include "attica/core/gauss/ensembles.hpp"

using namespace attica;

namespace agreement_gauss_sgd_test {

using attica::testing::kSites;
using attica::testing::StudyRun;

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

TEST_CASE("gauss-sgd: agrees; twice the rate or no sampling noise does not",
          "[agreement][sgd][study:gauss-sgd]") {
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

TEST_CASE("gauss-sgd: agrees with masks and decay", "[agreement][sgd][study:gauss-sgd]") {
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

}  // namespace agreement_gauss_sgd_test
