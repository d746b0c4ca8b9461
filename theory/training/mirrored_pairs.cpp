#include "attica/theory/training/mirrored_pairs.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "attica/core/parallel.hpp"
#include "attica/core/random.hpp"
#include "attica/theory/training/update.hpp"

namespace attica {

using Eigen::Index;
using Eigen::VectorXd;

namespace {

/// The samples that a run is trained on, as deviations of their weights from p.
class SampleCounts {
 public:
  SampleCounts(const VectorXd& p, const TrainingPlan& plan, std::uint64_t seed, std::uint64_t pair)
      : p_(p),
        plan_(plan),
        address_{.seed = seed, .id = StreamId::theory, .point = 2, .replicate = pair} {
    cumulative_.resize(static_cast<std::size_t>(p.size()));
    std::partial_sum(p.begin(), p.end(), cumulative_.begin());
    first_.resize(4 * std::bit_ceil(cumulative_.size()));
    for (std::size_t k = 0; k < first_.size(); ++k) {
      const double from = static_cast<double>(k) / static_cast<double>(first_.size());
      const auto above = std::ranges::upper_bound(cumulative_, from * cumulative_.back());
      first_[k] = above - cumulative_.begin();
    }
    data_ = VectorXd::Zero(p.size());
    if (plan.samples == 0) return;
    RandomStream stream(address_);
    stored_ = drawn(static_cast<std::size_t>(plan.samples), stream);
    order_ = stored_;
    data_ = of(stored_);
  }

  /// Of the M samples; 0 for fresh data. @shape{n}
  const VectorXd& data() const { return data_; }

  /// Of the batch of a step; steps are asked for in their order.
  VectorXd batch(std::uint64_t step) {
    if (plan_.batch == 0) return data_;
    const auto size = static_cast<std::size_t>(plan_.batch);
    StreamAddress address = address_;
    address.point = 3;
    address.step = step;
    RandomStream stream(address);
    if (plan_.samples == 0) return of(drawn(size, stream));
    if (plan_.revisit == Revisit::replace) {
      std::vector<Index> batch(size);
      for (Index& s : batch) s = stored_[stream.below(stored_.size())];
      return of(batch);
    }
    const std::uint64_t epoch = steps_per_epoch(plan_);
    const std::uint64_t place = epoch > 0 ? step % epoch : 0;
    if (place == 0) {  // the front of a shuffled order: all of an epoch, or one batch
      const std::size_t used = epoch > 0 ? order_.size() : size;
      for (std::size_t k = 0; k < used; ++k) {
        std::swap(order_[k], order_[k + stream.below(order_.size() - k)]);
      }
    }
    return of(std::span(order_).subspan(place * size, size));
  }

 private:
  /// By inversion.
  std::vector<Index> drawn(std::size_t count, RandomStream& stream) const {
    std::vector<double> uniform(count);
    stream.fill_uniform(uniform);
    std::vector<Index> samples(count);
    const auto cells = static_cast<double>(first_.size());
    for (std::size_t k = 0; k < count; ++k) {
      const double u = uniform[k] * cumulative_.back();
      auto s = static_cast<std::size_t>(first_[static_cast<std::size_t>(uniform[k] * cells)]);
      while (s + 1 < cumulative_.size() && cumulative_[s] <= u) ++s;
      samples[k] = static_cast<Index>(s);
    }
    return samples;
  }
  VectorXd of(std::span<const Index> samples) const {
    VectorXd c = -p_;
    for (const Index s : samples) c[s] += 1 / static_cast<double>(samples.size());
    return c;
  }

  const VectorXd& p_;
  const TrainingPlan& plan_;
  StreamAddress address_;
  std::vector<double> cumulative_;
  std::vector<Index> first_;  ///< of the samples that a number of a cell of (0, 1) can stand for
  std::vector<Index> stored_, order_;
  VectorXd data_;
};

/// Variance of the entries of one sample's gradient: sample by sample where these are few, else by
/// random combinations.
VectorXd gradient_variance(const PopulationModel& model,
                           const OptimiserState& state,
                           std::uint64_t seed) {
  constexpr Index kFew = 32;
  constexpr Index kCombinations = 4;
  const VectorXd& p = model.weights();
  const Index count = p.size() <= kFew ? p.size() : kCombinations;
  std::vector<VectorXd> gradients(static_cast<std::size_t>(count), VectorXd(state.theta.size()));
  in_parallel(gradients.size(), [&](std::size_t k) {
    VectorXd w = VectorXd::Zero(p.size());
    if (count == p.size()) {
      const auto s = static_cast<Index>(k);
      w[s] = std::sqrt(p[s]);
    } else {
      RandomStream stream({.seed = seed,
                           .id = StreamId::theory,
                           .point = 4,
                           .replicate = k,
                           .step = state.updates});
      for (Index s = 0; s < p.size(); ++s) {
        w[s] = stream.normal() * std::sqrt(p[s] / static_cast<double>(count));
      }
    }
    w -= w.sum() * p;
    VectorXd losses;
    model.pass(state.theta, losses, &w, &gradients[k]);
  });
  VectorXd sum = VectorXd::Zero(state.theta.size());
  for (const VectorXd& g : gradients) sum += g.cwiseAbs2();
  return sum;
}

/// All numbers at one step of one run: loss, train loss, batch loss, observed ones.
using Numbers = VectorXd;

struct Run {
  double kappa;
  OptimiserState state;
  Numbers numbers = {};
};

/// Mean and its standard error.
std::pair<double, double> mean_of(const VectorXd& x) {
  const auto n = static_cast<double>(x.size());
  const double mean = x.mean();
  return {mean, std::sqrt((x.array() - mean).square().sum() / (n - 1) / n)};
}

}  // namespace

std::vector<PairRecord> mirrored_pairs(const PopulationModel& model,
                                       const TrainingPlan& plan,
                                       const std::vector<Observable>& observables,
                                       const TheoryMethod& method) {
  constexpr double kSmall = 0.03;
  const double large = plan.samples > 0 && plan.batch == 0 ? 0.1 : 0.25;
  const std::array<double, 4> kappas = {kSmall, -kSmall, large, -large};
  const VectorXd& p = model.weights();
  const bool adam = plan.update == Update::adam;
  const double noise = noise_level(plan).total;

  const auto numbers_at = [&](const VectorXd& theta,
                              const VectorXd& losses,
                              const VectorXd& data,
                              const VectorXd& batch) {
    Numbers numbers(3 + std::ssize(observables));
    numbers[0] = p.dot(losses);
    numbers[1] = (p + data).dot(losses);
    numbers[2] = (p + batch).dot(losses);
    for (std::size_t k = 0; k < observables.size(); ++k) {
      numbers[3 + static_cast<Index>(k)] = observables[k](theta);
    }
    return numbers;
  };

  // Without batches the path has no noise; else one more, whose variances come from other
  // combinations, says what these leave uncertain.
  std::vector<OptimiserState> paths(adam && noise > 0 ? 2 : 1, OptimiserState(plan));
  OptimiserState plain(plan);  // adam on the population
  std::vector<SampleCounts> counts;
  std::vector<Run> runs;
  for (int pair = 0; pair < method.pairs; ++pair) {
    counts.emplace_back(p, plan, method.seed, static_cast<std::uint64_t>(pair));
    for (const double kappa : kappas) runs.push_back({kappa, OptimiserState(plan)});
  }
  bool finite = true;
  std::vector<PairRecord> records;
  std::vector<char> clipped(counts.size(), 0);
  for (std::uint64_t step = 0;; ++step) {
    const bool recorded = step == plan.recorded[records.size()];
    std::vector<VectorXd> variances(paths.size());
    std::vector<Numbers> order_0(paths.size());
    Numbers without_batches;
    if (paths.size() == 2) {
      VectorXd losses, gradient(plain.theta.size());
      model.pass(plain.theta, losses, &p, &gradient);
      const VectorXd none = VectorXd::Zero(p.size());
      if (recorded) without_batches = numbers_at(plain.theta, losses, none, none);
      update(plain, plan, gradient);
    }
    double path_length = 0;
    for (std::size_t k = 0; k < paths.size(); ++k) {
      OptimiserState& path = paths[k];
      VectorXd losses, gradient(path.theta.size());
      model.pass(path.theta, losses, &p, &gradient);
      if (!path.finite() || !losses.allFinite() || !gradient.allFinite()) return records;
      const VectorXd none = VectorXd::Zero(p.size());
      if (recorded) order_0[k] = numbers_at(path.theta, losses, none, none);
      if (paths.size() == 2) {
        variances[k] = noise * gradient_variance(model, path, method.seed + k);
      }
      if (k == 0) path_length = gradient.norm();
      update(path, plan, gradient, paths.size() == 2 ? &variances[k] : nullptr);
    }
    in_parallel(counts.size(), [&](std::size_t pair) {
      const VectorXd c = counts[pair].batch(step);
      std::array<VectorXd, 4> gradients;
      for (std::size_t k = 0; k < kappas.size(); ++k) {
        Run& run = runs[pair * kappas.size() + k];
        const VectorXd w = p + run.kappa * c;
        VectorXd losses;
        gradients[k].resize(run.state.theta.size());
        model.pass(run.state.theta, losses, &w, &gradients[k]);
        if (recorded) {
          run.numbers =
              numbers_at(run.state.theta, losses, run.kappa * counts[pair].data(), run.kappa * c);
        }
        VectorXd left;
        if (paths.size() == 2) left = (1 - run.kappa * run.kappa) * variances[0];
        update(run.state, plan, gradients[k], left.size() > 0 ? &left : nullptr);
      }
      if (plan.clip_norm > 0 && path_length <= plan.clip_norm) {
        const VectorXd odd = (gradients[0] - gradients[1]) / (2 * kSmall);
        const VectorXd even = (gradients[0] + gradients[1]) / 2;
        if (std::max((even + odd).norm(), (even - odd).norm()) > plan.clip_norm) {
          clipped[pair] = 1;
        }
      }
    });
    for (const Run& run : runs) finite = finite && run.state.finite();
    if (!recorded) continue;

    PairRecord record;
    record.finite = finite;
    record.clipped = std::ranges::count(clipped, 1) > 0;
    record.observed.resize(observables.size());
    for (Index number = 0; number < order_0[0].size(); ++number) {
      PairEstimate& out = number == 0   ? record.loss
                          : number == 1 ? record.train_loss
                          : number == 2 ? record.batch_loss
                                        : record.observed[static_cast<std::size_t>(number - 3)];
      const auto pairs = std::ssize(counts);
      VectorXd even(pairs), odd(pairs), next(pairs);
      out.order_0 = order_0[0][number];
      if (paths.size() == 2) {
        out.order_0_error = std::abs(order_0[1][number] - out.order_0);
        out.resummed = out.order_0 - without_batches[number];
      }
      for (Index pair = 0; pair < pairs; ++pair) {
        const auto f = [&](std::size_t k) {
          return runs[static_cast<std::size_t>(pair) * kappas.size() + k].numbers[number];
        };
        const auto even_at = [&](std::size_t k) {
          return ((f(k) + f(k + 1)) / 2 - out.order_0) / (kappas[k] * kappas[k]);
        };
        const auto odd_at = [&](std::size_t k) { return (f(k) - f(k + 1)) / (2 * kappas[k]); };
        even[pair] = even_at(0);
        odd[pair] = odd_at(0);
        next[pair] =
            (even_at(2) - even_at(0) + odd_at(2) - odd_at(0)) / (large * large - kSmall * kSmall);
      }
      std::tie(out.shift, out.shift_error) = mean_of(even);
      std::tie(out.next, out.next_error) = mean_of(next);
      out.variance = odd.squaredNorm() / static_cast<double>(pairs) +
                     (even.array() - out.shift).square().sum() / static_cast<double>(pairs - 1);
    }
    records.push_back(std::move(record));
    if (records.size() == plan.recorded.size()) return records;
  }
}

}  // namespace attica
