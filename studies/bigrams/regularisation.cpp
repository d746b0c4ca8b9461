/// @file
/// @brief Study bigrams-regularisation: training in stages, with and without l1, against the mean
/// field that starts where the signal has been boosted.

#include <fmt/format.h>

#include "attica/sim/bigrams/active.hpp"
#include "attica/solvers/statistics/order_statistics.hpp"
#include "attica/studies/bigrams/stages.hpp"
#include "attica/theory/bigrams/boosting.hpp"
#include "attica/theory/bigrams/population.hpp"

namespace attica::bigrams_regularisation {
namespace {

const std::vector<std::string> kNames = {"excess_loss", "distance_V", "distance_A"};
/// What is left of V is noise, which the mean field has to leading order in the rates: within 1 %
/// in 3000 runs, with 1.4 % of noise in the quick preset.
constexpr double kNoise = 0.05;
/// The mean field of what rounding leaves takes it to find the support, and nothing else.
constexpr double kSure = 0.99;
constexpr double kEnough = 0.5;
constexpr double kRoundedFrom = 0.5;  ///< rounding is averaged over the records after this share
const std::vector<std::string> kRounding = {"rounded_alpha_V", "rounded_V", "rounded_A"};

class Regularisation : public PointwiseExperiment {
 public:
  explicit Regularisation(const Configuration& c)
      : setup_(staged_setup(c)),
        refit_length_(c.integer("sim.refit_length")),
        algorithms_(staged_algorithms(c)),
        total_steps_(c.has("sim.total_steps") ? ascending(c.integers("sim.total_steps"))
                                              : std::vector<std::int64_t>{}),
        order_(surrogate_noise_order(c)) {
    diagnostics_ = setup_.diagnostics;
    warnings_ = setup_.warnings;
  }

  TheoryResult theory(TheoryGrid grid) const override {
    TheoryResult result;
    if (!has_mean_field(setup_, grid)) return result;
    // The end of boosting differs from run to run; its traces are gone after a few times 1/ω.
    const double aligned = 5 / setup_.boosting().omega();
    BigramSetup finer = setup_;
    finer.steps = steps_between(setup_.steps, grid);
    for (const std::string& algorithm : algorithms_) {
      std::vector<StagedMeanField> field = staged_theory(finer, algorithm, ColumnSums::fluctuating);
      if (field.empty()) continue;  // recorded alone
      Curves curves({{"algorithm", algorithm}}, "step", kNames);
      for (const auto& [step, s, noise, rounded, sure, zeros] : field) {
        const auto n = static_cast<double>(step);
        const bool settled = n >= aligned;
        curves.add(n,
                   {{s.excess_loss, algorithm == "l1" ? kColumnSums * s.excess_loss : 0, settled},
                    {s.distance_v2,
                     (algorithm == "l1" ? kNoise : 0) * s.distance_v2 + order_ * noise,
                     settled},
                    {s.distance_a2, 0, settled}});
      }
      curves.into(result);
      std::erase_if(field, [&](const StagedMeanField& at) {
        return !std::ranges::binary_search(setup_.steps, at.step);
      });
      if (algorithm == "l1") add_l1(field, aligned, result);
      if (!total_steps_.empty()) add_total(algorithm == "l1", grid, result);
      if (refit_length_ > 0) {
        const double refitted =
            averaged_value_noise(setup_.model, setup_.rates.eta_v, setup_.batch, refit_length_);
        // Of runs whose rounding found the support: enough of them must.
        const bool enough = algorithm != "l1" || field.back().sure > kEnough;
        // The mean over the last half begins where little is left of the start.
        constexpr double kLeft = 0.02;
        const BigramModel& model = setup_.model;
        const double rate = setup_.rates.eta_v * model.stationary().dot(model.attention_norm2());
        const bool forgotten = std::pow(1 - rate, refit_length_ / 2) <= kLeft;
        add_constant(result,
                     "refit_V",
                     PredictedValue(refitted / model.k_p(), 0, enough && forgotten),
                     {{"algorithm", algorithm}});
      }
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
    const bool l1 = replicate.point() == 1;
    Curves zeros(point, "step", {"zero_fraction"});
    Rounding rounding;
    const auto look = [&](double n, const BigramTrainer& trainer) {
      curves.add(n, observables(kNames, trainer.state()));
      if (!l1) return;
      zeros.add(n, {trainer.zero_fraction()});
      if (!averaged(n)) return;
      const RoundedBigram now = rounded(trainer, kStagedTheta);
      if (!now.failed) rounding.add(rounding_of(setup_.model, now));
    };
    Curves total(point, "total_step", kNames);
    const auto from_start = [&](double n, const BigramTrainer& trainer) {
      if (std::ranges::count(total_steps_, static_cast<std::int64_t>(n)) > 0)
        total.add(n, observables(kNames, trainer.state()));
    };
    Outcome outcome;
    RoundedRun run = total_steps_.empty()
                         ? staged_run(setup_, l1, replicate, look, outcome)
                         : staged_run(setup_, l1, replicate, look, outcome, from_start);
    if (run.status != BigramStatus::converged) return outcome;
    curves.into(outcome);
    if (!total_steps_.empty()) total.into(outcome);
    if (l1) {
      zeros.into(outcome);
      rounding.into(outcome, point);
    }
    add_constant(outcome, "rounded_error", rounding_of(setup_.model, run.result).error(), point);
    if (refit_length_ == 0) return outcome;
    constexpr std::uint64_t kRefitStreams = 1000000;
    constexpr int kRefits = 8;  // of one rounded network, by samples of their own
    const std::int64_t batch = std::llround(setup_.batch);
    double error = 0;
    double value = 0;
    for (int k = 0; k < kRefits; ++k) {
      StreamAddress address = replicate.address(StreamId::minibatch);
      address.point += kRefitStreams * static_cast<std::uint64_t>(k + 1);
      RandomStream stream(address);
      RoundedBigram refitted = run.result;
      refitted.value =
          refit_value(setup_.model, run.result, setup_.rates.eta_v, batch, refit_length_, stream);
      const BigramRounding fitted = rounding_of(setup_.model, refitted);
      error += fitted.error() / kRefits;
      value += fitted.value / kRefits;
    }
    add_constant(outcome, "refit_error", error, point);
    if (found_support(setup_.model, run.result)) add_constant(outcome, "refit_V", value, point);
    return outcome;
  }

 private:
  /// Rounding at some steps, averaged.
  struct Rounding {
    BigramRounding sum = {};
    double noise = 0;  ///< of V, in its error
    bool sure = true;  ///< that rounding finds the support
    int count = 0;

    void add(const BigramRounding& r) {
      sum.alpha_v += r.alpha_v;
      sum.value += r.value;
      sum.attention += r.attention;
      ++count;
    }
    template <class Result>
    void into(Result& result, const Point& point) const {
      if (count == 0) return;
      const auto add = [&](std::size_t k, double total, double allowance) {
        add_constant(
            result, kRounding[k], PredictedValue(total / count, allowance / count, sure), point);
      };
      add(0, sum.alpha_v, 0);
      add(1, sum.value, noise);
      add(2, sum.attention, 0);
    }
  };

  bool averaged(double step) const {
    return step > kRoundedFrom * static_cast<double>(setup_.steps.back());
  }

  /// From the first step, both stages.
  void add_total(bool l1, TheoryGrid grid, TheoryResult& result) const {
    const BigramModel& model = setup_.model;
    // As in bigrams-recursion: where the boosted amplitude is well above its noise.
    constexpr double kEnoughSignal = 4;
    if (setup_.boosting().snr(model.kappa_v(), setup_.batch) < kEnoughSignal) return;
    const std::vector<BothStages> stages =
        staged_from_start(setup_, l1, steps_between(total_steps_, grid));
    double distance = 0;
    for (const BothStages& at : stages) distance = std::max(distance, at.distance_v2);
    Curves curves({{"algorithm", l1 ? "l1" : "sgd_hat"}}, "total_step", kNames);
    for (const BothStages& at : stages) {
      // Runs whose first stage is short end first: later steps are those of the others.
      const bool compared = at.step <= setup_.steps.back();
      const double loss =
          curve_allowance(at.excess_loss, model.initial_loss() - model.bayes_loss());
      curves.add(static_cast<double>(at.step),
                 {{at.excess_loss, loss + (l1 ? kColumnSums * at.excess_loss : 0), compared},
                  {at.distance_v2, curve_allowance(at.distance_v2, distance, kNoise), compared},
                  {at.distance_a2, curve_allowance(at.distance_a2, model.k_q()), compared}});
    }
    curves.into(result);
  }

  void add_l1(const std::vector<StagedMeanField>& field,
              double aligned,
              TheoryResult& result) const {
    const Point point{{"algorithm", "l1"}};
    Curves zeros(point, "step", {"zero_fraction"});
    Rounding rounding;
    // Rounding takes more replicates than a run from the first step has.
    rounding.sure = total_steps_.empty();
    for (const StagedMeanField& at : field) {
      const auto n = static_cast<double>(at.step);
      zeros.add(n, {{at.zero_fraction, 0, n >= aligned}});
      if (!averaged(n)) continue;
      rounding.add(at.rounded);
      rounding.sure = rounding.sure && at.sure > kSure;
      rounding.noise += order_ * at.noise_v / setup_.model.k_p();
    }
    zeros.into(result);
    rounding.into(result, point);
  }

  BigramSetup setup_;
  std::int64_t refit_length_;
  std::array<std::string, 2> algorithms_;
  std::vector<std::int64_t> total_steps_;  ///< recorded ones, from the start
  double order_;                           ///< share of V's noise that a surrogate may be off by
};

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  const auto [without, with] = staged_algorithms(c);
  constexpr double kRounded = 0.05;
  constexpr double kTimesNearer = 3;
  const auto errors = by_replicate(observed.last("rounded_error", {{"algorithm", with}}));
  std::vector<ClaimResult> claims;
  const auto last = static_cast<double>(recorded_steps(c).back());
  if (!l1_denied_nearer(c, observed, last, kTimesNearer)) {
    claims.push_back(l1_nearer_claim(
        "l1-smaller",
        last_of_both(
            observed, "distance_A", {{"algorithm", without}}, "distance_A", {{"algorithm", with}}),
        kTimesNearer));
  }
  claims.push_back(claim_rate("rounded",
                              fmt::format("error after rounding below {}", kRounded),
                              errors.where([](double error) { return error < kRounded; }),
                              errors.empty()
                                  ? "no run ended the stages"
                                  : fmt::format("median {:.3g}", median(errors.entries())),
                              kHalf));
  return claims;
}

}  // namespace

Study study() {
  return described(
      {.name = "bigrams-regularisation", .make = make<Regularisation>, .claims = claims});
}

}  // namespace attica::bigrams_regularisation
