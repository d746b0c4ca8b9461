/// @file
/// @brief Theory meets simulation in gauss-random-labels, and errors in the theory are found.

#include <catch2/catch.hpp>
#include <utility>

#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_gauss_random_labels_test {

using attica::testing::StudyRun;

TEST_CASE("gauss-random-labels: agrees on digits, not at small penalties, and finds errors",
          "[agreement][study:gauss-random-labels]") {
  const Study study = study_named("gauss-random-labels");
  const StudyRun right(study, {{"sweep.alpha", List{0.7, 2.0}}});
  CHECK(right.points() == Verdict::agree);
  for (const auto& [series, factor] : {std::pair{"train_error", 1.02},
                                       {"objective", 0.98},
                                       {"data_train_error", 1.08},
                                       {"data_objective", 0.93}}) {
    CAPTURE(series);
    StudyRun wrong = right;
    wrong.scale_theory(series, factor);
    CHECK(wrong.points() == Verdict::disagree);
  }
  for (const ReferenceRun& reference_run : study.reference_runs) {
    CAPTURE(reference_run.name);
    CHECK(StudyRun(study, reference_run.values).points() == reference_run.expected);
  }
}

TEST_CASE("gauss-random-labels: without penalty what is left is (1 - N/M)+",
          "[agreement][study:gauss-random-labels]") {
  const Study study = study_named("gauss-random-labels");
  for (const double rho : {0.0, 0.8}) {
    const StudyRun run(study,
                       {{"model.covariance", "ar1"},
                        {"model.rho", rho},
                        {"model.sites", 40},
                        {"sweep.alpha", List{0.5, 2.0, 4.0}},
                        {"sweep.lambda", List{0.0, 1.0}}});
    CHECK(run.points() == Verdict::agree);
    const ObservedCurve* curve = run.observed.curve("train_error", {{"lambda", 0.0}});
    REQUIRE(curve != nullptr);
    CHECK_THAT(curve->mean.y[0], Catch::WithinAbs(0, 1e-12));
    // The scatter of 2000 data sets of 8 labellings is below 0.1 %.
    CHECK_THAT(curve->mean.y[1], Catch::WithinRel(0.5, 5e-3));
    CHECK_THAT(curve->mean.y[2], Catch::WithinRel(0.75, 5e-3));
  }
}

}  // namespace agreement_gauss_random_labels_test
