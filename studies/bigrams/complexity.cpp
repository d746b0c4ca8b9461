/// @file
/// @brief Study bigrams-complexity: how many samples training takes, from scratch and from a value
/// matrix learned on a correlated bigram law, against context, sparsity, vocabulary and error; at a
/// batch that the mean field describes, against its first passage.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "attica/sim/bigrams/search.hpp"
#include "attica/solvers/statistics/order_statistics.hpp"
#include "attica/studies/bigrams/model.hpp"
#include "attica/studies/scaling.hpp"
#include "attica/theory/bigrams/boosting.hpp"
#include "attica/theory/bigrams/passage.hpp"
#include "attica/theory/bigrams/population.hpp"

namespace attica::bigrams_complexity {
namespace {

using Eigen::MatrixXd;

constexpr double kTheta = 0.5;              // stage 1 ends at K_V = θ² K_P
constexpr std::size_t kFewestContexts = 3;  // that a slope is fitted to

// Samples at a fixed batch: 1.4 T from scratch, SNR 4.1 with the defaults, and T/2 after transfer,
// where η_A is a quarter of the stability limit. At the smallest batch that succeeds it is chance
// that decides (SNR 2; η_A above the limit) and no mean field.
constexpr double kScratchShare = 1.4;
constexpr double kTransferShare = 0.5;
constexpr double kEnoughSignal = 4;        // SNR from which the mean field describes boosting
constexpr int kFixedRuns = 27;             // in a replicate, averaged: nearly normal
constexpr std::int64_t kLongest = 100000;  // steps of boosting that theory follows
constexpr std::int64_t kMostSteps = 2000;  // with l1 that theory follows
// After transfer runs differ by what the mean field leaves out, a share of order 1/√B, which delays
// the mean passage by a share of order 1/B: 2 to 5 over T where it was measured (docs/bigrams.md).
constexpr double kFluctuations = 5;

class Complexity : public PointwiseExperiment {
 public:
  explicit Complexity(Configuration& c)
      : epsilon_(c.real("sim.epsilon")),
        length_(c.integer("sim.length")),
        compared_(static_cast<double>(c.integer("sim.compared_context"))),
        order_(surrogate_noise_order(c)) {
    for (const std::int64_t context : c.integers("sweep.context")) {
      c.set("model.context", context, false);
      setups_.push_back(bigram_setup(c));
      if (c.text("sim.l1_scaling") == "weight")
        setups_.back().lambda *= 2.0 / static_cast<double>(setups_.back().model.sparsity());
      if (softmax(setups_.back())) {
        setups_.back().rates.eta_a = kSoftmaxRate * setups_.back().rates.eta_v;
        setups_.back().lambda = 0;
      }
      const BigramModel& model = setups_.back().model;
      starts_.push_back(
          transfer_start(model,
                         c.real("sim.theta"),
                         source_chain(c, model, c.real("model.correlation")).transition));
    }
    if (setups_.back().sampling == BigramSampling::aggregated) {
      require_sequences(c, "dense, sparse or none: l1 is on");
    }
    diagnostics_ = setups_.front().diagnostics;
    warnings_ = setups_.front().warnings;
  }

  TheoryResult theory(TheoryGrid) const override {
    constexpr double kZ = 1.6448536269514722;  // boosting with the right sign in 95 % of runs
    Curves curve({{"mode", "scratch"}}, "context", {"boosting_samples"});
    for (const BigramSetup& setup : setups_) {
      const BoostingTheory closed = setup.boosting();
      curve.add(setup.context(),
                {closed.batch_for(kZ, setup.model.kappa_v()) * closed.boosting_time(kTheta)});
    }
    TheoryResult result;
    curve.into(result);
    for (const bool transfer : {false, true}) {
      Curves fixed({{"mode", mode(transfer)}}, "context", {"samples_at_batch"});
      for (std::size_t i = 0; i < setups_.size(); ++i) {
        if (!described(setups_[i], transfer)) continue;
        const double t = setups_[i].context();
        const double batch = fixed_batch(setups_[i], transfer);
        const double samples = batch * passage(i, transfer, 1);
        const double without = order_ > 0 ? batch * passage(i, transfer, 1 - order_) : samples;
        if (!std::isfinite(samples) || !std::isfinite(without)) continue;
        fixed.add(t, {{samples, samples - without + (transfer ? kFluctuations / t : 0) * samples}});
      }
      fixed.into(result);
    }
    return result;
  }

  std::size_t points() const override { return 2 * setups_.size(); }
  void require_simulable() const override {
    for (const BigramSetup& setup : setups_) setup.require_memory();
  }

 protected:
  Outcome run(const Replicate& replicate) const override {
    const bool transfer = replicate.point() % 2 == 1;
    const BatchFound found = search(replicate, transfer);
    const double x = setups_[replicate.point() / 2].context();
    const Point point{{"mode", mode(transfer)}};
    Outcome outcome;
    Curves(point, "context", {"samples_cap"}).add(x, {found.cap}).into(outcome);
    if (found.found) {
      Curves(point, "context", {"samples_to_error", "batch"})
          .add(x, {found.samples, found.batch})
          .into(outcome);
    } else {
      outcome.status = "target not reached";
    }
    if (const std::optional<double> samples = samples_at_batch(replicate, transfer)) {
      Curves(point, "context", {"samples_at_batch"}).add(x, {*samples}).into(outcome);
    }
    return outcome;
  }

 private:
  static std::string mode(bool transfer) { return transfer ? "transfer" : "scratch"; }

  static double fixed_batch(const BigramSetup& setup, bool transfer) {
    return std::round((transfer ? kTransferShare : kScratchShare) * setup.context());
  }

  BigramStages stages(const BigramSetup& setup, bool transfer, const Replicate& replicate) const {
    return {.boost = !transfer,
            .theta = kTheta,
            .boost_cap = setup.boosting().boosting_limit(kTheta),
            .lambda = setup.lambda,
            .cut = cut(setup),
            .steps = length_,
            .stop = replicate.piece.stop};
  }

  static bool softmax(const BigramSetup& setup) {
    return setup.algorithm == BigramAlgorithm::softmax;
  }

  /// Logits take T² times the rate that linear attention would have.
  static std::unique_ptr<BigramTrainer> trainer(const BigramSetup& setup,
                                                const MatrixXd& start,
                                                const StreamAddress& address) {
    BigramRates rates = setup.rates;
    if (softmax(setup)) rates.eta_a *= setup.context() * setup.context();
    return make_bigram_run(
        setup.sampling, setup.algorithm, setup.model, rates, setup.batch, start, address);
  }

  /// Softmax attention has no threshold: noise is below what rounding keeps, or is not.
  static double cut(const BigramSetup& setup) {
    if (softmax(setup)) return 0;
    return 0.1 / static_cast<double>(setup.model.sparsity());
  }

  /// Whether the mean field describes training at the fixed batch: its algorithm, its start, rates
  /// below half of the stability limit, contexts long against what they hold, and a signal above
  /// its noise; and not above sim.compared_context.
  bool described(const BigramSetup& setup, bool transfer) const {
    const BigramModel& model = setup.model;
    const double batch = fixed_batch(setup, transfer);
    const BoostingTheory boosting = setup.boosting();
    constexpr double kRounding = 1e-9;
    return setup.algorithm == BigramAlgorithm::l1 && setup.mismatch().norm() < kRounding &&
           model.context() >= 10 * model.tokens() * model.sparsity() &&
           2 * setup.rates.eta_a <= attention_rate_limit(model, model.transition(), batch) &&
           boosting.boosting_limit(kTheta) < kLongest && setup.context() <= compared_ &&
           (transfer || boosting.snr(model.kappa_v(), batch) >= kEnoughSignal);
  }

  /// Steps to the target in the mean field, with this share of V's noise.
  double passage(std::size_t i, bool transfer, double value_noise) const {
    const BigramSetup& setup = setups_[i];
    const PassageTask task{.rates = setup.rates,
                           .batch = fixed_batch(setup, transfer),
                           .lambda = setup.lambda,
                           .theta = kTheta,
                           .threshold = cut(setup),
                           .epsilon = epsilon_,
                           .most_steps = std::min(length_, kMostSteps),
                           .value_noise = value_noise};
    return transfer ? passage_after_transfer(setup.model, task, starts_[i])
                    : passage_from_scratch(setup.model, task);
  }

  /// Mean samples of a few runs with the fixed batch; none unless all of them reach the target.
  std::optional<double> samples_at_batch(const Replicate& replicate, bool transfer) const {
    BigramSetup setup = setups_[replicate.point() / 2];
    if (setup.context() > compared_) return {};
    setup.batch = fixed_batch(setup, transfer);
    StreamAddress address = replicate.address();
    address.point += 2000;  // the search has streams of its own
    double sum = 0;
    for (std::uint64_t run = 0; run < kFixedRuns; ++run) {
      address.replicate = replicate.number * kFixedRuns + run;
      const TargetRun end = run_to_target(*trainer(setup, start(replicate.point()), address),
                                          stages(setup, transfer, replicate),
                                          epsilon_);
      if (!end.reached) return {};
      sum += end.crossing;
    }
    return sum / kFixedRuns;
  }

  const MatrixXd& start(std::size_t point) const {
    return point % 2 == 1 ? starts_[point / 2] : setups_[point / 2].start;
  }

  /// The smallest batch with which 95 % of 40 runs reach the target, and the median samples.
  BatchFound search(const Replicate& replicate, bool transfer) const {
    BigramSetup setup = setups_[replicate.point() / 2];
    const double t = setup.context();
    // Every search has a grid of its own: on a common one the medians over searches would sit on
    // its lattice, up to half a step (9 %) off, whatever the number of searches.
    StreamAddress dither = replicate.address(StreamId::model);
    dither.point += 1000;
    const BatchSearch grid{// Where to begin; the search goes down from here if this batch suffices.
                           .first = transfer ? std::sqrt(t) : t / 8,
                           .ratio = 1.189207115002721,  // 2^(1/4)
                           .offset = RandomStream(dither).uniform(),
                           .batches = 28,  // up to 2^7 times the first one
                           .runs = 40,
                           .failures = 2};
    StreamAddress address = replicate.address();
    const std::uint64_t first = replicate.number * static_cast<std::uint64_t>(grid.batches) *
                                static_cast<std::uint64_t>(grid.runs);
    return smallest_batch(
        grid,
        [&](double batch, std::uint64_t run) {
          setup.batch = batch;
          address.replicate = first + run;
          BigramStages looked_at = stages(setup, transfer, replicate);
          looked_at.measure_every = 2;
          return run_to_target(
              *trainer(setup, start(replicate.point()), address), looked_at, epsilon_);
        },
        replicate.piece.stop);
  }

  double epsilon_;
  std::int64_t length_;
  double compared_;  ///< longest context of a comparison
  double order_;     ///< share of V's noise that a surrogate may be off by
  std::vector<BigramSetup> setups_;
  std::vector<MatrixXd> starts_;
};

Figure figure(const Configuration& c) {
  const Axis size{.label = "context length {/:Italic T}", .scale = AxisScale::log};
  Figure drawn{
      .name = "bigrams-complexity",
      .panels = {{.x = size,
                  .y = {.label = "samples needed {/:Italic n}*", .scale = AxisScale::log},
                  .layers = {{.series = "samples_to_error", .label = "{mode}"},
                             {.series = "samples_to_error_fit",
                              .label = "fitted power law",
                              .simulation = false,
                              .reference = true},
                             {.series = "samples_to_error_bound",
                              .label = "bound on the exponent",
                              .simulation = false,
                              .reference = true},
                             {.series = "boosting_samples",
                              .label = "boosting, 95 %",
                              .simulation = false,
                              .reference = true}},
                  .x_name = "context"},
                 {.x = size,
                  .y = {.label = "smallest batch {/:Italic B}*", .scale = AxisScale::log},
                  .layers = {{.series = "batch", .label = "{mode}"}},
                  .x_name = "context"},
                 {.x = size,
                  .y = {.label = "samples {/:Italic n_B} at fixed {/:Italic B}",
                        .scale = AxisScale::log},
                  .layers = {{.series = "samples_at_batch", .label = "{mode}"}},
                  .x_name = "context"}},
      .columns = 1,
      .caption =
          "Samples until the error is below the target in 95 % of runs, with the smallest "
          "batch that achieves it: from scratch, and from a transferred value matrix. Lines: "
          "power laws fitted to the medians; the largest exponents that the bounds and the "
          "tolerance of 0.1 allow, from where the fits begin; and the samples that the "
          "boosting stage needs to find the right sign. Points: mean and standard error over "
          "groups of 40 runs. "};
  if (std::ranges::min(c.integers("sweep.context")) > c.integer("sim.compared_context")) {
    drawn.panels.pop_back();  // nothing is simulated at a fixed batch
  } else {
    drawn.caption +=
        "Below: at batches of 1.4 T from scratch and T/2 after transfer, lines are the first "
        "passage of the mean field. ";
  }
  drawn.caption += sampling_sentence(c);
  return drawn;
}

std::vector<ExponentClaim> exponents(const Configuration& c) {
  // `fit` allows 0.1 above a bound: 1.25 and 0.6 for the upper end of the interval.
  const auto bound =
      [](const char* name, const char* mode, const char* x, double exponent, const char* meaning) {
        return ExponentClaim{.name = name,
                             .series = "samples_to_error",
                             .x_name = x,
                             .only = {{"mode", mode}},
                             .exponent = exponent,
                             .upper_bound = true,
                             .meaning = meaning,
                             .cap_series = "samples_cap"};
      };
  std::vector<ExponentClaim> all;
  if (c.integers("sweep.context").size() >= kFewestContexts) {
    all = {bound("scratch",
                 "scratch",
                 "context",
                 1.15,
                 "boosting: T times log T, an exponent of 1.18 over T = 250 .. 2000"),
           bound("transfer",
                 "transfer",
                 "context",
                 0.5,
                 "l1 stage alone: between log T and the square root of T")};
  }
  // Where these scalars are swept. With a penalty that stays a share of the weight 1/Q, noise of A
  // below it takes a batch of order Q² (one that is fixed does not keep the bound); each column
  // sees a share 1/N of the batch; the noise of V at its floor is of order 1/samples.
  for (const char* mode : {"scratch", "transfer"}) {
    all.push_back(bound("sparsity", mode, "sparsity", 2, "noise below the penalty: Q squared"));
    all.push_back(bound("tokens", mode, "tokens", 1, "a share 1/N of the batch in each column"));
    all.push_back(bound("error", mode, "1/epsilon", 1, "floor of the noise of V: 1/error"));
  }
  return all;
}

/// Transfer needs at most a third of the samples at every T of 1000 or more.
std::vector<ClaimResult> gain_claims(const Observed& observed) {
  constexpr double kGain = 3;
  constexpr double kLong = 1000;
  std::vector<ClaimResult> claims;
  const ObservedCurve* scratch = observed.curve("samples_to_error", {{"mode", "scratch"}});
  const ObservedCurve* transfer = observed.curve("samples_to_error", {{"mode", "transfer"}});
  if (scratch == nullptr || transfer == nullptr) return claims;
  for (std::size_t i = 0; i < scratch->mean.x.size(); ++i) {
    for (std::size_t j = 0; j < transfer->mean.x.size(); ++j) {
      const double length = scratch->mean.x[i];
      if (length < kLong || transfer->mean.x[j] != length) continue;
      // Runs of the two modes are independent: pairs in the order of the replicates.
      std::vector<bool> holds;
      const std::vector<double>& slow = scratch->values[i];
      const std::vector<double>& quick = transfer->values[j];
      for (std::size_t r = 0; r < std::min(slow.size(), quick.size()); ++r) {
        holds.push_back(slow[r] >= kGain * quick[r]);
      }
      claims.push_back(
          claim_rate(fmt::format("gain-at-{:g}", length),
                     fmt::format("scratch takes {} times the samples at T = {:g}", kGain, length),
                     holds,
                     fmt::format("medians {:.3g} and {:.3g}", median(slow), median(quick)),
                     kHalf));
    }
  }
  return claims;
}

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  std::vector<ClaimResult> claims;
  std::vector<ExponentFit> fits;
  for (const ExponentClaim& claim : exponents(c)) {
    if (claim.x_name != "context") continue;  // those of several problems are the run's
    const ExponentResult result = judge_exponent(claim, observed.simulation, c.seed());
    fits.push_back(result.fit);
    claims.push_back(exponent_claim(result));
  }
  if (!fits.empty()) {
    const bool fitted = fits[0].fitted && fits[1].fitted;
    const double low = fits[0].interval95.low;
    const double high = fits[1].interval95.high;
    claims.push_back({"separated",
                      "the interval from scratch lies above that of transfer",
                      fitted && low > high ? Verdict::agree : Verdict::inconclusive,
                      fitted ? fmt::format("{:.3f} against {:.3f}", low, high) : "not fitted"});
  }
  for (ClaimResult& claim : gain_claims(observed)) claims.push_back(std::move(claim));
  return claims;
}

}  // namespace

Study study() {
  return described({.name = "bigrams-complexity",
                    .make = make<Complexity>,
                    .figure = figure,
                    .claims = claims,
                    .exponents = exponents});
}

}  // namespace attica::bigrams_complexity
