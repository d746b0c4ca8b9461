/// @file
/// @brief Study potts-peak: does the excess cross-entropy of masked modelling peak where the data
/// stop being fitted perfectly, as the square loss does?

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "attica/core/potts/coding.hpp"
#include "attica/core/potts/conditional_entropy.hpp"
#include "attica/sim/potts/block_ridge.hpp"
#include "attica/sim/potts/pseudo_likelihood.hpp"
#include "attica/solvers/statistics/agreement.hpp"
#include "attica/solvers/statistics/replicates.hpp"
#include "attica/studies/potts/model.hpp"
#include "attica/studies/sample_ratios.hpp"
#include "attica/theory/potts/block_ridge.hpp"
#include "attica/theory/potts/factored_flow.hpp"

namespace attica::potts_peak {
namespace {

using Eigen::Index;

Point of_lambda(double lambda) { return {{"lambda", lambda}}; }

class Peak : public PointwiseExperiment {
 public:
  explicit Peak(Configuration& c)
      : family_(c),
        drawn_([family = family_] { return family.realise(0); }),
        data_([this, options = gibbs_pool_options(c)] {
          return PottsData(drawn_.get().model, options, {.seed = family_.seed()});
        }),
        moments_([this] { return coded_moments(data_.get().population(), family_.colours()); }),
        excess_([this, tested = c.integer<Index>("sim.test_sequences")] {
          RandomStream stream({.seed = family_.seed(), .id = StreamId::test_data});
          const PottsData& data = data_.get();
          return ExcessLoss(data.model(), equally_weighted(data.draw(tested, stream)));
        }),
        sizes_(swept_sizes(c, static_cast<double>(family_.sites()))),
        lambdas_(c.reals("sweep.lambda")) {
    warnings_ = rounded_ratios(c, sizes_);
  }

  void require_simulable() const override { require_distinct_samples(sizes_); }

  TheoryResult theory(TheoryGrid grid) const override {
    const PottsData& data = data_.get();
    const double trace = general_tail(family_.sites(), family_.colours()).trace;
    const auto inputs = static_cast<double>((family_.sites() - 1) * (family_.colours() - 1));
    const BlockRidge square = family_.square_loss(moments_.get().covariance);
    std::vector<double> sizes;
    for (const double alpha : sizes_.alphas(grid)) sizes.push_back(sizes_.samples(alpha));
    sizes = line_through(sizes, 100, AxisScale::log, grid);
    TheoryResult result;
    const auto add = [&](const std::string& name, const Point& point, const auto& value) {
      Curves curve(point, "alpha", {name});
      for (const double m : sizes) {
        curve.add(m / static_cast<double>(family_.sites()), std::vector<PredictedValue>{value(m)});
      }
      curve.into(result);
    };
    add("tail", {}, [&](double m) { return PredictedValue(trace / (2 * m)); });
    add("penalty_balance", {}, [](double) { return PredictedValue(1); });
    for (const double lambda : lambdas_) {
      add("square_error", of_lambda(lambda), [&](double m) {
        const BlockRidgePoint p = square.average(m, lambda, RidgeOrder::first);
        // Near M = N a weak penalty leaves the mean to rare data sets, of nearly equal sequences.
        constexpr double kWeak = 1e-3;
        constexpr double kNear = 2.5;
        constexpr double kSmall = 0.1;
        const bool rare = lambda < kWeak && m < kNear * inputs && m * kNear > inputs;
        const bool tells = !rare && p.finite_size_test <= kSmall * p.test_error;
        // Twice what was measured, docs/potts.md.
        const double not_gaussian = 0.5 * p.test_error / (m * p.one_minus_gamma);
        return PredictedValue{p.test_error, p.finite_size_test + not_gaussian, tells};
      });
    }
    const WeightedSequences& population = data.population();
    // All states, and no pool of as many sequences, which have equal weights.
    const bool enumerated =
        static_cast<double>(population.weights.size()) == potts_states(data.model()) &&
        population.weights.minCoeff() < population.weights.maxCoeff();
    result.diagnostics = {{"bayes_loss",
                           enumerated ? mean_conditional_entropy(population, family_.colours())
                                      : bayes_loss(data.model(), population)},
                          {"parameters_per_site", trace}};
    tell_rejected(drawn_.get().rejected_draws, result);
    return result;
  }

  std::size_t points() const override { return sizes_.count(); }

 protected:
  Outcome run(const Replicate& replicate) const override {
    const ExcessLoss& excess = excess_.get();
    RandomStream stream = replicate.stream();
    const Index samples = sizes_[replicate.point()];
    const Sequences drawn = data_.get().draw(samples, stream);
    const WeightedSequences data = distinct(drawn);
    // Ridge regression takes no time: more sets.
    std::vector<double> squares(lambdas_.size());
    for (std::size_t set = 0; set < kSets; ++set) {
      const Eigen::MatrixXd z = codes(set == 0 ? drawn : data_.get().draw(samples, stream));
      const std::vector<BlockRidgeErrors> errors =
          block_ridge_errors(z, moments_.get().covariance, family_.colours() - 1, lambdas_);
      for (std::size_t k = 0; k < errors.size(); ++k) squares[k] += errors[k].test;
    }
    Outcome outcome;
    const auto record = [&](const char* name, const Point& point, double value) {
      Curves(point, "alpha", {name}).add(sizes_.alpha(replicate.point()), {value}).into(outcome);
    };
    for (std::size_t k = 0; k < lambdas_.size(); ++k) {
      const double lambda = lambdas_[k];
      record("square_error", of_lambda(lambda), squares[k] / static_cast<double>(kSets));
      // Biases are penalised as well: with few samples a site may never show a colour.
      const PseudoLikelihoodFit fit = fit_pseudo_likelihood(
          data, family_.colours(), lambda, {.gradient_tolerance = 1e-6}, lambda);
      const bool strongest = lambda == std::ranges::max(lambdas_);
      if (!fit.converged) {
        outcome.status = "not converged";
        if (strongest) record("penalty_balance", {}, kNoValue);
        record("excess_loss", of_lambda(lambda), kNoValue);
        continue;
      }
      if (strongest) {
        const double gain =
            lambda * fit.parameters.squaredNorm() / static_cast<double>(family_.sites());
        const auto loss_at = [&](double length) {
          PseudoLikelihoodFit scaled = fit;
          scaled.parameters *= length;
          return pseudo_likelihood_loss(scaled, data);
        };
        if (const auto balance = penalty_balance(loss_at, gain))
          record("penalty_balance", {}, *balance);
      }
      record("excess_loss", of_lambda(lambda), excess([&](Index row, Eigen::MatrixXd& logits) {
               fit.logits(excess.population().sequences.row(row).data(), logits);
             }));
    }
    return outcome;
  }

 private:
  static constexpr std::size_t kSets = 24;

  /// Centred with the population's mean.
  Eigen::MatrixXd codes(const Sequences& sequences) const {
    Eigen::MatrixXd z = coded(sequences, family_.colours());
    z.rowwise() -= moments_.get().mean.transpose();
    return z;
  }

  PottsFamily family_;
  Lazy<PottsFamily::Realisation> drawn_;
  Lazy<PottsData> data_;
  Lazy<CodedMoments> moments_;
  Lazy<ExcessLoss> excess_;
  SampleSizes sizes_;
  std::vector<double> lambdas_;
};

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

/// Penalties up to which the peak is claimed, and from which on that there is none.
constexpr double kWeak = 1e-3;
constexpr double kStrong = 0.1;
constexpr double kTailMargin = 0.15;
constexpr double kSamplesPerParameter = 25;  // from which on the tail is claimed

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  const std::vector<double> lambdas = c.reals("sweep.lambda");
  const double least = *std::min_element(lambdas.begin(), lambdas.end());
  const double most = *std::max_element(lambdas.begin(), lambdas.end());
  const ObservedCurve* weak = observed.curve("excess_loss", of_lambda(least));
  const ObservedCurve* strong = observed.curve("excess_loss", of_lambda(most));
  const Series* square = square_of(observed, least);
  if (weak == nullptr || strong == nullptr || square == nullptr || weak->mean.x.size() < 3) {
    return {};
  }
  const std::vector<double>& x = weak->mean.x;
  const std::size_t last = x.size() - 1;
  const std::size_t peak = highest(weak->mean.y);
  const std::span<const std::vector<double>> runs = weak->values;
  const std::string found = fmt::format("{:.3g} at alpha = {}, {:.3g} at {} and {:.3g} at {}",
                                        weak->mean.y[peak],
                                        x[peak],
                                        weak->mean.y[0],
                                        x[0],
                                        weak->mean.y[last],
                                        x[last]);
  std::vector<ClaimResult> results;
  if (least <= kWeak) {
    results.push_back(claim_tested(
        "weak-penalty-peaks",
        fmt::format("at lambda = {} the excess loss is highest inside the sweep", least),
        some_above_all(runs.subspan(1, last - 1), std::array{runs.front(), runs.back()}),
        found));
    const double square_peak = square->x[highest(square->y)];
    const auto later =
        static_cast<std::size_t>(std::ranges::upper_bound(x, square_peak) - x.begin());
    results.push_back(claim_tested(
        "later-than-the-square-loss",
        fmt::format("the peak is at more samples than that of the square loss, alpha = {:.3g}",
                    square_peak),
        some_above_all(runs.subspan(later), runs.first(later)),
        fmt::format("at alpha = {}", x[peak])));
  }
  if (most >= kStrong) {
    // Every step of the curve goes down: all have to be shown, one rise refutes it.
    std::vector<ClaimTest> steps;
    for (std::size_t k = 0; k + 1 < strong->values.size(); ++k) {
      steps.push_back(some_above_all(std::span(strong->values).subspan(k, 1),
                                     std::span(strong->values).subspan(k + 1, 1)));
    }
    results.push_back(claim_tested(
        "strong-penalty-does-not-peak",
        fmt::format("at lambda = {} the excess loss only falls", most),
        all_of(steps),
        fmt::format("from {:.3g} to {:.3g}", strong->mean.y.front(), strong->mean.y.back())));
  }
  // The tail is the leading order in parameters per sample: not claimed where these are not few.
  const double samples = x[last] * static_cast<double>(c.integer("model.sites"));
  const double trace = general_tail(c.integer("model.sites"), c.integer("model.colours")).trace;
  if (least > kWeak || samples < kSamplesPerParameter * trace) return results;
  const double tail = trace / (2 * samples);
  const ComparedPoint point{
      .theory = tail, .replicates = weak->values[last], .margin = {.relative = kTailMargin}};
  const PointVerdict end = judge(std::span(&point, 1)).points.front();
  results.push_back(claim_tested(
      "tail",
      fmt::format("at alpha = {} and lambda = {} the excess loss is d/2M within {} %",
                  x[last],
                  least,
                  100 * kTailMargin),
      {.estimate = end.sample.mean,
       .interval = end.interval,
       .p_agree = end.p_agree,
       .p_disagree = end.p_disagree,
       .needed = end.replicates_needed},
      fmt::format("{:.4g} +- {:.2g}, d/2M = {:.4g}", end.sample.mean, end.sample.sem, tail)));
  return results;
}

}  // namespace

Study study() { return described({.name = "potts-peak", .make = make<Peak>, .claims = claims}); }

}  // namespace attica::potts_peak
