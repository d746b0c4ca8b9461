/// @file
/// @brief Theory meets simulation in gauss-sgd-data, and errors in the theory are found.

#include <catch2/catch.hpp>

#include "agreement/gauss/sites.hpp"
#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_gauss_sgd_data_test {

using attica::testing::kSites;
using attica::testing::StudyRun;

TEST_CASE("gauss-sgd-data: agrees, and an error 5 % off does not",
          "[agreement][sgd][study:gauss-sgd-data]") {
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

}  // namespace agreement_gauss_sgd_data_test
