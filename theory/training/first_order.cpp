#include "attica/theory/training/first_order.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "attica/core/error.hpp"
#include "attica/core/random.hpp"
#include "attica/theory/training/deviations.hpp"
#include "attica/theory/training/mirrored_pairs.hpp"
#include "attica/theory/training/update.hpp"

namespace attica {

using Eigen::Index;
using Eigen::VectorXd;

double Moment::sd() const { return std::sqrt(std::max(variance, 0.0)); }

namespace {
constexpr double kShare = 1.0 / 3;  ///< of the first order, as a tolerance
}

double Moment::finite_size() const {
  return by_pairs ? std::abs(next) + 2 * next_error + unseparated : kShare * size;
}

namespace {

void require_finite(const VectorXd& values, const char* what, const char* one) {
  for (Index k = 0; k < values.size(); ++k) {
    if (std::isfinite(values[k])) continue;
    throw Error(ErrorKind::numerical,
                fmt::format("{} of the model at the start: {} at {} {}, expected finite numbers",
                            what,
                            values[k],
                            one,
                            k));
  }
}

}  // namespace

void require_gradient_of_losses(const PopulationModel& model, const VectorXd& theta, double step) {
  constexpr double kOfSlope = 0.02;     // as a tolerance
  constexpr double kKinks = 3;          // of the scatter of slopes over samples, times the step
  constexpr double kSingle = 1e-8;      // rounding of the mean loss in single precision
  constexpr double kSingleEach = 1e-7;  // of the loss of a sample, by which signs are chosen
  const VectorXd& p = model.weights();
  VectorXd losses, above, below;
  VectorXd gradient(theta.size());
  model.pass(theta, losses, &p, &gradient);
  require_finite(losses, "losses", "sample");
  require_finite(gradient, "gradient", "component");
  RandomStream random({.seed = 0, .id = StreamId::theory});
  for (int k = 0; k < 3; ++k) {
    VectorXd along = gradient;
    if (k > 0) {
      for (double& x : along) x = random.normal();
    }
    if (along.norm() == 0) continue;
    along.normalize();
    model.pass(theta + step * along, above);
    model.pass(theta - step * along, below);
    const VectorXd slopes = (above - below) / (2 * step);
    if (!slopes.allFinite()) continue;
    const auto require_slope = [&](const VectorXd& weights,
                                   const VectorXd& by_model,
                                   double rounding,
                                   const std::string& what) {
      const double by_losses = weights.dot(slopes);
      const double by_gradient = by_model.dot(along);
      const double tolerance = kOfSlope * std::abs(by_losses) +
                               kKinks * step * std::sqrt(p.dot(slopes.cwiseAbs2())) +
                               rounding * losses.cwiseAbs().maxCoeff() / step;
      require(std::abs(by_gradient - by_losses) <= tolerance,
              "gradient",
              by_gradient,
              fmt::format("{:.6g}, {}", by_losses, what));
    };
    require_slope(
        p,
        gradient,
        kSingle,
        fmt::format("the slope of the mean loss along {}: the model's gradient is not the "
                    "derivative of its losses",
                    k == 0 ? "it" : "a random direction"));
    if (k == 0) continue;
    // Samples that gain more than the median against the others: what ignores the weights, or takes
    // a mean over them, has another slope.
    VectorXd sorted = slopes;
    std::nth_element(sorted.begin(), sorted.begin() + sorted.size() / 2, sorted.end());
    const double median = sorted[sorted.size() / 2];
    const VectorXd weights =
        p.binaryExpr(slopes, [&](double q, double slope) { return slope < median ? -q : q; });
    VectorXd weighted(theta.size());
    model.pass(theta, losses, &weights, &weighted);
    require_slope(weights,
                  weighted,
                  kSingleEach,
                  "the slope of the weighted losses along a random direction, with weights of both "
                  "signs: the model's gradient is that of other weights than it is given");
  }
}

namespace {

using Records = std::vector<TrainingTheoryRecord>;

void require_domain(const PopulationModel& model,
                    const TrainingPlan& plan,
                    const TheoryMethod& method) {
  const bool by_pairs = method.kind == TheoryMethod::Kind::pairs;
  const auto number = [](auto x) { return static_cast<double>(x); };
  require(plan.start.size() == model.parameters(),
          "start",
          number(plan.start.size()),
          fmt::format("{} numbers, one a parameter", model.parameters()));
  require(plan.start.allFinite(), "start", plan.start.sum(), "finite numbers");
  const VectorXd& p = model.weights();
  require(p.size() > 0 && p.minCoeff() > 0 && std::abs(p.sum() - 1) < 1e-9,
          "weights",
          p.sum(),
          "positive probabilities with sum 1");
  if (!plan.rate) throw invalid_parameter("rate", "empty", "a function of the step");
  require(plan.momentum >= 0 && plan.momentum < 1, "momentum", plan.momentum, "0 <= momentum < 1");
  require(plan.momentum == 0 || plan.update == Update::heavy_ball,
          "momentum",
          plan.momentum,
          "0 unless update is heavy_ball");
  require(plan.decay >= 0, "decay", plan.decay, "at least 0");
  require(plan.clip_norm >= 0, "clip_norm", plan.clip_norm, "at least 0 (0: no clipping)");
  require(plan.batch >= 0, "batch", number(plan.batch), "at least 0 (0: everything)");
  require(plan.samples == 0 || plan.samples > 1,
          "samples",
          number(plan.samples),
          "at least 2 (0: fresh data)");
  require(plan.samples == 0 || plan.revisit == Revisit::replace || plan.batch <= plan.samples,
          "batch",
          number(plan.batch),
          fmt::format("at most samples = {}", plan.samples));
  require(plan.parts == nullptr ||
              (plan.update != Update::adam && method.pairs == 0 && plan.batch > 0 &&
               (plan.samples == 0 || plan.revisit == Revisit::replace)),
          "parts",
          1,
          "none, unless for batches of fresh data or with replacement, without pairs");
  require(plan.parts == nullptr || plan.parts->parameters() == model.parameters(),
          "parts",
          plan.parts == nullptr ? 0 : number(plan.parts->parameters()),
          fmt::format("{} parameters, as the model", model.parameters()));
  require(plan.parts_taken >= 1 && (plan.parts_taken == 1 || plan.parts != nullptr),
          "parts_taken",
          number(plan.parts_taken),
          "at least 1, and 1 without parts");
  require(!plan.recorded.empty() && std::ranges::is_sorted(plan.recorded, std::less_equal<>()),
          "recorded",
          number(plan.recorded.size()),
          "strictly ascending steps, at least one");
  require(plan.update != Update::adam || by_pairs,
          "update",
          number(static_cast<int>(plan.update)),
          "descent or heavy_ball; for adam use method.kind = pairs");
  require(method.rank >= 1, "rank", number(method.rank), "at least 1");
  require(method.hold >= 1, "hold", number(method.hold), "at least 1");
  require(method.step > 0 && method.step < 1, "step", method.step, "between 0 and 1");
  require(method.pairs >= (by_pairs ? 2 : 0) && method.pairs != 1,
          "pairs",
          number(method.pairs),
          by_pairs ? "at least 2" : "0, or at least 2");
}

/// The loss at a step, as the rules of validity look at it.
struct LossCheck {
  std::uint64_t step = 0;
  Moment loss;
  double train_size = 0;             ///< of the train loss's own term
  double largest = 0, smallest = 0;  ///< of the eigenvalues of H, as far as known
  double rate = 0;
  double gradient = 0;  ///< root mean square length of a batch's, the longest since the last check
};

/// What a run of the expansion gives.
struct Expansion {
  Records records;
  std::vector<LossCheck> checks;  ///< of ascending steps, every recorded one among them
};

Expansion expansion(const PopulationModel& model,
                    const TrainingPlan& plan,
                    const std::vector<Observable>& observables,
                    const TheoryMethod& method) {
  Expansion out;
  OptimiserState state(plan);
  Deviations deviations(model, plan, method);
  const std::uint64_t epoch = steps_per_epoch(plan);
  const double penalty = plan.decoupled ? 0 : plan.decay;
  std::uint64_t corner_step = 0;  // from which on deviations have not advanced
  VectorXd corner = state.theta;
  VectorXd before;     // theta of the step before
  double longest = 0;  // squared gradient since the last check
  for (std::uint64_t step = 0;; ++step) {
    const bool recorded = step == plan.recorded[out.records.size()];
    const PopulationPoint point(model, state.theta);
    longest = std::max(longest, point.gradient.squaredNorm());
    if (!state.finite() || !point.losses.allFinite() || !point.gradient.allFinite()) return out;
    if (method.hold > 1 && step > corner_step &&
        (recorded || step == corner_step + method.hold || (epoch > 0 && step % epoch == 0))) {
      deviations.advance(
          PopulationPoint(model, (corner + before) / 2), corner_step, step - corner_step);
      corner = state.theta;
      corner_step = step;
    }
    if (recorded || method.hold == 1) {
      deviations.look(point);
      const LossMoments losses = deviations.losses();
      LossCheck& check = out.checks.emplace_back();
      check = {.step = step,
               .loss = losses.test,
               .train_size = losses.train.size - losses.test.size,
               .rate = plan.rate(step),
               .gradient = std::sqrt(longest + deviations.gradient_noise())};
      longest = 0;
      const VectorXd ritz = deviations.ritz_values();
      if (ritz.size() > 0) {
        check.largest = ritz.maxCoeff() + penalty;
        check.smallest = ritz.minCoeff() + penalty;
      }
      if (recorded) {
        if (!deviations.complete()) {
          const CurvatureRange range =
              curvature_range(model, state.theta, method.step, method.seed);
          check.largest = std::max(check.largest, range.largest + penalty);
          check.smallest = std::min(check.smallest, range.smallest + penalty);
        }
        TrainingTheoryRecord& record = out.records.emplace_back();
        record = {.step = step,
                  .loss = losses.test,
                  .train_loss = losses.train,
                  .batch_loss = losses.batch,
                  .sharpness = check.largest,
                  .growth = -check.smallest};
        for (const Observable& f : observables) record.observed.push_back(deviations.observe(f));
        if (out.records.size() == plan.recorded.size()) return out;
      }
    }
    if (out.checks.empty()) {  // what the rules compare with: the start
      out.checks.push_back({.step = step, .loss = {.order_0 = point.loss(model)}});
    }
    if (method.hold == 1) deviations.advance(point, step, 1);
    before = state.theta;
    update(state, plan, point.gradient);
  }
}

/// All moments of a record, in a fixed order.
std::vector<Moment*> moments(TrainingTheoryRecord& record) {
  std::vector<Moment*> all = {&record.loss, &record.train_loss, &record.batch_loss};
  for (Moment& m : record.observed) all.push_back(&m);
  return all;
}

std::vector<const PairEstimate*> estimates(const PairRecord& record) {
  std::vector<const PairEstimate*> all = {&record.loss, &record.train_loss, &record.batch_loss};
  for (const PairEstimate& e : record.observed) all.push_back(&e);
  return all;
}

/// Why nothing is predicted from the first step on at which a rule is broken: by step.
struct Refusal {
  std::uint64_t step;
  std::string reason;
};

/// Rules (i) to (iv) of docs/training.md, all of the loss.
std::optional<Refusal> refusal(const TrainingPlan& plan, const std::vector<LossCheck>& checks) {
  constexpr double kOfLoss = 0.1;
  constexpr double kOfRange = 0.2;
  constexpr double kEdge = 1.8;
  constexpr double kSaddle = 0.01;
  constexpr double kOfMove = 0.2;
  constexpr double kOfClip = 0.5;
  double low = checks.front().loss.order_0;
  double high = low;
  for (const LossCheck& c : checks) {
    low = std::min(low, c.loss.order_0);
    high = std::max(high, c.loss.order_0);
  }
  for (const LossCheck& c : checks) {
    const double size = c.loss.size + c.train_size;
    const double f = c.loss.order_0;
    const auto say = [&](const std::string& reason) {
      return Refusal{c.step, fmt::format("from step {}: {}", c.step, reason)};
    };
    if (!(size <= kOfLoss * std::abs(f))) {
      return say(fmt::format(
          "the correction of first order, {:.2g}, exceeds {} of the loss", size, kOfLoss));
    }
    if (c.step > 0 && size > kOfRange * (high - low)) {
      return say(
          fmt::format("the correction of first order, {:.2g}, exceeds {} of the range of the loss",
                      size,
                      kOfRange));
    }
    if (plan.batch > 0 && c.rate * c.largest > kEdge * (1 + plan.momentum)) {
      return say(fmt::format("rate times sharpness, {:.3g}, is close to the edge of stability, {}",
                             c.rate * c.largest,
                             2 * (1 + plan.momentum)));
    }
    if (c.smallest < -kSaddle * c.largest &&
        c.loss.size > kOfMove * std::abs(f - checks.front().loss.order_0)) {
      return say(
          fmt::format("near a saddle, the correction of first order, {:.2g}, exceeds {} of "
                      "how far the loss has come",
                      c.loss.size,
                      kOfMove));
    }
    if (plan.clip_norm > 0 && c.gradient > kOfClip * plan.clip_norm) {
      return say(fmt::format(
          "the root mean square length of a batch's gradient, {:.2g}, exceeds half of clip_norm: "
          "batches may be clipped",
          c.gradient));
    }
  }
  return std::nullopt;
}

/// Rule (v): what pairs say of the next order of the loss.
std::optional<Refusal> refusal(const Records& records, const std::vector<PairRecord>& pairs) {
  constexpr double kOfShift = 1.0 / 3;
  double largest = 0;
  for (std::size_t k = 0; k < std::min(records.size(), pairs.size()); ++k) {
    const Moment& loss = records[k].loss;
    largest = std::max(largest, std::abs(loss.shift) + std::abs(pairs[k].loss.resummed));
    const auto say = [&](const std::string& reason) {
      return Refusal{records[k].step, fmt::format("from step {}: {}", records[k].step, reason)};
    };
    if (!pairs[k].finite) return say("a pair of runs is not finite");
    if (pairs[k].clipped) return say("some batches are clipped, the population's gradient is not");
    if (std::abs(loss.next) > kOfShift * largest) {
      return say(
          fmt::format("the next order of the loss, {:.2g} by pairs, exceeds a third of the "
                      "first, {:.2g}",
                      loss.next,
                      largest));
    }
  }
  return std::nullopt;
}

void add_pairs(Records& records, const std::vector<PairRecord>& pairs) {
  for (std::size_t k = 0; k < std::min(records.size(), pairs.size()); ++k) {
    const std::vector<Moment*> all = moments(records[k]);
    const std::vector<const PairEstimate*> found = estimates(pairs[k]);
    for (std::size_t m = 0; m < all.size(); ++m) {
      all[m]->next = found[m]->next;
      all[m]->next_error = found[m]->next_error;
      all[m]->by_pairs = true;
    }
  }
}

/// Records of kind `pairs`.
Expansion by_pairs(const PopulationModel& model,
                   const TrainingPlan& plan,
                   const std::vector<PairRecord>& pairs) {
  Expansion out;
  if (plan.recorded.front() > 0) {  // what the rules compare with: the start
    const PopulationPoint start(model, plan.start);
    out.checks.push_back({.loss = {.order_0 = start.loss(model)}});
  }
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    TrainingTheoryRecord& record = out.records.emplace_back();
    record.step = plan.recorded[k];
    record.observed.resize(pairs[k].observed.size());
    const std::vector<Moment*> all = moments(record);
    const std::vector<const PairEstimate*> found = estimates(pairs[k]);
    for (std::size_t m = 0; m < all.size(); ++m) {
      *all[m] = {.order_0 = found[m]->order_0,
                 .shift = found[m]->shift,
                 .size = std::abs(found[m]->shift),
                 .variance = found[m]->variance,
                 .numerical_error = found[m]->order_0_error + found[m]->shift_error};
      // Adam's first updates divide by one gradient squared: their noise is of order 1.
      if (plan.update == Update::adam) all[m]->unseparated = kShare * std::abs(found[m]->shift);
    }
    const double own = std::abs(record.train_loss.shift - record.loss.shift);
    record.train_loss.size = record.loss.size + own;
    out.checks.push_back({.step = record.step,
                          .loss = record.loss,
                          .train_size = own,
                          .rate = plan.rate(record.step)});
  }
  return out;
}

}  // namespace

Records training_theory(const PopulationModel& model,
                        const TrainingPlan& plan,
                        const std::vector<Observable>& observables,
                        const TheoryMethod& method) {
  constexpr double kKink = 1.0 / 3;  // of the first order, in the numerical error of the loss
  require_domain(model, plan, method);
  if (method.check_gradient) require_gradient_of_losses(model, plan.start, method.step);
  std::vector<PairRecord> pairs;
  if (method.pairs > 0) pairs = mirrored_pairs(model, plan, observables, method);
  const bool pairs_alone = method.kind == TheoryMethod::Kind::pairs;
  Expansion found =
      pairs_alone ? by_pairs(model, plan, pairs) : expansion(model, plan, observables, method);
  Records& records = found.records;
  std::vector<Refusal> refusals;
  if (!pairs_alone && method.numerical_error) {
    TheoryMethod coarser = method;
    coarser.rank = std::max<Index>(1, method.rank / 2);
    if (method.rank >= model.parameters()) coarser.kind = TheoryMethod::Kind::dense;
    coarser.step = std::min(0.3, 10 * method.step);
    if (method.hold > 1) coarser.hold = 2 * method.hold;
    Records second = expansion(model, plan, observables, coarser).records;
    for (std::size_t k = 0; k < records.size(); ++k) {
      if (k >= second.size()) {
        refusals.push_back(
            {records[k].step,
             fmt::format("from step {}: not finite with fewer axes", records[k].step)});
        break;
      }
      const std::vector<Moment*> a = moments(records[k]);
      const std::vector<Moment*> b = moments(second[k]);
      for (std::size_t m = 0; m < a.size(); ++m) {
        a[m]->numerical_error = std::abs(a[m]->shift - b[m]->shift);
      }
      const Moment& loss = records[k].loss;
      if (loss.numerical_error > kKink * loss.size + 1e-12 * std::abs(loss.order_0)) {
        refusals.push_back(
            {records[k].step,
             fmt::format(
                 "from step {}: differences of lengths {} and {} disagree: use more axes, {}or "
                 "a longer step if the loss has kinks",
                 records[k].step,
                 method.step,
                 coarser.step,
                 method.hold > 1 ? "hold derivatives over fewer steps, " : "")});
      }
    }
  }
  add_pairs(records, pairs);
  if (!found.checks.empty()) {
    if (const auto r = refusal(plan, found.checks)) refusals.push_back(*r);
  }
  if (const auto r = refusal(records, pairs)) refusals.push_back(*r);
  if (!refusals.empty()) {
    const Refusal& first = *std::ranges::min_element(refusals, {}, &Refusal::step);
    for (TrainingTheoryRecord& record : records) {
      if (record.step >= first.step) record.undescribed = first.reason;
    }
  }
  return std::move(found.records);
}

}  // namespace attica
