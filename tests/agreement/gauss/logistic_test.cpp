/// @file
/// @brief Theory meets simulation in gauss-logistic, and errors in the theory are found.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_gauss_logistic_test {

using attica::testing::StudyRun;

TEST_CASE("gauss-logistic: agrees on inputs of any covariance",
          "[agreement][study:gauss-logistic]") {
  const Study study = study_named("gauss-logistic");
  for (const double rho : {0.0, 0.8}) {
    const StudyRun run(study,
                       {{"model.covariance", "ar1"},
                        {"model.rho", rho},
                        {"model.sites", 40},
                        {"sweep.alpha", List{1.0, 4.0}},
                        {"sweep.lambda", List{0.3, 2.0}}});
    CHECK(run.points() == Verdict::agree);
    StudyRun wrong = run;
    wrong.scale_theory("objective", 0.96);
    CHECK(wrong.points() == Verdict::disagree);
  }
}

}  // namespace agreement_gauss_logistic_test
