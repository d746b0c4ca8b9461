/// Theory meets simulation in the studies of joint attention dynamics, and a planted error is
/// found.

#include "attica/studies/joma_studies.hpp"

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;
using attica::testing::StudyRun;

TEST_CASE("joma studies: routes without randomness agree", "[agreement]") {
  for (const Study& study : {joma_blowup(),
                             joma_entropy_gd(),
                             joma_convergence_time(),
                             joma_salience(),
                             joma_softmax(),
                             joma_invariants()}) {
    CAPTURE(study.name);
    CHECK(StudyRun(study, {}).points() == Verdict::agree);
  }
}

TEST_CASE("joma studies: small planted errors are found", "[agreement]") {
  struct Planted {
    Study study;
    std::string series;
    double factor;
  };
  for (const Planted& error : {Planted{joma_blowup(), "v", 1 + 1e-8},
                               {joma_blowup(), "attention_deficit", 1 + 1e-6},
                               {joma_blowup(), "blowup_time", 1 + 1e-9},
                               {joma_salience(), "lambda_correction", 1.01},
                               {joma_salience(), "log_ratio", 1 + 1e-6},
                               {joma_convergence_time(), "convergence_time", 1 + 1e-8},
                               {joma_entropy_gd(), "attention_entropy", 1.03},
                               {joma_softmax(), "correlation_nc", 1.001},
                               {joma_softmax(), "correlation_weights", 1.01},
                               {joma_softmax(), "correlation_norm", 1.01},
                               {joma_softmax(), "slope", 1.01},
                               {joma_softmax(), "relative_defect", 1.03},
                               {joma_softmax(), "loss", 1.001}}) {
    CAPTURE(error.study.name, error.series);
    StudyRun run(error.study, {});
    run.scale_theory(error.series, error.factor);
    CHECK(run.points() == Verdict::disagree);
  }
}

TEST_CASE("joma-salience: agrees where j is the slower component", "[agreement]") {
  const Study study = joma_salience();
  const StudyRun run(study, {{"sweep.mu_j", List{1.5}}, {"sweep.mu_k", List{1.75}}});
  CHECK(run.points() == Verdict::agree);
}

TEST_CASE("joma-blowup: agrees with tokens close behind, tied, or of any size", "[agreement]") {
  const Study study = joma_blowup();
  using Reals = std::vector<double>;
  for (const Reals& delta :
       {Reals{0.5, 0.4999999999999}, {1.0, 0.99999, -1.0}, {1e5, 3.0}, {2e-20, 1e-20}}) {
    CAPTURE(delta);
    const StudyRun run(study,
                       {{"model.delta", List(delta.begin(), delta.end())},
                        {"sweep.gap", List{1.0, 0.1, 1e-9, 1e-15}}});
    CHECK(run.points() == Verdict::agree);
  }
}

TEST_CASE("joma-invariants: the identity is needed, the invariant alone drifts", "[agreement]") {
  const Study study = joma_invariants();
  const StudyRun run(study, {{"sim.replicates", 1}});
  for (const ObservedCurve& curve : run.observed.simulation) {
    if (curve.mean.name != "flow_drift") continue;
    CAPTURE(describe(curve.mean.point));
    CHECK(curve.mean.y.back() > 1e-6);  // the margin of the identity is 1e-12
  }
}

TEST_CASE("joma-erf: agrees, and growth 3 % or a spread 30 % off does not", "[agreement]") {
  const Study study = joma_erf();
  const StudyRun run(study, {});
  CHECK(run.points() == Verdict::agree);
  for (const auto& [series, factor] : {std::pair<std::string, double>{"erf_coordinate", 1.03},
                                       {"v", 1.05},
                                       {"fluctuation", 1.3}}) {
    CAPTURE(series);
    StudyRun planted = run;
    planted.scale_theory(series, factor);
    CHECK(planted.points() == Verdict::disagree);
  }
}

TEST_CASE("joma-bounce: agrees, and an entropy off does not", "[agreement]") {
  const Study study = joma_bounce();
  const StudyRun run(study, {{"sim.replicates", 100}});
  CHECK(run.points() == Verdict::agree);
  for (const auto& [series, factor] :
       {std::pair<std::string, double>{"token_entropy", 1.01}, {"attention_entropy", 1 + 1e-6}}) {
    CAPTURE(series);
    StudyRun planted = run;
    planted.scale_theory(series, factor);
    CHECK(planted.points() == Verdict::disagree);
  }
}

TEST_CASE("tree-cooccurrence: agrees, and a probability 4 % off does not", "[agreement]") {
  const Study study = tree_cooccurrence();
  const StudyRun run(study, {{"sim.replicates", 60}});
  CHECK(run.points() == Verdict::agree);
  for (const std::string series : {"conditional_probability", "conditional_probability_root"}) {
    CAPTURE(series);
    StudyRun planted = run;
    planted.scale_theory(series, 1.04);
    CHECK(planted.points() == Verdict::disagree);
  }
}
