/// @file
/// @brief Study icl-diversity: errors of linear attention in context against the number of
/// pretraining tasks: from memorising tasks to learning in context.

#include <cmath>

#include "attica/sim/icl/sequences.hpp"
#include "attica/studies/icl/ridge_sweep.hpp"

namespace attica::icl_diversity {
namespace {

/// dMMSE is compared where its error is known: two tasks at a right angle, few and noisy tokens.
constexpr ContextNoise kPair{.length = 2, .rho = 0.25};
constexpr int kPairTests = 3000;

class Diversity : public ContextSweep {
 public:
  explicit Diversity(Configuration& c)
      : ContextSweep(c, ContextAxis::kappa), dimension_(c.integer("model.dimension")) {}

  TheoryResult theory(TheoryGrid grid) const override {
    TheoryResult result = ContextSweep::theory(grid);
    add_constant(result, "dmmse_pair", two_task_error(kPair.length, kPair.rho, 2));
    return result;
  }

 protected:
  Outcome run(const Replicate& replicate) const override {
    Outcome outcome = ContextSweep::run(replicate);
    if (replicate.point() != 0) return outcome;
    const Eigen::MatrixXd pair =
        std::sqrt(static_cast<double>(dimension_)) * Eigen::MatrixXd::Identity(2, dimension_);
    RandomStream stream = replicate.stream(StreamId::selection);
    double error = 0;
    for (int k = 0; k < kPairTests; ++k) {
      error += posterior_mean_error(pair, pair, kPair, stream) / kPairTests;
    }
    add_constant(outcome, "dmmse_pair", error);
    return outcome;
  }

 private:
  Eigen::Index dimension_;
};

Figure figure(const Configuration&) {
  const Axis kappa{.label = "tasks {/:Italic κ} = {/:Italic k}/{/:Italic d}",
                   .scale = AxisScale::log};
  Panel errors{.x = kappa,
               .y = {.label = "error", .scale = AxisScale::log},
               .layers = {{.series = "icl", .label = "ICL"},
                          {.series = "idg", .label = "IDG"},
                          {.series = "dmmse_icl", .label = "dMMSE, fresh task", .theory = false},
                          {.series = "dmmse_idg", .label = "dMMSE, pool", .theory = false},
                          {.series = "bayes", .label = "Bayes", .reference = true}},
               .x_name = "kappa"};
  Panel gap{
      .x = kappa, .y = {.label = "ICL − IDG"}, .layers = {{.series = "gap"}}, .x_name = "kappa"};
  errors.vertical_marks = {1.0};
  gap.vertical_marks = {1.0};
  return {.name = "icl-diversity",
          .panels = {errors, gap},
          .columns = 1,
          .caption =
              "Linear attention on linear regression in context against the diversity of its "
              "pretraining tasks: below κ = 1 it knows its own tasks better than others. Lines: "
              "theory; points: mean and standard error over data sets; dMMSE: posterior mean over "
              "the pool (simulation); dashed: best predictor of a fresh task."};
}

std::vector<ClaimResult> claims(const Configuration&, const Observed& observed) {
  std::vector<ClaimResult> all = {above_bayes(observed)};
  const std::string statement =
      "the gap between ICL and IDG is larger at the fewest tasks than at "
      "the most";
  const std::vector<std::vector<double>> gaps = observed.paths("gap");
  std::vector<double> falls;
  for (const std::vector<double>& gap : gaps) {
    if (gap.size() > 1) falls.push_back(gap.front() - gap.back());
  }
  if (!falls.empty()) {
    all.push_back(claim_above("memorises", statement, falls, 0, "by how much"));
  }
  return all;
}

std::vector<AgreementRule> agreement(const Configuration& c) {
  std::vector<AgreementRule> all = context_agreement(c);
  // All of the margin of a difference is in the allowance.
  all.push_back({.series = "gap", .relative = 0});
  // Exact; the margin is for the scatter of 200000 sequences.
  constexpr double kPairMargin = 0.02;
  all.push_back({.series = "dmmse_pair", .relative = kPairMargin, .tails = Tails::normal});
  return all;
}

std::vector<SeriesInfo> series() {
  std::vector<SeriesInfo> all = context_series();
  all.push_back({"dmmse_icl",
                 "E_ICL(dMMSE)",
                 "error of the posterior mean over the pool on fresh tasks (simulation)"});
  all.push_back({"dmmse_idg",
                 "E_IDG(dMMSE)",
                 "error of the posterior mean over the pool on its tasks (simulation)"});
  all.push_back({"dmmse_pair",
                 "E_2",
                 "the same, the pool being two tasks at a right angle, of 2 noisy tokens"});
  return all;
}

}  // namespace

Study study() {
  return {
      .name = "icl-diversity",
      .question = "How many tasks make linear attention learn in context rather than memorise?",
      .neglects = kContextNeglects,
      .outside = kContextOutside,
      .parameters = together(
          {context_parameters(
               {.alpha = 10, .tau = 3, .lambda = 0.01, .rho = 0.01, .replicates = 320}),
           {reals_parameter("sweep.kappa",
                            {0.2, 0.4, 0.6, 0.8, 1, 1.5, 2, 4, 8},
                            "pretraining tasks per dimension, kappa = k/d",
                            kPositive),
            integer_parameter("sim.test_sequences",
                              40,
                              "sequences on which dMMSE is tested in a replicate; 0: not at all",
                              {.low = 0, .high = 1e6})}}),
      .series = series(),
      .presets = {{"quick", "the defaults: d = 16, alpha 10, 9 kappa, 320 replicates", {}},
                  {"paper",
                   "d = 32, alpha 10, tau 2, 320 replicates",
                   {{"model.dimension", 32},
                    {"model.alpha", 10.0},
                    {"model.tau", 2.0},
                    {"model.lambda", 1e-3},
                    {"sim.replicates", 320}}}},
      .sources = context_sources("Figure 4"),
      .make = make<Diversity>,
      .figure = figure,
      .agreement = agreement,
      .size_coordinate = "dimension",
      // A difference of two errors, each known to half a per cent, of which it is a tenth and more.
      .limits = {{.series = "gap", .relative = 0.05}},
      .claims = claims,
      .plants = {{.name = "short-context",
                  .values = {{"model.alpha", 5.0}},
                  .meaning = "counts both tokens of a pair: half the context"},
                 {.name = "length",
                  .series = "context_square",
                  .factor = 1.02,
                  .meaning = "a context miscounted by one sample in a hundred"},
                 {.name = "noise",
                  .series = "label_noise",
                  .factor = 0.94,
                  .meaning = "noise of the labels 3 % too small"},
                 {.name = "half-square",
                  .series = "idg",
                  .factor = 0.5,
                  .meaning = "a loss with the factor 1/2 read as one without"},
                 {.name = "gap-third",
                  .series = "gap",
                  .factor = 0.67,
                  .meaning = "a memorisation gap a third too small"}}};
}

}  // namespace attica::icl_diversity
