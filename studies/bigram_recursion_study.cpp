/// @file
/// @brief Studies bigrams-recursion and bigrams-large: training curves of SGD, or of its Gaussian
/// surrogate, against the mean-field recursion.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attica/studies/bigram_common.hpp"
#include "attica/studies/bigram_studies.hpp"
#include "attica/theory/bigram_population.hpp"
#include "attica/theory/bigram_recursion.hpp"

namespace attica {
namespace {

const std::vector<std::string> kNames = {
    "excess_loss", "alpha_V", "alpha_A", "d_V", "d_A", "distance_V", "distance_A"};

/// What means something where K_P or K_Q is 0.
const std::vector<std::string> kWithoutSignal = {"excess_loss", "distance_V", "distance_A"};

/// Marks averages over runs; the recursion of the mean amplitude has no coordinate.
const Point kMeanOfRuns{{"average", "runs"}};

double read(const std::string& name, const BigramRecursion& r) {
  const BigramSignals s = r.signals();
  if (name == "excess_loss") return r.excess_loss();
  if (name == "alpha_V") return s.alpha_v;
  if (name == "alpha_A") return s.alpha_a;
  if (name == "d_V") return s.d_v;
  if (name == "d_A") return s.d_a;
  return name == "distance_V" ? r.distance_v2() : r.distance_a2();
}

class Recursion : public Experiment {
 public:
  explicit Recursion(const Configuration& c)
      : setup_(bigram_setup(c, RateCheck::batch, NoSignal::warn)),
        signal_(has_signal(setup_.model)) {
    if (!signal_) return;
    constexpr double kEnoughSignal = 4;
    const double snr = BoostingTheory(constants(setup_.model), setup_.rates)
                           .snr(setup_.model.kappa_v(), setup_.batch);
    setup_.diagnostics.emplace_back("snr", snr);
    if (snr < kEnoughSignal) {
      setup_.warnings.push_back(
          fmt::format("snr = {:.2f} is below {}: the end of boosting varies from run to run, the "
                      "mean field describes no mean of runs and is not compared",
                      snr,
                      kEnoughSignal));
    }
    claimed_ = snr >= kEnoughSignal && setup_.rates.attention <= setup_.rate_limit / 2;
  }

  TheoryResult theory(TheoryGrid grid) const override {
    if (!signal_) {
      if (grid == TheoryGrid::requested) require_signal(setup_.model);
      return {};
    }
    // The recursion itself is the run of the mean boosted amplitude. Where curves are not linear in
    // the amplitude the mean of runs differs from it: that is compared with the simulation.
    BigramRecursion recursion(setup_.model, setup_.rates, setup_.batch, 0, setup_.mismatch());
    TheoryResult result;
    // The theory is that of hat gradients; the other rules are recorded alone.
    if (setup_.algorithm != BigramAlgorithm::sgd_hat) return result;
    for (const std::string& name : kNames) {
      result.predictions.push_back(bigram_prediction(name, {}, "step"));
    }
    std::int64_t step = 0;
    for (const std::int64_t next : setup_.steps) {
      for (; step < next; ++step) recursion.step();
      if (!std::isfinite(recursion.excess_loss())) break;  // above the stability limit
      for (Prediction& p : result.predictions) {
        p.series.x.push_back(static_cast<double>(step));
        p.series.y.push_back(read(p.series.name, recursion));
      }
    }
    const Eigen::MatrixXd averaged =
        averaged_over_amplitudes(setup_.model,
                                 setup_.rates,
                                 setup_.batch,
                                 setup_.mismatch(),
                                 setup_.steps,
                                 [](const BigramRecursion& r) {
                                   Eigen::RowVectorXd row(static_cast<Eigen::Index>(kNames.size()));
                                   for (std::size_t i = 0; i < kNames.size(); ++i) {
                                     row[static_cast<Eigen::Index>(i)] = read(kNames[i], r);
                                   }
                                   return row;
                                 });
    Eigen::Index finite = 0;
    while (finite < averaged.rows() && averaged.row(finite).allFinite()) ++finite;
    if (finite == 0) return result;
    const double order = value_noise_order(setup_.model.tokens());
    const auto d_v = std::find(kNames.begin(), kNames.end(), "d_V") - kNames.begin();
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      Prediction p = bigram_prediction(kNames[i], kMeanOfRuns, "step");
      const double full_scale =
          averaged.col(static_cast<Eigen::Index>(i)).head(finite).cwiseAbs().maxCoeff();
      for (Eigen::Index row = 0; row < finite; ++row) {
        const double y = averaged(row, static_cast<Eigen::Index>(i));
        p.series.x.push_back(static_cast<double>(setup_.steps[static_cast<std::size_t>(row)]));
        p.series.y.push_back(y);
        p.compared.push_back(claimed_);
        // V's noise, part of the distance, has the covariance of leading order alone.
        p.finite_size.push_back(curve_allowance(y, full_scale) +
                                (kNames[i] == "distance_V" ? order * averaged(row, d_v) : 0));
      }
      result.predictions.push_back(std::move(p));
    }
    result.diagnostics = {{"omega", BoostingTheory(constants(setup_.model), setup_.rates).omega()}};
    return result;
  }

  std::size_t points() const override { return 1; }
  std::uint64_t replicates_per_piece(std::size_t) const override {
    // About half a second: a position costs some 2 ns, the surrogate 6.
    const double positions =
        static_cast<double>(setup_.model.context()) *
        (setup_.surrogate == "none" ? setup_.batch
                                    : 3 * static_cast<double>(setup_.model.tokens()));
    const double seconds = 2e-9 * positions * static_cast<double>(setup_.steps.back() + 1);
    return static_cast<std::uint64_t>(std::clamp(0.5 / seconds, 1.0, 20.0));
  }

  std::vector<Outcome> simulate(const Piece& piece) const override {
    return each_replicate(piece, [&](std::uint64_t replicate) {
      const auto trainer = make_trainer(setup_, setup_.algorithm, setup_.start, piece, replicate);
      BigramRecorder recorder(signal_ ? kNames : kWithoutSignal, kMeanOfRuns);
      for (const std::int64_t next : setup_.steps) {
        while (trainer->steps() < next && !piece.stop.stop_requested()) trainer->step();
        if (trainer->diverged()) break;
        recorder.record(static_cast<double>(next), trainer->state());
      }
      Outcome outcome;
      recorder.append_to(outcome);
      record_end(outcome, status_of(*trainer), *trainer);
      return outcome;
    });
  }

  Table diagnostics() const override { return setup_.diagnostics; }
  std::vector<std::string> warnings() const override { return setup_.warnings; }

 private:
  BigramSetup setup_;
  bool signal_;
  bool claimed_ = false;  ///< SNR >= 4 and η_A at most half of the stability limit
};

std::unique_ptr<Experiment> make(Configuration& c) { return std::make_unique<Recursion>(c); }

Figure figure_named(const std::string& name) {
  const Axis step{.label = "step", .scale = AxisScale::linear};
  const auto log_axis = [](const char* label) {
    return Axis{.label = label, .scale = AxisScale::log};
  };
  const auto layer = [](const char* series, const char* label) {
    return Layer{.series = series, .label = label, .only = kMeanOfRuns};
  };
  return {.name = name,
          .panels = {{.x = step,
                      .y = log_axis("{/:Italic L} − {/:Italic L}*"),
                      .layers = {layer("excess_loss", "")},
                      .x_name = "step"},
                     {.x = step,
                      .y = {.label = "signal"},
                      .layers = {layer("alpha_V", "{/:Italic α}_V"),
                                 layer("alpha_A", "{/:Italic α}_A")},
                      .x_name = "step"},
                     {.x = step,
                      .y = log_axis("squared remainder"),
                      .layers = {layer("d_V", "{/:Italic d}_V"), layer("d_A", "{/:Italic d}_A")},
                      .x_name = "step"},
                     {.x = step,
                      .y = log_axis("squared distance"),
                      .layers = {layer("distance_V", "‖{/:Italic V}−{/:Italic P}‖²"),
                                 layer("distance_A", "‖{/:Italic A}−{/:Italic Q}‖²")},
                      .x_name = "step"}},
          .columns = 1,
          .caption =
              "SGD on sparse contextual bigrams without regularisation. Lines: mean-field "
              "recursion, averaged over the amplitudes of boosting; points: simulation, mean and "
              "standard error over runs. Noise in A ends the descent: its squared remainder stays, "
              "and drives "
              "the signals off 1. The covariance of V's noise is of leading order: d_V of theory "
              "is up to "
              "twice too large for N = 3 tokens."};
}

Figure recursion_figure(const Configuration&) { return figure_named("bigrams-recursion"); }
Figure large_figure(const Configuration&) { return figure_named("bigrams-large"); }

std::vector<AgreementRule> rules(double margin, std::int64_t tokens) {
  std::vector<AgreementRule> all;
  for (const std::string& name : kNames) {
    const double relative = name == "d_V" ? std::max(value_noise_order(tokens), margin) : margin;
    all.push_back({.series = name, .relative = relative});
  }
  return all;
}

std::vector<AgreementRule> recursion_agreement(const Configuration& c) {
  constexpr double kMargin = 0.05;
  return rules(kMargin, c.integer("model.tokens"));
}
std::vector<AgreementRule> large_agreement(const Configuration& c) {
  constexpr double kMargin = 0.03;
  return rules(kMargin, c.integer("model.tokens"));
}

}  // namespace

Study bigrams_recursion() {
  return {.name = "bigrams-recursion",
          .question =
              "How do gradient noise and signal share the training of a linear "
              "transformer on sparse contextual bigrams?",
          .neglects =
              "covariance of V's noise beyond leading order (1/(N-1) of d_V), "
              "correlations of A's noise: 5 % and 1 % of a curve's largest value, but at most 15 % "
              "of the value",
          .parameters = bigram_parameters(
              {.context = 300,
               .steps = {50, 100, 150, 200, 250, 300, 350, 400, 500, 600, 700, 800, 1000},
               .replicates = 1200,
               .algorithms = {"sgd_hat", "sgd_raw", "sgd_projected"},
               .starts = {"stationary", "uniform"}}),
          .series = bigram_series(kNames),
          .presets = {{"quick", "the defaults: N = 3, T = 300, Q = 2, B = 64", {}},
                      {"paper",
                       "N = 5, T = 2000, B = 256, 400 runs",
                       {{"model.tokens", 5},
                        {"model.context", 2000},
                        {"sim.batch", 256},
                        {"sim.replicates", 400}}}},
          .sources = {bigram_source("SGD experiments, projected gradients")},
          .make = make,
          .figure = recursion_figure,
          .agreement = recursion_agreement};
}

Study bigrams_large() {
  return {
      .name = "bigrams-large",
      .question = "Does the mean field hold for large vocabularies and contexts?",
      .neglects =
          "covariance of V's noise beyond leading order; real sequences, unless "
          "sim.surrogate = \"none\"",
      .parameters = bigram_parameters({.tokens = 50,
                                       .context = 1000,
                                       .eta = 0.05,
                                       .batch = 512,
                                       .steps = {50, 100, 150, 200, 250, 300, 350, 400, 500, 600},
                                       .surrogate = "dense",
                                       .replicates = 80,
                                       .starts = {"stationary", "uniform"}}),
      .series = bigram_series(kNames),
      .presets = {{"quick", "the defaults: N = 50, T = 1000, Q = 2, B = 512", {}},
                  {"paper",
                   "N = 500, T = 100000, B = 4096, 30 runs of many minutes each",
                   {{"model.tokens", 500},
                    {"model.context", 100000},
                    {"sim.batch", 4096},
                    {"sim.replicates", 30}}}},
      .sources = {bigram_source("surrogate idea: population gradient plus Gaussian noise")},
      .make = make,
      .figure = large_figure,
      .agreement = large_agreement};
}

}  // namespace attica
