// Theory meets simulation of a layer of softmax attention: SGD has the mean of first order, and not
// that of descent on the population; planted errors are found.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"
#include "attica/solvers/statistics/agreement.hpp"

using namespace attica;
using attica::testing::StudyRun;

namespace potts_softmax_flow_test {

TEST_CASE("potts-softmax-flow: SGD has the mean of first order, and what is off is found",
          "[agreement][potts][study:potts-softmax-flow]") {
  const Table values{{"sim.starts", 1}, {"sim.steps", List{10, 25, 50, 75, 100}}};
  StudyRun run(study_named("potts-softmax-flow"), values);
  CHECK(run.points() == Verdict::agree);
  StudyRun loss = run;
  loss.scale_theory("loss", 1.02);
  CHECK(loss.points() == Verdict::disagree);
  StudyRun warmer = run;
  Table off = values;
  off.emplace_back("model.beta", 1.02 * run.configuration.real("model.beta"));
  Configuration c = attica::testing::configured(run.study, off);
  warmer.observed.theory = run.study.make(c)->theory(TheoryGrid::run).predictions;
  CHECK(warmer.points() == Verdict::disagree);
  // What a wrong backward pass would give.
  StudyRun slopes = run;
  slopes.scale_theory("slope", 1.01);
  CHECK(slopes.points() == Verdict::disagree);
}

TEST_CASE("potts-softmax-flow: descent on the population is not the mean over runs",
          "[agreement][potts][study:potts-softmax-flow]") {
  StudyRun run(study_named("potts-softmax-flow"),
               {{"sim.starts", 1},
                {"sim.steps", List{50, 100}},
                {"sim.batch", 32},
                {"sim.replicates", 400}});
  CHECK(run.points() == Verdict::agree);
  std::vector<double> descent;
  for (const Prediction& p : run.observed.theory) {
    if (p.series.name == "descent_loss") descent = p.series.y;
  }
  REQUIRE(descent.size() == 2);
  for (Prediction& p : run.observed.theory) {
    if (p.series.name != "loss") continue;
    p.series.y = descent;
    p.finite_size.assign(descent.size(), 0.0);
  }
  CHECK(run.points() == Verdict::disagree);
}

}  // namespace potts_softmax_flow_test
