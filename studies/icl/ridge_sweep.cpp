#include "attica/studies/icl/ridge_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "attica/core/icl/regression.hpp"
#include "attica/core/parallel.hpp"
#include "attica/sim/icl/ridge.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;

namespace {

const Choices<ContextLevel>& levels() {
  static const Choices<ContextLevel> all = {{"pool", ContextLevel::pool},
                                            {"gaussian", ContextLevel::gaussian},
                                            {"limit", ContextLevel::limit}};
  return all;
}

}  // namespace

ContextSweep::ContextSweep(Configuration& c, ContextAxis axis)
    : axis_(axis),
      configuration_(c),
      dimension_(c.integer("model.dimension")),
      level_(context_level(c)),
      fresh_pool_(c.text("model.pool") == "fresh"),
      pool_([this] {
        RandomStream stream({.seed = configuration_.integer<std::uint64_t>("model.pool_seed"),
                             .id = StreamId::model});
        return sphere_pool(most_tasks_, dimension_, stream);
      }) {
  const auto scalar = [&](const char* key, double other) {
    return c.declares(key) ? c.real(key) : other;
  };
  base_ = {.alpha = scalar("model.alpha", 1),
           .kappa = scalar("model.kappa", 1),
           .tau = scalar("model.tau", 1),
           .rho = c.real("model.rho"),
           .lambda = 0};
  const char* x_key = axis == ContextAxis::tau     ? "sweep.tau"
                      : axis == ContextAxis::kappa ? "sweep.kappa"
                                                   : "sweep.alpha";
  xs_ = ascending(c.reals(x_key));
  outers_ = axis == ContextAxis::alpha ? ascending(c.reals("sweep.kappa"))
                                       : std::vector<double>{base_.kappa};
  lambdas_ = axis == ContextAxis::tau ? ascending(c.reals("sweep.lambda"))
                                      : std::vector<double>{c.real("model.lambda")};
  for (const double outer : outers_) {
    for (const double x : xs_) {
      const ContextRatios asked = at(x, outer);
      if (level_ != ContextLevel::limit) {
        const auto d = static_cast<double>(dimension_);
        require(asked.tau * d >= 1,
                axis == ContextAxis::tau ? "sweep.tau" : "model.tau",
                asked.tau,
                fmt::format("tau >= 1/d = {:.3g}: at least d sequences", 1 / d));
      }
      const ContextSizes sizes = ContextSizes::nearest(dimension_, asked);
      const Case next{sizes.realised(asked), sizes, point(outer, 0)};
      const bool known = std::any_of(cases_.begin(), cases_.end(), [&](const Case& other) {
        return x_of(other.ratios) == x_of(next.ratios) && other.point == next.point;
      });
      if (!known) cases_.push_back(next);
      most_tasks_ = std::max(most_tasks_, sizes.tasks);
    }
  }
  if (level_ != ContextLevel::limit) {
    require_pool({.dimension = dimension_, .tasks = most_tasks_},
                 axis == ContextAxis::tau ? "model.kappa" : "sweep.kappa",
                 static_cast<double>(most_tasks_) / static_cast<double>(dimension_));
  }
  rounded_ = rounded_ratios(c, dimension_);
  diagnostics_ = {{"features", static_cast<std::int64_t>(dimension_ * (dimension_ + 1))}};
}

double ContextSweep::x_of(const ContextRatios& r) const {
  return axis_ == ContextAxis::tau ? r.tau : axis_ == ContextAxis::kappa ? r.kappa : r.alpha;
}

ContextRatios ContextSweep::at(double x, double outer) const {
  ContextRatios r = base_;
  r.kappa = outer;
  (axis_ == ContextAxis::tau ? r.tau : axis_ == ContextAxis::kappa ? r.kappa : r.alpha) = x;
  return r;
}

Point ContextSweep::point(double outer, double lambda) const {
  if (axis_ == ContextAxis::tau) return {{"lambda", lambda}};
  if (axis_ == ContextAxis::alpha) return {{"kappa", outer}};
  return {};
}

ContextRatios ContextSweep::told(const ContextRatios& asked) const {
  if (level_ == ContextLevel::limit) return asked;
  ContextRatios whole_ones = ContextSizes::nearest(dimension_, asked).realised(asked);
  whole_ones.tau = asked.tau;  // n enters as a real number
  return whole_ones;
}

ContextErrors ContextSweep::errors(const ContextRatios& ratios, double lambda) const {
  ContextRatios r = ratios;
  r.lambda = lambda;
  if (level_ == ContextLevel::limit) return context_limit(r);
  const ContextSizes sizes = ContextSizes::nearest(dimension_, r);
  const auto d = static_cast<double>(dimension_);
  return given_pool(level_,
                    pool_.get().topRows(sizes.tasks),
                    {.context = static_cast<double>(sizes.context),
                     .samples = r.tau * d * d,
                     .rho = r.rho,
                     .lambda = lambda},
                    {fresh_moments(dimension_, sizes.noise(r.rho))})
      .front();
}

std::vector<ContextErrors> given_pool(ContextLevel level,
                                      const MatrixXd& pool,
                                      const PoolSizes& sizes,
                                      const std::vector<ContextMoments>& tests) {
  if (level == ContextLevel::pool) return context_pool(pool, sizes, tests);
  std::vector<ContextErrors> all;
  for (const ContextMoments& test : tests) all.push_back(context_gaussian(pool, sizes, test));
  return all;
}

namespace {

/// The errors' margin, as the cards have it.
double context_margin(ContextLevel level) {
  constexpr double kExact = 0.005;
  constexpr double kLeading = 0.02;
  return level == ContextLevel::pool ? kExact : kLeading;
}

}  // namespace

int context_line_parts(ContextLevel level) { return level == ContextLevel::pool ? 4 : 16; }

PredictedValue with_allowance(double error,
                              ContextLevel level,
                              const ContextRatios& ratios,
                              double one_minus_gamma,
                              Index dimension) {
  const double allowance = level == ContextLevel::pool       ? kPoolAllowance
                           : level == ContextLevel::gaussian ? gaussian_allowance(ratios.alpha)
                                                             : limit_allowance(ratios.kappa);
  // Without a penalty, below the threshold, rounding leaves 1 - γ at or below 0: no expansion.
  const double share = one_minus_gamma > 0
                           ? allowance / (one_minus_gamma * static_cast<double>(dimension))
                           : std::numeric_limits<double>::infinity();
  // A deviation as large as the error is none that an expansion tells. Of contexts of one or two
  // pairs it has no bound: a sequence whose labels are all near 0 takes 1/χ²_l of the weights. With
  // the law of features kept it is 1.4 % of 8 pairs, 8 % of 4, 80 % of 2 (d = 16).
  constexpr double kPairs = 8;
  const bool many =
      level != ContextLevel::pool || ratios.alpha * static_cast<double>(dimension) >= kPairs;
  return {error,
          std::isfinite(share * error) ? share * error : 0.0,
          one_minus_gamma >= 1 - kLargestGamma && share < 1 && many};
}

std::vector<PredictedValue> ContextSweep::values(const ContextRatios& r, double lambda) const {
  const ContextErrors e =
      at_point({{"alpha", r.alpha}, {"kappa", r.kappa}, {"tau", r.tau}, {"lambda", lambda}},
               [&] { return errors(r, lambda); });
  std::vector<PredictedValue> all = {
      with_allowance(e.icl, level_, r, e.one_minus_gamma, dimension_),
      with_allowance(e.idg, level_, r, e.one_minus_gamma, dimension_)};
  // Without a penalty the interpolation threshold lies at n = d (d + 1).
  constexpr double kNear = 0.02;
  const auto d = static_cast<double>(dimension_);
  const bool near = lambda == 0 && std::abs(r.tau * d / (d + 1) - 1) < kNear;
  for (PredictedValue& value : all) value.compared = value.compared && !near;
  // Both errors deviate alike, and what they differ by in proportion to itself: measured at κ from
  // 0.2 to 8, up to 0.6(2) of the share of either; twice that, and half the margin of the smaller.
  const double both = e.icl + e.idg;
  const double apart = e.icl - e.idg;
  const double share = all[1].finite_size / e.idg;
  const double alike =
      2 * share * std::abs(apart) + context_margin(level_) * std::min(e.icl, e.idg) / 2;
  const double added = all[0].finite_size + all[1].finite_size + context_margin(level_) * both;
  all.emplace_back(std::isfinite(both) ? apart : both,
                   std::isfinite(both) ? std::min(alike, added) : 0.0,
                   all[0].compared);
  return all;
}

const ContextSweep::Case& ContextSweep::largest() const {
  return *std::max_element(cases_.begin(), cases_.end(), [](const Case& a, const Case& b) {
    return a.sizes.samples < b.sizes.samples;
  });
}

Index times_towards_limit(Index dimension) {
  constexpr Index kLarge = 40;  // from which on the order 1/d² is small
  return (kLarge + dimension - 1) / dimension;
}

double towards_limit(Index dimension, const std::function<double(Index times)>& at) {
  const Index times = times_towards_limit(dimension);
  return 2 * at(2 * times) - at(times);
}

PredictedValue limit_value(const ContextErrors& limit, Index dimension) {
  const auto large = static_cast<double>(times_towards_limit(dimension) * dimension);
  // What extrapolation leaves is 0.3 to 0.9 of that share: λ = 1e-5, τ from 0.5 to 1.5, d = 64.
  const double left = std::pow(large * limit.one_minus_gamma, -2);
  return {limit.icl, left * limit.icl, limit.one_minus_gamma >= 1 - kLargestGamma};
}

std::vector<double> ContextSweep::limits(RandomStream& stream) const {
  const ContextSizes& own = middle().sizes;
  const Index times = times_towards_limit(dimension_);
  const std::map<Index, MatrixXd> pools = {
      {times, sphere_pool(times * own.tasks, times * dimension_, stream)},
      {2 * times, sphere_pool(2 * times * own.tasks, 2 * times * dimension_, stream)}};
  std::vector<double> errors;
  for (const double lambda : lambdas_) {
    errors.push_back(towards_limit(dimension_, [&](Index t) {
      return context_gaussian(pools.at(t), own.times(t).pool_sizes(base_.rho, lambda)).icl;
    }));
  }
  return errors;
}

TheoryResult ContextSweep::theory(TheoryGrid grid) const {
  const char* x_name = axis_ == ContextAxis::tau     ? "tau"
                       : axis_ == ContextAxis::kappa ? "kappa"
                                                     : "alpha";
  TheoryResult result;
  for (const double outer : outers_) {
    std::vector<double> xs;
    if (grid == TheoryGrid::requested) {
      for (const double x : xs_) xs.push_back(x_of(told(at(x, outer))));
    } else {
      std::vector<double> simulated;
      for (const Case& one : cases_) {
        if (one.point == point(outer, 0)) simulated.push_back(x_of(one.ratios));
      }
      xs = ascending(simulated);
      for (const double x : line_between(xs, AxisScale::log, grid, context_line_parts(level_))) {
        // Where sizes must be whole, the line runs through whole ones.
        if (std::find(simulated.begin(), simulated.end(), x) == simulated.end()) {
          xs.push_back(x_of(told(at(x, outer))));
        }
      }
    }
    xs = ascending(std::move(xs));
    for (const double lambda : lambdas_) {
      Curves curves(point(outer, lambda), x_name, {"icl", "idg", "gap"});
      const auto all = parallel_map(xs, [&](double x) { return values(at(x, outer), lambda); });
      for (std::size_t k = 0; k < xs.size(); ++k) curves.add(xs[k], all[k]);
      curves.into(result);
    }
    if (axis_ != ContextAxis::alpha) continue;
    Curves bayes(point(outer, 0), x_name, {"bayes"});
    for (const double x : xs) bayes.add(x, {context_bayes(x, base_.rho)});
    bayes.into(result);
  }
  if (axis_ != ContextAxis::alpha) {
    const double alpha = cases_.front().ratios.alpha;
    add_constant(
        result, "bayes", context_bayes(grid == TheoryGrid::run ? alpha : base_.alpha, base_.rho));
  }
  if (axis_ == ContextAxis::tau) {
    for (const double lambda : lambdas_) {
      ContextRatios r = middle().ratios;
      r.lambda = lambda;
      add_constant(
          result, "limit_icl", limit_value(context_limit(r), dimension_), point(0, lambda));
    }
  }
  // E y² of the context is 1 + ρ; y x has the mean w/d and the variance (1 + ρ)/d + w∘w/d².
  const double alpha = largest().ratios.alpha;
  const auto length = static_cast<double>(largest().sizes.context);
  add_constant(result, "context_square", 1 + 1 / length + (1 + base_.rho) / alpha);
  const ContextMoments drawn = fresh_moments(dimension_, largest().sizes.noise(base_.rho));
  add_constant(result, "label_square", drawn.second(dimension_, dimension_));
  add_constant(result, "label_noise", {base_.rho, 0, base_.rho > 0});
  add_constant(result, "context_noise", {base_.rho, 0, base_.rho > 0});
  return result;
}

void ContextSweep::require_simulable() const {
  PointwiseExperiment::require_simulable();
  for (const Case& one : cases_) one.sizes.require_memory(configuration_);
}

double ContextSweep::flops(std::size_t point) const {
  const ContextSizes& sizes = cases_[point].sizes;
  return ContextRidge::flops(static_cast<double>(sizes.dimension),
                             static_cast<double>(sizes.samples),
                             static_cast<double>(lambdas_.size()));
}

Outcome ContextSweep::run(const Replicate& replicate) const {
  const Case& one = cases_[replicate.point()];
  MatrixXd pool;
  if (fresh_pool_) {
    RandomStream own = replicate.stream(StreamId::model);
    pool = sphere_pool(one.sizes.tasks, dimension_, own);
  } else {
    pool = pool_.get().topRows(one.sizes.tasks);
  }
  const ContextNoise noise = one.sizes.noise(base_.rho);
  RandomStream stream = replicate.stream();
  const ContextSequences sequences = draw_sequences(pool, noise, one.sizes.samples, stream);
  const ContextRidge ridge(sequences);
  const ContextMoments own = pool_moments(pool, noise);
  const ContextMoments fresh = fresh_moments(dimension_, noise);
  const char* x_name = axis_ == ContextAxis::tau     ? "tau"
                       : axis_ == ContextAxis::kappa ? "kappa"
                                                     : "alpha";
  Outcome outcome;
  for (const double lambda : lambdas_) {
    const MatrixXd gamma = ridge.fit(lambda);
    const double icl = population_error(gamma, fresh);
    const double idg = population_error(gamma, own);
    Point where = one.point;
    if (axis_ == ContextAxis::tau) where = point(0, lambda);
    Curves(where, x_name, {"icl", "idg", "gap"})
        .add(x_of(one.ratios), {icl, idg, icl - idg})
        .into(outcome);
  }
  if (&one == &largest()) {
    const SequenceMoments found = sequence_moments(sequences, pool, noise);
    add_constant(outcome, "context_square", found.context_square);
    add_constant(outcome, "label_square", found.label_square);
    add_constant(outcome, "label_noise", found.label_noise);
    add_constant(outcome, "context_noise", found.context_noise);
  }
  if (axis_ == ContextAxis::tau && &one == &middle()) {
    RandomStream pools = replicate.stream(StreamId::model);
    const std::vector<double> limits = this->limits(pools);
    for (std::size_t k = 0; k < lambdas_.size(); ++k) {
      add_constant(outcome, "limit_icl", limits[k], point(0, lambdas_[k]));
    }
  }
  if (!configuration_.declares("sim.test_sequences") || base_.rho == 0) return outcome;
  const Index tests = configuration_.integer("sim.test_sequences");
  if (tests == 0) return outcome;
  RandomStream unseen = replicate.stream(StreamId::test_data);
  MatrixXd seen(tests, dimension_);
  for (Index t = 0; t < tests; ++t) {
    seen.row(t) =
        pool.row(static_cast<Index>(unseen.below(static_cast<std::uint64_t>(pool.rows()))));
  }
  const MatrixXd others = sphere_pool(tests, dimension_, unseen);
  Curves(one.point, x_name, {"dmmse_icl", "dmmse_idg"})
      .add(x_of(one.ratios),
           {posterior_mean_error(pool, others, noise, unseen),
            posterior_mean_error(pool, seen, noise, unseen)})
      .into(outcome);
  return outcome;
}

ContextLevel context_level(const Configuration& c) {
  const ContextLevel level = levels().of(c, "theory.level");
  if (level != ContextLevel::limit && c.text("model.pool") == "fresh") {
    throw invalid_parameter("theory.level",
                            c.text("theory.level"),
                            "\"limit\" where model.pool = \"fresh\": every replicate then has a "
                            "pool of its own");
  }
  return level;
}

void require_pool(const ContextSizes& sizes, const char* key, double kappa) {
  constexpr double kMostNumbers = 1e8;
  require(static_cast<double>(sizes.tasks) * static_cast<double>(sizes.dimension) <= kMostNumbers,
          key,
          kappa,
          "a pool of at most 1e8 numbers, or theory.level = \"limit\"");
}

ClaimResult above_bayes(const Observed& observed) {
  // The least excess over the points that a replicate has.
  std::vector<double> least;
  for (const ObservedCurve& curve : observed.simulation) {
    if (curve.mean.name != "icl") continue;
    for (std::size_t k = 0; k < curve.mean.x.size(); ++k) {
      double bayes = std::numeric_limits<double>::quiet_NaN();
      for (const Prediction& p : observed.theory) {
        if (p.series.name != "bayes") continue;
        const bool constant = p.series.x_name == "none";
        if (!constant && p.series.point != curve.mean.point) continue;
        for (std::size_t j = 0; j < p.series.x.size(); ++j) {
          if (constant || p.series.x[j] == curve.mean.x[k]) bayes = p.series.y[j];
        }
      }
      const std::vector<double>& values = curve.values[k];
      least.resize(std::max(least.size(), values.size()), std::numeric_limits<double>::infinity());
      for (std::size_t r = 0; r < values.size(); ++r)
        least[r] = std::min(least[r], values[r] - bayes);
    }
  }
  return claim_rate("icl_above_bayes",
                    "the ICL error is above that of the Bayes predictor at every point",
                    by_replicate(least).where([](double excess) { return excess > 0; }),
                    least.empty() ? ""
                                  : fmt::format("least excess {:.3g}",
                                                *std::min_element(least.begin(), least.end())));
}

}  // namespace attica
