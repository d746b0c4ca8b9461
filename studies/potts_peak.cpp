/// @file
/// @brief Study potts-peak: does the excess cross-entropy of masked modelling peak where the data
/// stop being fitted perfectly, as the square loss does?

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/core/lazy.hpp"
#include "attica/core/potts_coding.hpp"
#include "attica/sim/pseudo_likelihood.hpp"
#include "attica/solvers/replicates.hpp"
#include "attica/studies/potts_setup.hpp"
#include "attica/studies/potts_studies.hpp"
#include "attica/theory/block_ridge.hpp"
#include "attica/theory/factored_flow.hpp"

namespace attica {
namespace {

using Eigen::Index;

Point of_lambda(double lambda) { return {{"lambda", lambda}}; }

/// The model, sequences to train and to test on.
struct Truth {
  Truth(const PottsModel& of,
        const GibbsPoolOptions& options,
        Index test_sequences,
        std::uint64_t seed)
      : model(of),
        data(model, options, {.seed = seed}),
        excess(model, test_sample(data, test_sequences, seed)) {}

  static WeightedSequences test_sample(const PottsData& data, Index count, std::uint64_t seed) {
    RandomStream stream({.seed = seed, .id = StreamId::test_data});
    return equally_weighted(data.draw(count, stream));
  }

  PottsModel model;
  PottsData data;
  ExcessLoss excess;
};

class Peak : public Experiment {
 public:
  Peak(const PottsFamily& family, const Configuration& c)
      : truth_([family,
                options = GibbsPoolOptions::from(c),
                test_sequences = static_cast<Index>(c.integer("sim.test_sequences")),
                seed = static_cast<std::uint64_t>(c.integer("sim.seed"))] {
          return Truth(family.model(0), options, test_sequences, seed);
        }),
        sites_(family.sites()),
        colours_(family.colours()),
        lambdas_(c.reals("sweep.lambda")) {
    for (const double alpha : c.reals("sweep.alpha")) {
      constexpr double kMostSamples = 1e7;
      const double samples = alpha * static_cast<double>(sites_);
      if (samples < 1 || samples > kMostSamples) {
        throw invalid_parameter("sweep.alpha", alpha, "between 1 and 1e7 samples alpha L");
      }
      sizes_.push_back(std::llround(samples));
    }
    std::sort(sizes_.begin(), sizes_.end());
    sizes_.erase(std::unique(sizes_.begin(), sizes_.end()), sizes_.end());
  }

  TheoryResult theory(TheoryGrid grid) const override {
    const Truth& truth = truth_.get();
    const double trace = general_tail(sites_, colours_).trace;
    const BlockRidge square(coded_moments(truth.data.population(), colours_).covariance,
                            colours_ - 1);
    std::vector<double> samples(sizes_.begin(), sizes_.end());
    if (grid == TheoryGrid::run) {
      constexpr int kLinePoints = 100;
      const double ratio = samples.back() / samples.front();
      for (int k = 1; k < kLinePoints; ++k) {
        samples.push_back(samples.front() * std::pow(ratio, static_cast<double>(k) / kLinePoints));
      }
      std::sort(samples.begin(), samples.end());
    }
    TheoryResult result;
    Series tail{"tail", {}, "alpha", {}, {}};
    for (const double m : samples) {
      tail.x.push_back(m / static_cast<double>(sites_));
      tail.y.push_back(trace / (2 * m));
    }
    result.predictions.push_back({.series = std::move(tail)});
    for (const double lambda : lambdas_) {
      Series error{"square_error", of_lambda(lambda), "alpha", {}, {}};
      error.x = result.predictions.front().series.x;
      for (const double m : samples) error.y.push_back(square.average(m, lambda).test_error);
      result.predictions.push_back({.series = std::move(error)});
    }
    result.diagnostics = {{"bayes_loss", truth.excess.bayes_loss()},
                          {"parameters_per_site", trace}};
    return result;
  }

  std::size_t points() const override { return sizes_.size(); }
  std::uint64_t replicates_per_piece(std::size_t /*point*/) const override { return 1; }

  std::vector<Outcome> simulate(const Piece& piece) const override {
    const Truth& truth = truth_.get();
    const Index size = sizes_[piece.point];
    return each_replicate(piece, [&](std::uint64_t replicate) {
      RandomStream stream(piece.stream(replicate));
      const WeightedSequences data = distinct(truth.data.draw(size, stream));
      Outcome outcome;
      for (const double lambda : lambdas_) {
        // Biases are penalised as well: with few samples a site may never show a colour.
        const PseudoLikelihoodFit fit =
            fit_pseudo_likelihood(data, colours_, lambda, {.gradient_tolerance = 1e-6}, lambda);
        if (!fit.converged) {
          outcome.status = "not converged";
          continue;
        }
        const double excess = truth.excess([&](Index row, Eigen::MatrixXd& logits) {
          fit.logits(truth.excess.population().sequences.row(row).data(), logits);
        });
        outcome.series.push_back(
            {"excess_loss", of_lambda(lambda), "alpha", {alpha_of(size)}, {excess}});
      }
      return outcome;
    });
  }

 private:
  double alpha_of(Index size) const {
    return static_cast<double>(size) / static_cast<double>(sites_);
  }

  Lazy<Truth> truth_;
  Index sites_;
  Index colours_;
  std::vector<double> lambdas_;
  std::vector<Index> sizes_;
};

std::unique_ptr<Experiment> make(Configuration& c) {
  return std::make_unique<Peak>(PottsFamily::from(c), c);
}

Figure figure(const Configuration& /*c*/) {
  const Axis alpha{.label = "{/:Italic α} = {/:Italic M} / {/:Italic L}", .scale = AxisScale::log};
  const std::string label = "{/:Italic λ} = {lambda}";
  Panel excess{
      .x = alpha,
      .y = {.label = "excess loss (nats)", .scale = AxisScale::log},
      .layers = {{.series = "excess_loss", .label = label, .theory = false},
                 {.series = "tail", .label = "{/:Italic d} / 2{/:Italic M}", .reference = true}},
      .x_name = "alpha"};
  Panel square{.x = alpha,
               .y = {.label = "square loss {/:Italic E}_{test}", .scale = AxisScale::log},
               .layers = {{.series = "square_error", .label = label, .simulation = false}},
               .x_name = "alpha"};
  return {.name = "potts-peak",
          .panels = {excess, square},
          .columns = 1,
          .caption =
              "Above: excess cross-entropy of penalised pseudo-likelihood against the number of "
              "sequences, mean and standard error over data sets; dashed: its tail without "
              "penalty. Below: theory of the square loss on the same data."};
}

std::vector<AgreementRule> agreement(const Configuration& /*c*/) { return {}; }

/// The simulated curve of a penalty, or nullptr.
const ObservedCurve* curve_of(const Observed& observed, double lambda) {
  for (const ObservedCurve& curve : observed.simulation) {
    if (curve.mean.name == "excess_loss" && curve.mean.point == of_lambda(lambda)) return &curve;
  }
  return nullptr;
}

/// The theory's square loss at a penalty, or nullptr.
const Series* square_of(const Observed& observed, double lambda) {
  for (const Prediction& p : observed.theory) {
    if (p.series.name == "square_error" && p.series.point == of_lambda(lambda)) return &p.series;
  }
  return nullptr;
}

std::size_t highest(const std::vector<double>& y) {
  return static_cast<std::size_t>(std::max_element(y.begin(), y.end()) - y.begin());
}

/// Standard errors by which the mean at one x exceeds that at another; data sets are independent.
double excess_in_errors(const ObservedCurve& curve, std::size_t a, std::size_t b) {
  const SampleSummary above = summarise(curve.values[a]);
  const SampleSummary below = summarise(curve.values[b]);
  return (above.mean - below.mean) / std::hypot(above.sem, below.sem);
}

constexpr double kErrors = 3;  // standard errors that a difference has to have
constexpr double kTailMargin = 0.15;
constexpr double kSamplesPerParameter = 25;  // from which on the tail is claimed

Verdict verdict_of(bool holds) { return holds ? Verdict::agree : Verdict::disagree; }

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  const std::vector<double> lambdas = c.reals("sweep.lambda");
  const double least = *std::min_element(lambdas.begin(), lambdas.end());
  const double most = *std::max_element(lambdas.begin(), lambdas.end());
  const ObservedCurve* weak = curve_of(observed, least);
  const ObservedCurve* strong = curve_of(observed, most);
  const Series* square = square_of(observed, least);
  if (weak == nullptr || strong == nullptr || square == nullptr || weak->mean.x.size() < 3) {
    return {};
  }
  const std::vector<double>& x = weak->mean.x;
  const std::size_t last = x.size() - 1;
  const std::size_t peak = highest(weak->mean.y);
  const bool inside = peak > 0 && peak < last && excess_in_errors(*weak, peak, 0) > kErrors &&
                      excess_in_errors(*weak, peak, last) > kErrors;
  std::vector<ClaimResult> results{
      {.name = "weak-penalty-peaks",
       .statement =
           fmt::format("at lambda = {} the excess loss is highest inside the sweep", least),
       .verdict = verdict_of(inside),
       .detail = fmt::format("{:.3g} at alpha = {}, {:.3g} at {} and {:.3g} at {}",
                             weak->mean.y[peak],
                             x[peak],
                             weak->mean.y[0],
                             x[0],
                             weak->mean.y[last],
                             x[last])}};
  const double square_peak = square->x[highest(square->y)];
  results.push_back(
      {.name = "later-than-the-square-loss",
       .statement = fmt::format("the peak is at more samples than that of the square loss, "
                                "alpha = {:.3g}",
                                square_peak),
       .verdict = verdict_of(x[peak] > square_peak),
       .detail = fmt::format("at alpha = {}", x[peak])});
  double rise = 0;
  for (std::size_t k = 0; k + 1 < strong->mean.x.size(); ++k) {
    rise = std::max(rise, excess_in_errors(*strong, k + 1, k));
  }
  results.push_back({.name = "strong-penalty-does-not-peak",
                     .statement = fmt::format("at lambda = {} the excess loss only falls", most),
                     .verdict = verdict_of(rise < kErrors),
                     .detail = fmt::format("largest rise {:.2g} standard errors", rise)});
  // The tail is the leading order in parameters per sample: not claimed where these are not few.
  const double samples = x[last] * static_cast<double>(c.integer("model.sites"));
  const double trace = general_tail(c.integer("model.sites"), c.integer("model.colours")).trace;
  if (samples < kSamplesPerParameter * trace) return results;
  const double tail = trace / (2 * samples);
  const SampleSummary end = summarise(weak->values[last]);
  results.push_back(
      {.name = "tail",
       .statement = fmt::format("at alpha = {} and lambda = {} the excess loss is d/2M within {} % "
                                "and 3 standard errors",
                                x[last],
                                least,
                                100 * kTailMargin),
       .verdict = verdict_of(std::abs(end.mean - tail) < kTailMargin * tail + kErrors * end.sem),
       .detail = fmt::format("{:.4g} +- {:.2g}, d/2M = {:.4g}", end.mean, end.sem, tail)});
  return results;
}

std::vector<Parameter> parameters() {
  std::vector<Parameter> all = potts_model_parameters({.sites = 10,
                                                       .colours = 3,
                                                       .beta = 1.0,
                                                       .couplings = "gauss",
                                                       .colour_couplings = "gauss",
                                                       .zero_sum = true});
  const std::vector<Parameter> own = {
      reals_parameter("sweep.alpha",
                      {0.4, 0.8, 1.2, 1.8, 2.5, 3.5, 5.0, 8.0, 15.0, 40.0, 120.0},
                      "training sequences per site, alpha = M / L",
                      kPositive),
      reals_parameter("sweep.lambda",
                      {1e-4, 1e-2, 1e-1},
                      "penalty (lambda/2) (|W|^2 + |b|^2) of every site's mean loss",
                      kPositive),
      integer_parameter("sim.test_sequences",
                        2000,
                        "sequences on which the divergence is averaged, over all their sites",
                        {.low = 1, .high = 1e7}),
      replicates_parameter(12, "independent data sets at every alpha"),
  };
  all.insert(all.end(), own.begin(), own.end());
  for (Parameter& p : gibbs_pool_parameters()) all.push_back(std::move(p));
  return all;
}

}  // namespace

Study potts_peak() {
  return {
      .name = "potts-peak",
      .question =
          "Does masked modelling with cross-entropy get worse with more sequences before it gets "
          "better?",
      .neglects = "there is no theory of the peak itself; the claims are about shapes",
      .parameters = parameters(),
      .series =
          {{"excess_loss",
            "ε - ε_opt",
            "divergence of the learnt conditionals from the true ones, nats per masked site"},
           {"tail", "d/2M", "its leading order for many sequences, without penalty (theory)"},
           {"square_error",
            "E_test",
            "test error of ridge regression of the coded sites at the same penalty (theory)"}},
      .presets = {{"quick", "the defaults: L = 10, C = 3", {}},
                  {"paper",
                   "L = 20, C = 10",
                   {{"model.sites", 20},
                    {"model.colours", 10},
                    {"sim.burn_in", 500},
                    {"sim.replicates", 20}}}},
      .sources = {potts_source("learning curves of masked modelling with cross-entropy")},
      .make = make,
      .figure = figure,
      .agreement = agreement,
      .claims = claims,
  };
}

}  // namespace attica
