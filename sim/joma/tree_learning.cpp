#include "attica/sim/joma/tree_learning.hpp"

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

}  // namespace

int draw_with_first_leaf(const LatentTreeSampler& sampler,
                         RandomStream& stream,
                         std::vector<int>& leaves) {
  int k = sampler.draw(stream, leaves);
  while (leaves.front() == 0) k = sampler.draw(stream, leaves);
  return k;
}

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
  std::vector<int> drawn;
  std::vector<int> count(static_cast<std::size_t>(leaves));
  ArrayXd rewarded(leaves);  // sum of g x
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
    std::fill(count.begin(), count.end(), 0);
    rewarded.setZero();
    double rewards = 0;
    for (int i = 0; i < options.batch; ++i) {
      const int k = draw_with_first_leaf(sampler, stream, drawn);
      const double g = options.rewards[static_cast<std::size_t>(k)];
      rewards += g;
      for (std::size_t l = 0; l < drawn.size(); ++l) {
        count[l] += drawn[l];
        rewarded[static_cast<Index>(l)] += g * drawn[l];
      }
    }
    gx[kPlain] = rewarded / batch;
    gx[kCentred].resize(leaves);
    for (Index l = 0; l < leaves; ++l) {
      const double product = rewards * count[static_cast<std::size_t>(l)] / batch;
      gx[kCentred][l] = (rewarded[l] - product) / (batch - 1);
    }
    for (const std::size_t u : {kPlain, kCentred}) {
      if (record < steps.size()) units[u].saw(gx[u]);
      units[u].step(gx[u], options.eta, time);
    }
  }
  const auto last = static_cast<double>(steps.back());
  return {units[kPlain].record(last, batch), units[kCentred].record(last, batch)};
}

}  // namespace attica
