/// Theory meets simulation in the studies of joint attention dynamics, and a planted error is
/// found.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;
using attica::testing::StudyRun;

TEST_CASE("joma studies: routes without randomness agree", "[agreement]") {
  for (const Study& study : {study_named("joma-blowup"),
                             study_named("joma-entropy-gd"),
                             study_named("joma-convergence-time"),
                             study_named("joma-salience"),
                             study_named("joma-softmax"),
                             study_named("joma-invariants")}) {
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
  for (const Planted& error : {Planted{study_named("joma-blowup"), "v", 1 + 1e-8},
                               {study_named("joma-blowup"), "attention_deficit", 1 + 1e-6},
                               {study_named("joma-blowup"), "blowup_time", 1 + 1e-9},
                               {study_named("joma-salience"), "lambda_correction", 1.01},
                               {study_named("joma-salience"), "log_ratio", 1 + 1e-6},
                               {study_named("joma-convergence-time"), "convergence_time", 1 + 1e-8},
                               {study_named("joma-entropy-gd"), "attention_entropy", 1.03},
                               {study_named("joma-softmax"), "correlation_nc", 1.001},
                               {study_named("joma-softmax"), "correlation_weights", 1.01},
                               {study_named("joma-softmax"), "correlation_norm", 1.01},
                               {study_named("joma-softmax"), "slope", 1.01},
                               {study_named("joma-softmax"), "relative_defect", 1.03},
                               {study_named("joma-softmax"), "gradient_drift", 1.01},
                               {study_named("joma-softmax"), "gradient_turn", 1.01},
                               {study_named("joma-softmax"), "delta_drift", 1.01},
                               {study_named("joma-softmax"), "stationary_error", 1.01},
                               {study_named("joma-softmax"), "loss", 1.001}}) {
    CAPTURE(error.study.name, error.series);
    StudyRun run(error.study, {});
    run.scale_theory(error.series, error.factor);
    CHECK(run.points() == Verdict::disagree);
  }
}

TEST_CASE("joma-entropy-gd: agrees at other temperatures and rates, and 3 % off is found",
          "[agreement]") {
  List all;
  for (std::int64_t n = 0; n <= 1000; n += 10) all.emplace_back(n);
  for (const auto& [key, value] :
       std::vector<std::pair<const char*, double>>{{"model.gamma", 0.1},
                                                   {"model.gamma", 2.0 / 3},
                                                   {"model.gamma", 3.0},
                                                   {"sim.eta", 0.1}}) {
    CAPTURE(key, value);
    StudyRun run(study_named("joma-entropy-gd"), {{"sim.steps", all}, {key, value}});
    CHECK(run.points() == Verdict::agree);
    run.scale_theory("attention_entropy", 1.03);
    CHECK(run.points() == Verdict::disagree);
  }
}

TEST_CASE("joma-salience: agrees where j is the slower component", "[agreement]") {
  const Study study = study_named("joma-salience");
  const StudyRun run(study, {{"sweep.mu_j", List{1.5}}, {"sweep.mu_k", List{1.75}}});
  CHECK(run.points() == Verdict::agree);
}

TEST_CASE("joma-blowup: agrees with tokens close behind, tied, or of any size", "[agreement]") {
  const Study study = study_named("joma-blowup");
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
  const Study study = study_named("joma-invariants");
  const StudyRun run(study, {{"sim.replicates", 1}});
  for (const ObservedCurve& curve : run.observed.simulation) {
    if (curve.mean.name != "flow_drift") continue;
    CAPTURE(describe(curve.mean.point));
    CHECK(curve.mean.y.back() > 1e-6);  // the margin of the identity is 1e-12
  }
}

TEST_CASE("joma-invariants: what overlap leaves is an identity too", "[agreement]") {
  const Study study = study_named("joma-invariants");
  for (const double overlap : {0.3, 0.9}) {
    CAPTURE(overlap);
    const StudyRun run(study, {{"model.overlap", overlap}});
    CHECK(run.points() == Verdict::agree);
  }
}

TEST_CASE(
    "joma-overlap: agrees, and a squared drift 1 % or, of random embeddings, 3 % off does not",
    "[agreement]") {
  const Study study = study_named("joma-overlap");
  const StudyRun run(study, {});
  CHECK(run.points() == Verdict::agree);
  for (const auto& [series, factor] :
       {std::pair<std::string, double>{"equal_drift", 1.01}, {"random_drift", 1.03}}) {
    CAPTURE(series);
    StudyRun planted = run;
    planted.scale_theory(series, factor);
    CHECK(planted.points() == Verdict::disagree);
  }
}

TEST_CASE("joma-erf: agrees, and growth 3 % or a spread 30 % off does not", "[agreement]") {
  const Study study = study_named("joma-erf");
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
  const Study study = study_named("joma-bounce");
  const StudyRun run(study, {{"sim.replicates", 100}});
  CHECK(run.points() == Verdict::agree);
  for (const auto& [series, factor] : {std::pair<std::string, double>{"token_entropy", 1.01},
                                       {"attention_entropy", 1 + 1e-6},
                                       {"bounce_depth", 1 + 1e-6},
                                       {"final_entropy", 1 + 1e-6}}) {
    CAPTURE(series);
    StudyRun planted = run;
    planted.scale_theory(series, factor);
    CHECK(planted.points() == Verdict::disagree);
  }
}

TEST_CASE("tree-cooccurrence: agrees, and a probability 4 % off does not", "[agreement]") {
  const Study study = study_named("tree-cooccurrence");
  const StudyRun run(study, {});
  CHECK(run.points() == Verdict::agree);
  for (const std::string series : {"conditional_probability", "conditional_probability_root"}) {
    CAPTURE(series);
    StudyRun planted = run;
    planted.scale_theory(series, 1.04);
    CHECK(planted.points() == Verdict::disagree);
  }
}

TEST_CASE("tree-learning: agrees, and times or signals 5 % off do not", "[agreement]") {
  const Study study = study_named("tree-learning");
  const StudyRun run(study, {});
  CHECK(run.points() == Verdict::agree);
  for (const std::string series : {"learning_time", "salience", "v"}) {
    CAPTURE(series);
    StudyRun planted = run;
    planted.scale_theory(series, 1.05);
    CHECK(planted.points() == Verdict::disagree);
  }
}
