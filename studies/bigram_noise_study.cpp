/// @file
/// @brief Studies bigrams-floor and bigrams-stability: the attention matrix at a fixed value matrix
/// V = P; how far l1 lowers its noise floor, and where it diverges.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "attica/core/error.hpp"
#include "attica/studies/bigram_common.hpp"
#include "attica/studies/bigram_studies.hpp"
#include "attica/studies/parameters.hpp"
#include "attica/theory/bigram_l1.hpp"
#include "attica/theory/bigram_population.hpp"

namespace attica {
namespace {

/// Bytes per entry of A: float, and double for the start.
constexpr double kFrozenBytes = 12;

/// A run with V = P throughout and A = Q at the start.
BigramSgd<float> frozen_run(const BigramSetup& setup,
                            BigramAlgorithm algorithm,
                            const Piece& piece,
                            std::uint64_t replicate) {
  return BigramSgd<float>(setup.model,
                          algorithm,
                          setup.sizes(),
                          setup.model.transition(),
                          {.seed = piece.seed,
                           .id = StreamId::minibatch,
                           .point = piece.stream_point,
                           .replicate = replicate});
}

std::uint64_t runs_per_piece(const BigramSetup& setup, double steps) {
  const double seconds = 2e-9 * static_cast<double>(setup.model.context()) * setup.batch * steps;
  return static_cast<std::uint64_t>(std::clamp(0.5 / seconds, 1.0, 20.0));
}

void require_real(const Configuration& c) {
  if (c.text("sim.surrogate") != "none") {
    throw invalid_parameter(
        "sim.surrogate", c.text("sim.surrogate"), "\"none\": this study tests real sequences");
  }
}

// Floor.

class Floor : public Experiment {
 public:
  explicit Floor(const Configuration& c)
      : setup_(bigram_setup(c, RateCheck::none)), lambdas_(c.reals("sweep.l1")) {
    require_real(c);
    require_entries(setup_.model, kFrozenBytes);
    if (setup_.rates.attention >= setup_.rate_limit) {
      throw invalid_parameter(c.has("sim.eta_A") ? "sim.eta_A" : "sim.eta",
                              setup_.rates.attention,
                              fmt::format("a rate below the stability limit {:.3g}: above it there "
                                          "is no floor",
                                          setup_.rate_limit));
    }
    std::sort(lambdas_.begin(), lambdas_.end());
    // Ten relaxation times to forget the start, ten more to average over.
    relaxation_ = std::llround(10 / (setup_.rates.attention * setup_.model.k_p()));
  }

  TheoryResult theory(TheoryGrid) const override {
    Prediction distance = bigram_prediction("distance_A", {}, "l1");
    Prediction zeros = bigram_prediction("zero_fraction", {}, "l1");
    Prediction closed = bigram_prediction("distance_A_closed", {}, "l1");
    List ratios;
    for (const double lambda : lambdas_) {
      const double eta = setup_.rates.attention;
      const L1Floor chain = l1_floor_chain(setup_.model, eta, lambda, setup_.batch);
      const L1Floor formula = l1_floor_closed_form(setup_.model, eta, lambda, setup_.batch);
      for (auto [p, y] : {std::pair{&distance, chain.distance_a2},
                          {&zeros, chain.zero_fraction},
                          {&closed, formula.distance_a2}}) {
        p->series.x.push_back(lambda);
        p->series.y.push_back(y);
      }
      // The noise of the Q support entries, as large as elsewhere without l1.
      const L1Floor free = l1_floor_chain(setup_.model, eta, 0, setup_.batch);
      distance.finite_size.push_back(free.distance_a2 *
                                     static_cast<double>(setup_.model.sparsity()) /
                                     static_cast<double>(setup_.model.context()));
      zeros.compared.push_back(lambda > 0);  // without l1 there are none
      ratios.emplace_back(chain.noise_ratio);
    }
    return {.predictions = {distance, zeros, closed},
            .diagnostics = {{"lambda_over_sigma", std::move(ratios)}}};
  }

  std::size_t points() const override { return lambdas_.size(); }
  std::uint64_t replicates_per_piece(std::size_t) const override {
    return runs_per_piece(setup_, static_cast<double>(2 * relaxation_));
  }

  std::vector<Outcome> simulate(const Piece& piece) const override {
    const double lambda = lambdas_[piece.point];
    constexpr std::int64_t kEvery = 10;
    return each_replicate(piece, [&](std::uint64_t replicate) {
      BigramSgd<float> run = frozen_run(setup_, BigramAlgorithm::l1, piece, replicate);
      run.set_attention(setup_.model.dense_attention());
      run.freeze_value();
      run.set_l1(lambda);
      double distance = 0;
      double zeros = 0;
      double count = 0;
      for (std::int64_t n = 1; n <= 2 * relaxation_ && !piece.stop.stop_requested(); ++n) {
        run.step();
        if (n <= relaxation_ || n % kEvery != 0) continue;
        distance += run.state().distance_a2;
        zeros += run.zero_fraction();
        ++count;
      }
      if (piece.stop.stop_requested()) return Outcome{};
      Outcome outcome{.series = {{"distance_A", {}, "l1", {lambda}, {distance / count}},
                                 {"zero_fraction", {}, "l1", {lambda}, {zeros / count}}}};
      record_end(outcome, status_of(run), run);
      return outcome;
    });
  }

  Table diagnostics() const override { return setup_.diagnostics; }
  std::vector<std::string> warnings() const override { return setup_.warnings; }

 private:
  BigramSetup setup_;
  std::vector<double> lambdas_;
  std::int64_t relaxation_ = 0;
};

std::unique_ptr<Experiment> make_floor(Configuration& c) { return std::make_unique<Floor>(c); }

Figure floor_figure(const Configuration&) {
  const Axis l1{.label = "penalty {/:Italic λ}"};
  return {
      .name = "bigrams-floor",
      .panels = {{.x = l1,
                  .y = {.label = "floor ‖{/:Italic A} − {/:Italic Q}‖²", .scale = AxisScale::log},
                  .layers = {{.series = "distance_A", .label = "chain"},
                             {.series = "distance_A_closed",
                              .label = "small-step formula",
                              .simulation = false,
                              .reference = true}},
                  .x_name = "l1"},
                 {.x = l1,
                  .y = {.label = "fraction of zeros", .low = 0, .high = 1},
                  .layers = {{.series = "zero_fraction", .label = "chain"}},
                  .x_name = "l1"}},
      .columns = 1,
      .caption =
          "Noise floor of the attention matrix under l1 proximal steps, V = P held "
          "fixed. Lines: stationary law of the soft-threshold chain, and its formula "
          "for small steps; points: SGD on sequences, mean and standard error over "
          "runs."};
}

std::vector<AgreementRule> floor_agreement(const Configuration&) {
  // The chain takes the noise as Gaussian, white and of fixed size; 10 % covers what that misses.
  constexpr double kMargin = 0.1;
  // A run is averaged over ten relaxation times: normal to a good approximation.
  return {{.series = "distance_A", .relative = kMargin, .tails = Tails::normal},
          {.series = "zero_fraction", .relative = kMargin, .tails = Tails::normal}};
}

// Stability.

class Stability : public Experiment {
 public:
  explicit Stability(const Configuration& c)
      : setup_(bigram_setup(c, RateCheck::none)), ratios_(c.reals("sweep.rate_ratio")) {
    require_real(c);
    require_entries(setup_.model, kFrozenBytes);
    std::sort(ratios_.begin(), ratios_.end());
    steps_ = c.integer("sim.length");
    if (!std::all_of(ratios_.begin(), ratios_.end(), [&](double r) { return settles(r); })) {
      setup_.warnings.push_back(
          fmt::format("{} steps are too few at some rates to reach the stationary noise, or to "
                      "leave it: raise sim.length (not compared there)",
                      steps_));
    }
  }

  TheoryResult theory(TheoryGrid) const override {
    Prediction p = bigram_prediction("d_A", {}, "rate_ratio");
    // Close to the limit the mean is carried by rare runs, which a simulation does not see.
    constexpr double kSafe = 0.6;
    for (const double ratio : ratios_) {
      p.series.x.push_back(ratio);
      p.series.y.push_back(
          ratio < 1 ? l1_floor_closed_form(setup_.model, ratio * setup_.rate_limit, 0, setup_.batch)
                          .distance_a2
                    : std::numeric_limits<double>::infinity());
      p.compared.push_back(ratio <= kSafe && settles(ratio));
    }
    return {.predictions = {p}, .diagnostics = {{"eta_A_limit", setup_.rate_limit}}};
  }

  std::size_t points() const override { return ratios_.size(); }
  std::uint64_t replicates_per_piece(std::size_t) const override {
    return runs_per_piece(setup_, static_cast<double>(steps_));
  }

  std::vector<Outcome> simulate(const Piece& piece) const override {
    const double ratio = ratios_[piece.point];
    BigramSetup setup = setup_;
    setup.rates.attention = ratio * setup_.rate_limit;
    return each_replicate(piece, [&](std::uint64_t replicate) {
      BigramSgd<float> run = frozen_run(setup, BigramAlgorithm::sgd_hat, piece, replicate);
      run.set_attention(setup.model.dense_attention());
      run.freeze_value();
      while (run.steps() < steps_ && !run.diverged() && !piece.stop.stop_requested()) run.step();
      // Divergence is what is asked about: a result, not a failure.
      const bool diverged = run.diverged();
      Outcome outcome{
          .series = {{"diverged", {}, "rate_ratio", {ratio}, {diverged ? 1.0 : 0.0}}},
          .status = describe(diverged ? BigramStatus::diverged : BigramStatus::converged)};
      if (!diverged) {
        outcome.series.push_back({"d_A", {}, "rate_ratio", {ratio}, {run.state().d_a}});
      }
      return outcome;
    });
  }

  Table diagnostics() const override { return setup_.diagnostics; }
  std::vector<std::string> warnings() const override { return setup_.warnings; }

 private:
  /// Whether a run is long enough: the mean of d_A relaxes, or grows, at the rate
  /// 2 η_A K_P |1 - ratio| a step, and starts at 0.
  bool settles(double ratio) const {
    constexpr double kTimes = 3;  // e⁻³ = 5 % is left
    const double rate = 2 * ratio * setup_.rate_limit * setup_.model.k_p() * std::abs(1 - ratio);
    return ratio == 1 || rate * static_cast<double>(steps_) >= kTimes;
  }

  BigramSetup setup_;
  std::vector<double> ratios_;
  std::int64_t steps_ = 0;
};

std::unique_ptr<Experiment> make_stability(Configuration& c) {
  return std::make_unique<Stability>(c);
}

Figure stability_figure(const Configuration&) {
  Panel panel{.x = {.label = "learning rate {/:Italic η}_A / stability limit"},
              .y = {.label = "final remainder {/:Italic d}_A", .scale = AxisScale::log},
              .layers = {{.series = "d_A"}},
              .x_name = "rate_ratio"};
  Panel fraction{.x = panel.x,
                 .y = {.label = "fraction that diverges", .low = -0.05, .high = 1.05},
                 .layers = {{.series = "diverged"}},
                 .x_name = "rate_ratio"};
  panel.vertical_marks = {1.0};
  fraction.vertical_marks = {1.0};
  return {.name = "bigrams-stability",
          .panels = {panel, fraction},
          .columns = 1,
          .caption =
              "Noise of the attention matrix against the learning rate, V = P held fixed. "
              "Line: stationary second moment, infinite above the limit; points: SGD after "
              "a fixed number of steps, mean and standard error over runs that did not diverge."};
}

std::vector<AgreementRule> stability_agreement(const Configuration&) {
  // White noise of leading order; verified to a few per cent at half the limit.
  constexpr double kMargin = 0.15;
  return {{.series = "d_A", .relative = kMargin}};
}

std::vector<ClaimResult> stability_claims(const Configuration&, const Observed& observed) {
  // Below 0.8 of the limit a typical run stays at the size of the stationary one; above 1.25 it has
  // left it far behind. The theory just below the limit sets the scale.
  constexpr double kBelow = 0.8;
  constexpr double kAbove = 1.25;
  constexpr double kFar = 20;
  double scale = 0;
  for (const Prediction& p : observed.theory) {
    for (std::size_t k = 0; k < p.series.x.size(); ++k) {
      if (p.series.x[k] <= kBelow) scale = std::max(scale, p.series.y[k]);
    }
  }
  // d_A of all runs at each ratio: those that diverged have no value below infinity.
  std::map<double, std::vector<double>> values;
  std::map<double, std::size_t> diverged;
  for (const ObservedCurve& curve : observed.simulation) {
    for (std::size_t k = 0; k < curve.mean.x.size(); ++k) {
      std::vector<double>& all = values[curve.mean.x[k]];
      if (curve.mean.name == "d_A") {
        all.insert(all.end(), curve.values[k].begin(), curve.values[k].end());
      } else if (curve.mean.name == "diverged") {
        const auto count = std::count(curve.values[k].begin(), curve.values[k].end(), 1.0);
        diverged[curve.mean.x[k]] = static_cast<std::size_t>(count);
        all.insert(
            all.end(), static_cast<std::size_t>(count), std::numeric_limits<double>::infinity());
      }
    }
  }
  std::vector<ClaimResult> claims;
  for (auto& [ratio, all] : values) {
    if ((ratio > kBelow && ratio < kAbove) || scale == 0 || all.empty()) continue;
    std::sort(all.begin(), all.end());
    const double median = all[all.size() / 2];
    const bool bounded = ratio <= kBelow;
    const double threshold = (bounded ? 3 : kFar) * scale;
    const bool holds = bounded ? median < threshold : median > threshold;
    claims.push_back(
        {fmt::format("{}-at-{:.2f}", bounded ? "bounded" : "diverged", ratio),
         fmt::format("median d_A {} {:.3g}", bounded ? "<" : ">", threshold),
         holds ? Verdict::agree : Verdict::disagree,
         fmt::format(
             "median {:.3g} of {} runs, {} diverged", median, all.size(), diverged[ratio])});
  }
  return claims;
}

Parameter swept(const char* key, List values, const char* meaning, Range range) {
  return {.key = key,
          .type = ParameterType::real,
          .fallback = Value(std::move(values)),
          .meaning = meaning,
          .list = true,
          .range = range};
}

}  // namespace

Study bigrams_floor() {
  std::vector<Parameter> parameters = bigram_parameters({.context = 500, .replicates = 10});
  parameters.push_back(swept(
      "sweep.l1", {0.0, 0.01, 0.02, 0.04, 0.08}, "lambda of the l1 penalty on A", {.low = 0}));
  std::vector<SeriesInfo> series = bigram_series({"distance_A"});
  series.push_back({"zero_fraction", "", "entries off the support that are exactly 0"});
  series.push_back({"distance_A_closed", "", "formula for small steps (theory)"});
  return {
      .name = "bigrams-floor",
      .question = "How far does an l1 penalty lower the noise floor of the attention matrix?",
      .neglects =
          "correlations and non-Gaussianity of the gradient noise; noise of the "
          "support entries",
      .parameters = std::move(parameters),
      .series = std::move(series),
      .presets = {{"quick", "the defaults: N = 3, T = 500, B = 64, 5 penalties", {}},
                  {"paper", "T = 5000, B = 512", {{"model.context", 5000}, {"sim.batch", 512}}}},
      .sources = {bigram_source("l1 proximal steps")},
      .make = make_floor,
      .figure = floor_figure,
      .agreement = floor_agreement};
}

Study bigrams_stability() {
  std::vector<Parameter> parameters =
      bigram_parameters({.context = 300, .batch = 16, .replicates = 40});
  parameters.push_back(swept("sweep.rate_ratio",
                             {0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 1.0, 1.25, 1.5},
                             "learning rate of A over its stability limit",
                             {.low = 0, .low_open = true}));
  parameters.push_back(integer_parameter("sim.length", std::int64_t{800}, "steps of a run"));
  std::vector<SeriesInfo> series = bigram_series({"d_A"});
  series.push_back({"diverged", "", "fraction of runs with an entry above 1e6 or not finite"});
  return {.name = "bigrams-stability",
          .question = "At which learning rate does the attention matrix diverge?",
          .neglects = "rare runs that carry the mean close to the limit: not compared there",
          .parameters = std::move(parameters),
          .series = std::move(series),
          .presets = {{"quick", "the defaults: N = 3, T = 300, B = 16", {}},
                      {"paper", "T = 5000, B = 64", {{"model.context", 5000}, {"sim.batch", 64}}}},
          .sources = {bigram_source("experiments report divergence for small batches")},
          .make = make_stability,
          .figure = stability_figure,
          .agreement = stability_agreement,
          .claims = stability_claims};
}

}  // namespace attica
