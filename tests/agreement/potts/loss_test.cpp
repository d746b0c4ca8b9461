/// @file
/// @brief Theory meets simulation in potts-loss, and errors in the theory are found.

#include <catch2/catch.hpp>

#include "agreement/potts/claims.hpp"
#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_potts_loss_test {

using attica::testing::change;
using attica::testing::claim;
using attica::testing::StudyRun;

TEST_CASE("potts-loss: networks come to the best loss, half a per cent is found",
          "[agreement][potts][study:potts-loss]") {
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

}  // namespace agreement_potts_loss_test
