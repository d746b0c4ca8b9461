/// @file
/// @brief Studies bigrams-boosting and bigrams-sign: the first stage of training as a noisy linear
/// system; its fluctuations, and how often it grows the signal with the right sign.

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <optional>

#include "attica/core/error.hpp"
#include "attica/solvers/distributions.hpp"
#include "attica/studies/bigram_common.hpp"
#include "attica/studies/bigram_studies.hpp"
#include "attica/studies/parameters.hpp"
#include "attica/theory/bigram_recursion.hpp"

namespace attica {
namespace {

/// Runs in one replicate: their spread is one observation.
constexpr int kGroup = 50;

double normal_cdf(double z) { return normal_tail(-z); }

/// Each replicate is a group of runs, each its own stream.
std::uint64_t run_number(std::uint64_t replicate, int member) {
  return replicate * kGroup + static_cast<std::uint64_t>(member);
}

std::uint64_t groups_per_piece(const BigramSetup& setup, double steps) {
  constexpr double kSecondsPerStep = 6e-6;  // of the aggregated surrogate
  const double step = setup.surrogate == "none"
                          ? 2e-9 * static_cast<double>(setup.model.context()) * setup.batch
                          : kSecondsPerStep;
  return static_cast<std::uint64_t>(std::clamp(0.5 / (step * steps * kGroup), 1.0, 50.0));
}

/// A group with a diverged run gives no mean.
Outcome diverged_group(const BigramTrainer& run) {
  Outcome outcome;
  record_end(outcome, BigramStatus::diverged, run);
  return outcome;
}

Parameter theta_parameter(double fallback) {
  return real_parameter("sim.theta",
                        fallback,
                        "signal |alpha_V| at which the first stage counts as over",
                        {.low = 0, .high = 1, .low_open = true});
}

// Boosting.

class Boosting : public Experiment {
 public:
  explicit Boosting(const Configuration& c)
      : setup_(bigram_setup(c)),
        closed_(constants(setup_.model), setup_.rates),
        theta_(c.real("sim.theta")) {
    constexpr double kLinear = 0.25;
    if (theta_ > kLinear) {
      setup_.warnings.push_back(
          fmt::format("theta = {} is beyond the linear regime (about {})", theta_, kLinear));
    }
  }

  TheoryResult theory(TheoryGrid) const override {
    Prediction mean = bigram_prediction("alpha_V", {}, "step");
    Prediction deviation = bigram_prediction("alpha_V_sd", {}, "step");
    Prediction fraction = bigram_prediction("boosted_fraction", {}, "step");
    for (const double n : as_reals(setup_.steps)) {
      const double m = closed_.alpha_v_discrete(n);
      const double sd = closed_.alpha_v_deviation(n, setup_.model.kappa_v(), setup_.batch);
      const double boosted = sd > 0 ? normal_cdf((m - theta_) / sd) : 0;
      for (auto [p, y] : {std::pair{&mean, m}, {&deviation, sd}, {&fraction, boosted}}) {
        p->series.x.push_back(n);
        p->series.y.push_back(y);
      }
      // Runs near saturation grow more slowly: relative α_V²/2 at one and two deviations above the
      // mean.
      const double top = std::abs(m) + 2 * sd;
      const bool linear = top <= theta_;
      mean.finite_size.push_back(linear ? 0.5 * top * top * m : 0);
      deviation.finite_size.push_back(linear ? 0.5 * top * top * sd : 0);
      mean.compared.push_back(linear);
      deviation.compared.push_back(linear && sd > 0);
      // Where the law of the boosting time has no mass, groups of runs all say 0 or 1.
      constexpr double kCertain = 0.005;
      fraction.compared.push_back(boosted > kCertain && boosted < 1 - kCertain);
    }
    return {.predictions = {mean, deviation, fraction},
            .diagnostics = {{"omega", closed_.omega()},
                            {"snr", closed_.snr(setup_.model.kappa_v(), setup_.batch)},
                            {"boosting_time", closed_.boosting_time(theta_)}}};
  }

  std::size_t points() const override { return 1; }
  std::uint64_t replicates_per_piece(std::size_t) const override {
    return groups_per_piece(setup_, static_cast<double>(setup_.steps.back()));
  }

  std::vector<Outcome> simulate(const Piece& piece) const override {
    return each_replicate(piece, [&](std::uint64_t replicate) { return group(piece, replicate); });
  }

  Table diagnostics() const override { return setup_.diagnostics; }
  std::vector<std::string> warnings() const override { return setup_.warnings; }

 private:
  Outcome group(const Piece& piece, std::uint64_t replicate) const {
    // Columns: mean, mean square, fraction boosted.
    const auto steps = static_cast<Eigen::Index>(setup_.steps.size());
    Eigen::ArrayX3d tally = Eigen::ArrayX3d::Zero(steps, 3);
    for (int member = 0; member < kGroup; ++member) {
      const auto trainer = make_trainer(
          setup_, BigramAlgorithm::sgd_hat, setup_.start, piece, run_number(replicate, member));
      bool crossed = false;
      for (Eigen::Index k = 0; k < steps; ++k) {
        while (trainer->steps() < setup_.steps[static_cast<std::size_t>(k)]) trainer->step();
        const double alpha = trainer->state().alpha_v;
        crossed = crossed || alpha >= theta_;
        tally.row(k) += Eigen::Array3d(alpha, alpha * alpha, crossed ? 1 : 0).transpose() / kGroup;
      }
      if (trainer->diverged()) return diverged_group(*trainer);
    }
    Series mean{"alpha_V", {}, "step", {}, {}};
    Series deviation{"alpha_V_sd", {}, "step", {}, {}};
    Series fraction{"boosted_fraction", {}, "step", {}, {}};
    // E of the sample deviation of n normals is σ (1 - 1/(4n)) with the n-1 normalisation.
    constexpr double kUnbiased = (1 + 1.0 / (4 * kGroup)) * (1 + 0.5 / kGroup);
    for (Eigen::Index k = 0; k < steps; ++k) {
      const double variance = tally(k, 1) - tally(k, 0) * tally(k, 0);
      const double spread = kUnbiased * std::sqrt(std::max(variance, 0.0));
      for (auto [series, y] :
           {std::pair{&mean, tally(k, 0)}, {&deviation, spread}, {&fraction, tally(k, 2)}}) {
        series->x.push_back(static_cast<double>(setup_.steps[static_cast<std::size_t>(k)]));
        series->y.push_back(y);
      }
    }
    return {.series = {mean, deviation, fraction}};
  }

  BigramSetup setup_;
  BoostingTheory closed_;
  double theta_;
};

std::unique_ptr<Experiment> make_boosting(Configuration& c) {
  return std::make_unique<Boosting>(c);
}

Figure boosting_figure(const Configuration& c) {
  const Axis step{.label = "step {/:Italic n}"};
  return {.name = "bigrams-boosting",
          .panels = {{.x = step,
                      .y = {.label = "signal {/:Italic α}_V", .scale = AxisScale::log},
                      .layers = {{.series = "alpha_V", .label = "mean"},
                                 {.series = "alpha_V_sd", .label = "standard deviation"}},
                      .x_name = "step"},
                     {.x = step,
                      .y = {.label = fmt::format("P({{/:Italic α}}_V ≥ {})", c.real("sim.theta")),
                            .low = 0,
                            .high = 1},
                      .layers = {{.series = "boosted_fraction"}},
                      .x_name = "step"}},
          .columns = 1,
          .caption =
              "First stage of training: mean and spread of the signal over runs, and the "
              "distribution of the time it takes. Lines: noisy linear system; points: "
              "groups of 50 runs, mean and standard error over groups."};
}

std::vector<AgreementRule> boosting_agreement(const Configuration&) {
  // The fraction is a probability: 0.05 absolute is the sup distance of the distributions of the
  // boosting time; it takes the nonlinearity at α_V = θ with it.
  constexpr double kSpread = 0.1;
  constexpr double kDistance = 0.05;
  // Means over groups of 50 runs are normal to a good approximation.
  return {
      {.series = "alpha_V", .relative = 0.05, .tails = Tails::normal},
      {.series = "alpha_V_sd", .relative = kSpread, .tails = Tails::normal},
      {.series = "boosted_fraction", .relative = 0, .absolute = kDistance, .tails = Tails::normal}};
}

// Sign.

/// The noise of A, left out of the linear system, lowers the probability: points where it is
/// estimated to do so by more than half of the margin are drawn, not compared.
constexpr double kSignMargin = 0.05;

class Sign : public Experiment {
 public:
  explicit Sign(Configuration& c) : theta_(c.real("sim.theta")), requested_(c.reals("sweep.snr")) {
    for (const std::int64_t context : c.integers("sweep.context")) {
      c.set("model.context", context, false);
      BigramSetup setup = bigram_setup(c, RateCheck::descent);
      if (context <= c.integer("sim.longest_sampled")) setup.surrogate = "none";
      const BoostingTheory closed(constants(setup.model), setup.rates);
      std::vector<double> batches;
      for (const double snr : requested_) {
        double batch = batch_for(snr, {setup, closed});
        // Real sequences come in whole numbers.
        if (setup.surrogate == "none") batch = std::max(1.0, std::round(batch));
        batches.push_back(batch);
      }
      std::sort(batches.begin(), batches.end());
      batches.erase(std::unique(batches.begin(), batches.end()), batches.end());
      for (const double batch : batches) {
        setup.batch = batch;
        places_.push_back({contexts_.size(), batch, closed.snr(setup.model.kappa_v(), batch)});
      }
      contexts_.push_back({std::move(setup), closed});
    }
  }

  TheoryResult theory(TheoryGrid grid) const override {
    TheoryResult result;
    for (std::size_t i = 0; i < contexts_.size(); ++i) {
      Prediction p = bigram_prediction("success_probability", point_of(contexts_[i]), "snr");
      if (grid == TheoryGrid::requested) p.series.x = requested_;
      for (const Place& place : places_) {
        if (grid == TheoryGrid::run && place.context == i) p.series.x.push_back(place.snr);
      }
      if (grid == TheoryGrid::run && p.series.x.size() > 1) {
        constexpr int kLine = 60;
        const double low = p.series.x.front();
        const double high = p.series.x.back();
        for (int k = 1; k < kLine; ++k) p.series.x.push_back(low + (high - low) * k / kLine);
        std::sort(p.series.x.begin(), p.series.x.end());
      }
      for (const double snr : p.series.x) {
        p.series.y.push_back(normal_cdf(snr));
        const BigramSetup& setup = contexts_[i].setup;
        const double batch = batch_for(snr, contexts_[i]);
        p.compared.push_back(sign_deficit(setup.model, setup.rates, batch, theta_) <=
                             kSignMargin / 2);
      }
      result.predictions.push_back(std::move(p));
    }
    result.diagnostics = {{"omega", contexts_.front().closed.omega()}};
    return result;
  }

  std::size_t points() const override { return places_.size(); }
  std::uint64_t replicates_per_piece(std::size_t point) const override {
    const Context& context = contexts_[places_[point].context];
    BigramSetup setup = context.setup;
    setup.batch = places_[point].batch;
    return groups_per_piece(setup, context.closed.boosting_time(theta_));
  }

  std::vector<Outcome> simulate(const Piece& piece) const override {
    const Place& place = places_[piece.point];
    const Context& context = contexts_[place.context];
    BigramSetup setup = context.setup;
    setup.batch = place.batch;
    const double cap = 10 * context.closed.boosting_time(theta_);
    return each_replicate(piece, [&](std::uint64_t replicate) -> Outcome {
      double successes = 0;
      int undecided = 0;
      std::optional<Outcome> diverged;
      for (int member = 0; member < kGroup; ++member) {
        const auto trainer = make_trainer(
            setup, BigramAlgorithm::sgd_hat, setup.start, piece, run_number(replicate, member));
        double alpha = 0;
        while (std::abs(alpha) < theta_ && static_cast<double>(trainer->steps()) < cap) {
          trainer->step();
          alpha = trainer->state().alpha_v;
        }
        successes += alpha >= theta_ ? 1 : 0;
        undecided += std::abs(alpha) < theta_ ? 1 : 0;
        diverged = trainer->diverged() ? diverged_group(*trainer) : diverged;
      }
      if (diverged) return *std::move(diverged);
      Outcome outcome{.series = {{"success_probability",
                                  point_of(context),
                                  "snr",
                                  {place.snr},
                                  {successes / kGroup}}}};
      if (undecided > 0) outcome.status = fmt::format("{} runs undecided", undecided);
      return outcome;
    });
  }

  Table diagnostics() const override { return contexts_.front().setup.diagnostics; }
  std::vector<std::string> warnings() const override {
    std::vector<std::string> all;
    for (const Context& context : contexts_) {
      all.insert(all.end(), context.setup.warnings.begin(), context.setup.warnings.end());
    }
    return all;
  }

 private:
  struct Context {
    BigramSetup setup;
    BoostingTheory closed;
  };
  /// A point of the experiment.
  struct Place {
    std::size_t context;
    double batch;
    double snr;  ///< as this batch realises it
  };

  /// B = snr² ω κ_V T/2
  static double batch_for(double snr, const Context& context) {
    const BigramModel& model = context.setup.model;
    return 0.5 * snr * snr * context.closed.omega() * model.kappa_v() *
           static_cast<double>(model.context());
  }

  static Point point_of(const Context& context) {
    return {{"context", static_cast<double>(context.setup.model.context())}};
  }

  double theta_;
  std::vector<double> requested_;
  std::vector<Context> contexts_;
  std::vector<Place> places_;
};

std::unique_ptr<Experiment> make_sign(Configuration& c) { return std::make_unique<Sign>(c); }

Figure sign_figure(const Configuration& c) {
  // The theory is the same for all contexts: one line.
  const std::vector<std::int64_t> contexts = c.integers("sweep.context");
  const auto longest = static_cast<double>(*std::max_element(contexts.begin(), contexts.end()));
  return {
      .name = "bigrams-sign",
      .panels = {{.x = {.label =
                            "signal-to-noise ratio √(2{/:Italic B}/{/:Italic ωκ}_V{/:Italic T})"},
                  .y = {.label = "probability of the right sign", .low = 0.5, .high = 1},
                  .layers = {{.series = "success_probability",
                              .label = "normal distribution",
                              .simulation = false,
                              .reference = true,
                              .only = {{"context", longest}}},
                             {.series = "success_probability",
                              .label = "{/:Italic T} = {context}",
                              .theory = false}},
                  .x_name = "snr"}},
      .columns = 1,
      .caption =
          "How often the first stage grows the signal with the right sign: context lengths fall on "
          "one curve. Line: normal distribution function of the signal-to-noise ratio; points: "
          "groups of 50 runs on sequences (short contexts) or the Gaussian surrogate, mean and "
          "standard error over groups. Short contexts fall below at weak signals: noise of the "
          "attention matrix, not compared there."};
}

std::vector<AgreementRule> sign_agreement(const Configuration&) {
  return {{.series = "success_probability",
           .relative = 0,
           .absolute = kSignMargin,
           .tails = Tails::normal}};
}

}  // namespace

Study bigrams_boosting() {
  constexpr double kTheta = 0.15;
  std::vector<Parameter> parameters = bigram_parameters(
      {.context = 3000,
       .batch = 160,
       .steps = {40, 80, 120, 160, 200, 240, 260, 280, 300, 320, 340, 360, 380, 400, 420, 440},
       .surrogate = "aggregated",
       .replicates = 150});
  parameters.push_back(theta_parameter(kTheta));
  std::vector<SeriesInfo> series = bigram_series({"alpha_V"});
  series.push_back({"alpha_V_sd", "sd alpha_V", "standard deviation over runs, by groups of 50"});
  series.push_back(
      {"boosted_fraction", "P(alpha_V >= theta)", "fraction of runs whose signal has grown"});
  return {.name = "bigrams-boosting",
          .question = "How much do runs differ in the first, sample-hungry stage?",
          .neglects = "saturation of the signal (relative α²/2) and noise that grows with it",
          .parameters = std::move(parameters),
          .series = std::move(series),
          .presets = {{"quick", "the defaults: N = 3, T = 3000, B = 160, surrogate", {}},
                      {"paper",
                       "real sequences, T = 5000, B = 256",
                       {{"model.context", 5000}, {"sim.batch", 256}, {"sim.surrogate", "none"}}}},
          .sources = {bigram_source("boosting stage and its sample need")},
          .make = make_boosting,
          .figure = boosting_figure,
          .agreement = boosting_agreement};
}

Study bigrams_sign() {
  constexpr double kTheta = 0.15;
  constexpr double kEta = 0.1;
  std::vector<Parameter> parameters =
      bigram_parameters({.eta = kEta, .surrogate = "aggregated", .replicates = 40});
  parameters.push_back(theta_parameter(kTheta));
  parameters.push_back(integers_parameter("sweep.context",
                                          List{300, 600, 3000, 300000},
                                          "context lengths T; they take the place of context",
                                          {.low = 2, .high = 1e9}));
  parameters.push_back(
      integer_parameter("sim.longest_sampled",
                        std::int64_t{1000},
                        "T up to which sequences are drawn in place of the surrogate",
                        {.low = 0, .high = 1e9}));
  parameters.push_back(reals_parameter("sweep.snr",
                                       {0.5, 1.0, 1.5, 2.0},
                                       "signal-to-noise ratios; they choose the batch",
                                       kPositive));
  return {.name = "bigrams-sign",
          .question = "When does training start in the right direction?",
          .neglects =
              "noise of A, which makes V's noise grow with the signal: of order 1/T at a "
              "fixed signal-to-noise ratio, not compared where estimated above 0.025",
          .parameters = std::move(parameters),
          .series = {{"success_probability",
                      "P(sign)",
                      "fraction of runs that reach alpha_V = +theta first"}},
          .presets = {{"quick", "the defaults: N = 3, T = 300 to 300000", {}},
                      {"paper",
                       "five context lengths, 100 groups of 50 runs",
                       {{"sweep.context", List{300, 600, 3000, 30000, 300000}},
                        {"sweep.snr", List{0.5, 0.75, 1.0, 1.5, 2.0, 2.5}},
                        {"sim.replicates", 100}}}},
          .sources = {bigram_source("boosting stage and its sample need")},
          .make = make_sign,
          .figure = sign_figure,
          .agreement = sign_agreement};
}

}  // namespace attica
