#include "attica/sim/joma/tree_learning.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr double kNever = std::numeric_limits<double>::quiet_NaN();

class Unit {
 public:
  Unit(Index leaves, std::size_t records, double threshold)
      : v_(VectorXd::Zero(leaves)),
        z_(VectorXd::Zero(leaves)),
        threshold_(threshold),
        record_{.v = MatrixXd::Constant(static_cast<Index>(records), leaves, kNever),
                .passage = VectorXd::Constant(leaves, kNever),
                .salience = VectorXd::Zero(leaves),
                .scatter = VectorXd::Zero(leaves)},
        left_(leaves - 1) {}

  /// @param time before the step
  void step(const ArrayXd& gx, double eta, double time) {
    for (Index l = 1; l < v_.size(); ++l) {
      if (far(l)) continue;
      const double push = eta * gx[l] * std::exp(z_[l]);
      const double before = std::abs(v_[l]);
      z_[l] += push * v_[l];
      v_[l] += push;
      const double after = std::abs(v_[l]);
      if (after < threshold_ || !std::isnan(record_.passage[l])) continue;
      record_.passage[l] = time + eta * (threshold_ - before) / (after - before);
      --left_;
    }
  }
  void observe(std::size_t record) {
    for (Index l = 1; l < v_.size(); ++l) {
      if (!far(l)) record_.v(static_cast<Index>(record), l) = v_[l];
    }
  }
  void saw(const ArrayXd& gx) {
    record_.salience.array() += gx;
    record_.scatter.array() += gx.square();
  }
  bool done() const { return left_ == 0; }
  UnitRecord record(double steps, double batch) {
    record_.salience /= steps;
    record_.scatter -= steps * record_.salience.cwiseAbs2();
    record_.scatter *= batch / (steps - 1);
    return std::move(record_);
  }

 private:
  /// Left alone before it diverges.
  bool far(Index l) const {
    constexpr double kFar = 3;  // e^z = 90 at a threshold of 1
    return std::abs(v_[l]) > kFar * threshold_;
  }

  VectorXd v_;
  VectorXd z_;
  double threshold_;
  UnitRecord record_;
  Index left_;
};

/// Sums over a batch.
struct BatchSums {
  double rewards = 0;  ///< of g
  ArrayXd rewarded;    ///< of g x
  ArrayXd count;       ///< of x

  explicit BatchSums(Index leaves) : rewarded(leaves), count(leaves) {}
  void clear() {
    rewards = 0;
    rewarded.setZero();
    count.setZero();
  }
  /// @param those sequences of the block, as bits
  void add(const TreeBlock& block, std::uint64_t those, const std::vector<double>& reward) {
    for (std::size_t k = 0; k < reward.size() && those != 0; ++k) {
      const std::uint64_t chosen = those & block.of_class(static_cast<int>(k));
      those &= ~chosen;
      if (chosen == 0) continue;
      rewards += reward[k] * std::popcount(chosen);
      for (Index l = 0; l < count.size(); ++l) {
        const int active = std::popcount(chosen & block.leaves[static_cast<std::size_t>(l)]);
        count[l] += active;
        rewarded[l] += reward[k] * active;
      }
    }
  }
};

/// The lowest n bits that are set in a word that has as many.
std::uint64_t lowest(std::uint64_t word, int n) {
  std::uint64_t rest = word;
  for (int i = 0; i < n; ++i) rest &= rest - 1;
  return word ^ rest;
}

}  // namespace

std::array<UnitRecord, 2> descend_tree(const LatentTreeSampler& sampler,
                                       const TreeDescent& options,
                                       std::span<const std::int64_t> steps,
                                       RandomStream& stream) {
  require(options.eta > 0, "sim.eta", options.eta, "eta > 0");
  require(options.batch >= 2, "sim.batch", options.batch, "batch >= 2");
  const Index leaves = sampler.tree().leaves();
  const double batch = options.batch;
  std::array<Unit, 2> units = {Unit(leaves, steps.size(), options.threshold),
                               Unit(leaves, steps.size(), options.threshold)};
  TreeBlock block;
  std::uint64_t left = 0;  // sequences of the block with leaf 0 that no batch has had
  BatchSums sums(leaves);
  std::array<ArrayXd, 2> gx;
  std::size_t record = 0;
  for (std::int64_t step = 0;; ++step) {
    if (record < steps.size() && steps[record] == step) {
      for (Unit& unit : units) unit.observe(record);
      ++record;
    }
    const double time = options.eta * static_cast<double>(step);
    const bool all = units[kPlain].done() && units[kCentred].done();
    if (record == steps.size() && (all || time >= options.horizon)) break;
    sums.clear();
    for (int missing = options.batch; missing > 0;) {
      if (left == 0) {
        sampler.draw(stream, block);
        left = block.leaves[0];
      }
      const int taken = std::min(missing, std::popcount(left));
      const std::uint64_t those = lowest(left, taken);
      sums.add(block, those, options.rewards);
      left ^= those;
      missing -= taken;
    }
    gx[kPlain] = sums.rewarded / batch;
    gx[kCentred] = (sums.rewarded - sums.rewards * sums.count / batch) / (batch - 1);
    for (const std::size_t u : {kPlain, kCentred}) {
      if (record < steps.size()) units[u].saw(gx[u]);
      units[u].step(gx[u], options.eta, time);
    }
  }
  const auto last = static_cast<double>(steps.back());
  return {units[kPlain].record(last, batch), units[kCentred].record(last, batch)};
}

}  // namespace attica
