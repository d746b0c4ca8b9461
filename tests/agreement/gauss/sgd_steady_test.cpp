/// @file
/// @brief Theory meets simulation in gauss-sgd-steady, and errors in the theory are found.

#include <catch2/catch.hpp>

#include "agreement/gauss/sites.hpp"
#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_gauss_sgd_steady_test {

using attica::testing::kSites;
using attica::testing::StudyRun;

TEST_CASE("gauss-sgd-steady: agrees, and an error 5 % off does not",
          "[agreement][sgd][study:gauss-sgd-steady]") {
  StudyRun run(study_named("gauss-sgd-steady"),
               {{"model.sites", static_cast<std::int64_t>(kSites)},
                {"sweep.eta", List{0.03, 0.06}},
                {"sweep.batch", List{1, 8}},
                {"sim.replicates", 300}});
  CHECK(run.points() == Verdict::agree);
  run.scale_theory("steady_error", 1.05);
  CHECK(run.points() == Verdict::disagree);
}

}  // namespace agreement_gauss_sgd_steady_test
