/// @file
/// @brief Study icl-training: linear attention trained in context by gradient descent on its two
/// layers ends at the solution of ridge regression.

#include <fmt/format.h>

#include <algorithm>

#include "attica/core/icl/regression.hpp"
#include "attica/sim/icl/ridge.hpp"
#include "attica/studies/icl/ridge_sweep.hpp"

namespace attica::icl_training {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

class Training : public PointwiseExperiment {
 public:
  explicit Training(const Configuration& c)
      : configuration_(c),
        level_(context_level(c)),
        asked_({.alpha = c.real("model.alpha"),
                .kappa = c.real("model.kappa"),
                .tau = c.real("model.tau"),
                .rho = c.real("model.rho"),
                .lambda = c.real("model.lambda")}),
        sizes_(ContextSizes::nearest(c.integer("model.dimension"), asked_)),
        descent_({.eta = c.real("sim.eta"),
                  .lambda = asked_.lambda,
                  .batch = c.text("sim.optimiser") == "gd" ? Index{0} : c.integer("sim.batch"),
                  .steps = recorded_steps(c)}),
        pool_([this] {
          require_pool(sizes_, "model.kappa", asked_.kappa);
          RandomStream stream({.seed = configuration_.integer<std::uint64_t>("model.pool_seed"),
                               .id = StreamId::model});
          return sphere_pool(sizes_.tasks, sizes_.dimension, stream);
        }) {
    rounded_ = rounded_ratios(c, sizes_.dimension);
    if (asked_.lambda == 0 && sizes_.samples < sizes_.dimension * (sizes_.dimension + 1)) {
      throw invalid_parameter(
          "model.lambda", 0.0, "lambda > 0 where n < d (d + 1): the minimum is not unique");
    }
  }

  TheoryResult theory(TheoryGrid grid) const override {
    const bool limit = level_ == ContextLevel::limit;
    const ContextRatios r =
        limit && grid == TheoryGrid::requested ? asked_ : sizes_.realised(asked_);
    const ContextErrors e =
        limit ? context_limit(r)
              : given_pool(
                    level_,
                    pool_.get(),
                    sizes_.pool_sizes(r.rho, r.lambda),
                    {fresh_moments(sizes_.dimension,
                                   {.length = static_cast<double>(sizes_.context), .rho = r.rho})})
                    .front();
    TheoryResult result;
    PredictedValue end = with_allowance(e.icl, level_, r, e.one_minus_gamma, sizes_.dimension);
    end.compared = end.compared && settled();
    add_constant(result, "icl_end", end);
    add_constant(result, "end_ratio", PredictedValue{1, 0, settled()});
    if (!settled()) {
      result.warnings.push_back(fmt::format(
          "minibatches have not settled by step {}: batch * lambda * eta * steps / 2 is "
          "{:.3g}, below {:g}; the end is not compared",
          descent_.steps.back(),
          decays(),
          kSettled));
    }
    add_constant(result, "bayes", context_bayes(r.alpha, r.rho));
    if (has_first_step()) {
      add_constant(result, "first_step", first_step_of_pool());
    }
    return result;
  }

  void require_simulable() const override {
    PointwiseExperiment::require_simulable();
    sizes_.require_memory(configuration_);
  }

 protected:
  double flops(std::size_t) const override {
    const auto d = static_cast<double>(sizes_.dimension);
    const double features = d * (d + 1);
    const double step = descent_.batch == 0 ? 2 * features * features
                                            : 4 * features * static_cast<double>(descent_.batch);
    return ContextRidge::flops(d, static_cast<double>(sizes_.samples), 1) +
           step * static_cast<double>(descent_.steps.back());
  }

  Outcome run(const Replicate& replicate) const override {
    const ContextNoise noise{.length = static_cast<double>(sizes_.context), .rho = asked_.rho};
    MatrixXd pool;
    if (configuration_.text("model.pool") == "fresh") {
      RandomStream own = replicate.stream(StreamId::model);
      pool = sphere_pool(sizes_.tasks, sizes_.dimension, own);
    } else {
      pool = pool_.get();
    }
    RandomStream data = replicate.stream();
    const ContextSequences sequences = draw_sequences(pool, noise, sizes_.samples, data);
    const MatrixXd ridge = ContextRidge(sequences).fit(asked_.lambda);
    const ContextMoments fresh = fresh_moments(sizes_.dimension, noise);
    RandomStream training = replicate.stream(StreamId::minibatch);
    Outcome outcome;
    Curves curves({}, "step", {"icl", "distance"});
    double last = 0;
    const std::int64_t diverged =
        descend(sequences, descent_, training, [&](std::int64_t step, const MatrixXd& gamma) {
          last = population_error(gamma, fresh);
          curves.add(static_cast<double>(step), {last, (gamma - ridge).norm() / ridge.norm()});
          return !replicate.stopped();
        });
    curves.into(outcome);
    if (diverged > 0) {
      outcome.status = "diverged";
      outcome.failed = true;
      outcome.message =
          fmt::format("weights left the finite numbers by step {}; lower sim.eta", diverged);
      return outcome;
    }
    add_constant(outcome, "icl_end", last);
    const double end = population_error(ridge, fresh);
    add_constant(outcome, "icl_ridge", end);
    add_constant(outcome, "end_ratio", last / end);
    if (has_first_step()) {
      add_constant(outcome, "first_step", first_step(sequences, training));
    }
    return outcome;
  }

 private:
  ContextMoments moments_of_pool() const {
    return pool_moments(pool_.get(),
                        {.length = static_cast<double>(sizes_.context), .rho = asked_.rho});
  }

  /// Its mean is known where every task has a sequence; a minibatch has too few to resolve it.
  bool has_first_step() const {
    return descent_.batch == 0 && configuration_.text("model.pool") == "fixed" &&
           sizes_.tasks <= sizes_.samples;
  }

  /// Where the step starts that is compared by itself: M along the features' correlations with the
  /// label, at which both layers learn at comparable rates.
  ContextLayers before_first_step() const { return {.v = 0.5, .m = moments_of_pool().cross}; }

  /// <M, Γ(1) - Γ(0)>/eta of one step of vanishing rate on equally many sequences of every task.
  double first_step(const ContextSequences& sequences, RandomStream& stream) const {
    constexpr double kRate = 1e-6;
    const Index equally = sizes_.samples / sizes_.tasks * sizes_.tasks;
    const ContextSequences once{.features = sequences.features.leftCols(equally),
                                .queries = {},
                                .contexts = {},
                                .labels = sequences.labels.head(equally)};
    ContextDescent step = descent_;
    step.eta = kRate;
    step.steps = {1};
    step.start = before_first_step();
    const MatrixXd& m = step.start->m;
    double along = 0;
    descend(once, step, stream, [&](std::int64_t, const MatrixXd& gamma) {
      along = m.cwiseProduct(gamma - step.start->v * m).sum() / kRate;
      return true;
    });
    return along;
  }

  /// Its mean over sequences: with G the gradient by Γ of (d/2) E_IDG + (lambda/2)|Γ|², M moves by
  /// -v G and v by -<M, G>/d.
  double first_step_of_pool() const {
    const ContextLayers start = before_first_step();
    const ContextMoments moments = moments_of_pool();
    const double square = start.m.squaredNorm();
    const double gradient = start.v * ((start.m * moments.second).cwiseProduct(start.m).sum() +
                                       descent_.lambda * square) -
                            start.m.cwiseProduct(moments.cross).sum();
    return -gradient * (start.v * start.v + square / static_cast<double>(sizes_.dimension));
  }

  /// What minibatches leave of the end is in proportion to 1/B, and to 1 over the times that the
  /// penalty alone lets weights decay by e.
  double decays() const {
    return static_cast<double>(descent_.batch) * descent_.lambda * descent_.eta *
           static_cast<double>(descent_.steps.back()) / 2;
  }
  bool settled() const { return descent_.batch == 0 || decays() >= kSettled; }

  /// Measured: 5.4 % off at 64, 2.0 % at 160, 0.6 to 0.9 % at 640, 0.07 % at 6400.
  static constexpr double kSettled = 900;

  Configuration configuration_;
  ContextLevel level_;
  ContextRatios asked_;
  ContextSizes sizes_;
  ContextDescent descent_;
  Lazy<MatrixXd> pool_;
};

/// Share of the error at this penalty that the best of larger ones saves, in the limit of large
/// dimension: stopping early is a larger penalty.
double gain_of_larger_penalty(const Configuration& c) {
  ContextRatios r{.alpha = c.real("model.alpha"),
                  .kappa = c.real("model.kappa"),
                  .tau = c.real("model.tau"),
                  .rho = c.real("model.rho"),
                  .lambda = c.real("model.lambda")};
  constexpr double kLeast = 1e-6;
  constexpr double kMost = 1e3;
  constexpr double kFactor = 1.5;
  const double here = context_limit(r).icl;
  double least = here;
  for (r.lambda = std::max(r.lambda, kLeast) * kFactor; r.lambda < kMost; r.lambda *= kFactor)
    least = std::min(least, context_limit(r).icl);
  return 1 - least / here;
}

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  constexpr double kBelow = 0.01;
  constexpr double kGain = 0.03;
  const std::string statement = "on the way the ICL error is more than 1 % below its end";
  if (c.text("sim.optimiser") != "gd" || !(gain_of_larger_penalty(c) >= kGain)) return {};
  const auto lower = [](const std::vector<double>& path) {
    return std::ranges::min(path) < (1 - kBelow) * path.back();
  };
  return {claim_rate(
      "early_stopping", statement, by_replicate(observed.paths("icl")).where(lower), "")};
}

}  // namespace

Study study() {
  return described({.name = "icl-training", .make = make<Training>, .claims = claims});
}

}  // namespace attica::icl_training
