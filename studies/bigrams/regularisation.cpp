/// @file
/// @brief Study bigrams-regularisation: training in stages, with and without l1, against the mean
/// field that starts where the signal has been boosted.

#include <fmt/format.h>

#include "attica/sim/bigrams/active.hpp"
#include "attica/solvers/statistics/order_statistics.hpp"
#include "attica/studies/bigrams/stages.hpp"
#include "attica/theory/bigrams/boosting.hpp"

namespace attica::bigrams_regularisation {
namespace {

const std::vector<std::string> kNames = {"excess_loss", "distance_V", "distance_A"};
/// With l1 fluctuating column sums are counted in linear response, with V at its mean: 1.5(7) % of
/// the excess loss too much at T = 1000 (600 runs).
constexpr double kSums = 0.02;

class Regularisation : public PointwiseExperiment {
 public:
  explicit Regularisation(const Configuration& c)
      : setup_(staged_setup(c)),
        refit_steps_(c.integer("sim.refit_steps")),
        algorithms_(staged_algorithms(c)) {
    diagnostics_ = setup_.diagnostics;
    warnings_ = setup_.warnings;
  }

  TheoryResult theory(TheoryGrid grid) const override {
    TheoryResult result;
    if (!has_mean_field(setup_, grid)) return result;
    // The end of boosting differs from run to run; its traces are gone after a few times 1/ω.
    const double aligned = 5 / setup_.boosting().omega();
    // V's noise has the leading-order covariance alone: up to twice too large for few tokens.
    const double order = value_noise_order(setup_.model.tokens());
    for (const std::string& algorithm : algorithms_) {
      const std::vector<StagedMeanField> field =
          staged_theory(setup_, algorithm, ColumnSums::fluctuating);
      if (field.empty()) continue;  // recorded alone
      Curves curves({{"algorithm", algorithm}}, "step", kNames);
      for (const auto& [step, s, noise] : field) {
        const double n = static_cast<double>(step);
        const bool settled = n >= aligned;
        curves.add(n,
                   {{s.excess_loss, algorithm == "l1" ? kSums * s.excess_loss : 0, settled},
                    {s.distance_v2, order * noise, settled},
                    {s.distance_a2, 0, settled}});
      }
      curves.into(result);
    }
    return result;
  }

  std::size_t points() const override { return 2; }
  void require_simulable() const override { setup_.require_memory(); }

 protected:
  double flops(std::size_t) const override { return staged_flops(setup_); }

  Outcome run(const Replicate& replicate) const override {
    const Point point{{"algorithm", algorithms_[replicate.point()]}};
    Curves curves(point, "step", kNames);
    const auto look = [&](double n, const BigramState& s) {
      curves.add(n, observables(kNames, s));
    };
    Outcome outcome;
    RoundedRun run = staged_run(setup_, replicate.point() == 1, replicate, look, outcome);
    if (run.status != BigramStatus::converged) return outcome;
    curves.into(outcome);
    add_constant(outcome, "rounded_error", rounded_error(setup_.model, run.result), point);
    if (refit_steps_ == 0) return outcome;
    constexpr std::uint64_t kRefitStreams = 1000000;
    StreamAddress address = replicate.address(StreamId::minibatch);
    address.point += kRefitStreams;
    RandomStream stream(address);
    const std::int64_t batch = std::llround(setup_.batch);
    run.result.value =
        refit_value(setup_.model, run.result, setup_.rates.eta_v, batch, refit_steps_, stream);
    add_constant(outcome, "refit_error", rounded_error(setup_.model, run.result), point);
    return outcome;
  }

 private:
  BigramSetup setup_;
  std::int64_t refit_steps_;
  std::array<std::string, 2> algorithms_;
};

Figure figure(const Configuration& c) {
  const auto panel = [&](const char* series, const char* label) {
    return staged_panel(
        c, {.label = "step after the signal has grown"}, "step", {.label = label}, series);
  };
  return {.name = "bigrams-regularisation",
          .panels = {panel("excess_loss", "excess loss {/:Italic L} − {/:Italic L}*"),
                     panel("distance_V", "‖{/:Italic V} − {/:Italic P}‖²"),
                     panel("distance_A", "‖{/:Italic A} − {/:Italic Q}‖²")},
          .columns = 1,
          .caption =
              "Training with and without l1 proximal steps, counted from the end of the boosting "
              "stage. Lines: mean field; points: SGD on sequences, mean and standard error over "
              "runs. SGD alone stays at the noise floor of A." +
              (" " + sampling_sentence(c))};
}

std::vector<AgreementRule> agreement(const Configuration&) {
  return rules(kNames, {.series = {}, .relative = 0.05});
}

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  const auto [without, with] = staged_algorithms(c);
  constexpr double kRounded = 0.05;
  const std::vector<double> errors = observed.last("rounded_error", {{"algorithm", with}});
  std::vector<bool> small;
  for (const double error : errors) small.push_back(error < kRounded);
  return {l1_nearer_claim("l1-smaller",
                          last_of_both(observed,
                                       "distance_A",
                                       {{"algorithm", without}},
                                       "distance_A",
                                       {{"algorithm", with}}),
                          3),
          claim_rate("rounded",
                     fmt::format("error after rounding below {}", kRounded),
                     small,
                     errors.empty() ? "no run ended the stages"
                                    : fmt::format("median {:.3g}", median(errors)),
                     kHalf)};
}

}  // namespace

Study study() {
  return {
      .name = "bigrams-regularisation",
      .question = "What does an l1 penalty on attention buy once the signal has grown?",
      .neglects =
          "run-to-run differences at the end of boosting, covariance of V's noise beyond leading "
          "order",
      .parameters =
          together({bigram_parameters({.l1 = 0.02,
                                       .steps = {0, 50, 100, 150, 200, 300, 400, 500, 600, 700},
                                       .replicates = 200,
                                       .law = unequal_law(),
                                       .algorithms = {"l1", "l1_sum1"}}),
                    {integer_parameter("sim.refit_steps",
                                       400,
                                       "steps that refit V after rounding, A being frozen; 0: none",
                                       {.low = 0, .high = 1e9})}}),
      .series = bigram_series(
          kNames,
          {{"rounded_error",
            "max(|V-P|^2/K_P, |A-Q|^2/K_Q)",
            "error after rounding and normalisation"},
           {"refit_error", "", "the same after V has been refitted, refit_steps > 0"}}),
      .presets = {{"quick", "the defaults: N = 3 unequal tokens, T = 1000, Q = 2, B = 64", {}},
                  {"paper",
                   "T = 5000, eta = 0.01, 60 runs",
                   circulant_law({{"model.context", 5000},
                                  {"sim.eta", 0.01},
                                  {"sim.steps", List{0, 250, 500, 750, 1000, 1500, 2000}},
                                  {"sim.replicates", 60}})}},
      .sources = {cited("ren2024learning",
                        "l1 regularisation, proximal steps, two stages, rounding")},
      .make = make<Regularisation>,
      .figure = figure,
      .agreement = agreement,
      .claims = claims,
      .plants = {{.name = "context",
                  .values = {{"model.context", 900}},
                  .meaning = "T a tenth too small"},
                 {.name = "factor",
                  .series = "distance_A",
                  .factor = 0.9,
                  .meaning = "a squared distance times 0.9"}},
      .diagnostic = {"rounded_error", "refit_error"}};
}

}  // namespace attica::bigrams_regularisation
