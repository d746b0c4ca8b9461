#include "attica/theory/trees/tree_contexts.hpp"

#include <algorithm>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/theory/trees/sequence_laws.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr double kMostContexts = 65536;

/// E_{P_l} KL(p || f) of tables: contexts, laws p and log f.
double mean_divergence(const MatrixXd& contexts, const MatrixXd& p, const MatrixXd& log_f) {
  double total = 0;
  for (Index m = 0; m < p.cols(); ++m) {
    for (Index x = 0; x < p.rows(); ++x) {
      const double weight = contexts(x, m) * p(x, m);
      if (weight > 0) total += weight * (std::log(p(x, m)) - log_f(x, m));
    }
  }
  return total / static_cast<double>(p.cols());
}

double mean_table_loss(const VectorXd& law, const MatrixXd& log_f) {
  return -(law.transpose() * log_f).sum() / static_cast<double>(log_f.cols());
}

}  // namespace

TreeContexts::TreeContexts(const FilteredTree& tree) : tree_(tree), leaves_(tree.leaves()) {
  require(tree.sequences() <= kMostContexts,
          "model.depth",
          tree.depth,
          "at most 2^16 sequences, alphabet^(children^depth), on which networks are measured");
  const Index q = tree.alphabet;
  for (int k = 0; k <= tree.depth; ++k) laws_.push_back(sequence_law(tree, k));
  full_ = laws_.back();
  Index step = full_.size();
  contexts_.resize(full_.size(), leaves_);
  letters_.resize(full_.size(), leaves_);
  for (Index m = 0; m < leaves_; ++m) {
    step /= q;
    strides_.push_back(step);
    VectorXd frequencies = VectorXd::Zero(q);
    for (Index x = 0; x < full_.size(); ++x) frequencies[x / step % q] += full_[x];
    for (Index x = 0; x < full_.size(); ++x) {
      const Index rest = x - x / step % q * step;
      contexts_(x, m) = 0;
      for (Index a = 0; a < q; ++a) contexts_(x, m) += full_[rest + a * step];
      letters_(x, m) = std::log(std::max(frequencies[x / step % q], 1e-300));
    }
  }
  for (int k = 0; k <= tree.depth; ++k) {
    MatrixXd bp(full_.size(), leaves_);
    MatrixXd window(full_.size(), leaves_);
    for (Index m = 0; m < leaves_; ++m) {
      bp.col(m) =
          leaf_law(laws_[static_cast<std::size_t>(k)], q, strides_[static_cast<std::size_t>(m)]);
      // The law of the leaf given its block, of the law of the block.
      const Index length = tree.nodes(k);
      const VectorXd block = block_law_of(m, k);
      Index inner = 1;
      for (Index i = m % length; i + 1 < length; ++i) inner *= q;
      const VectorXd law = leaf_law(block, q, inner);
      const Index unit = stride(m / length * length + length - 1);
      for (Index x = 0; x < full_.size(); ++x) window(x, m) = law[x / unit % block.size()];
    }
    own_.push_back(masked_loss(
        laws_[static_cast<std::size_t>(k)], laws_[static_cast<std::size_t>(k)], tree.alphabet));
    bp_.push_back(std::move(bp));
    windows_.push_back(std::move(window));
    double loss = 0;
    for (Index m = 0; m < leaves_; ++m) {
      for (Index x = 0; x < full_.size(); ++x) {
        if (full_[x] > 0) loss -= full_[x] * std::log(windows_.back()(x, m));
      }
    }
    window_.push_back(loss / static_cast<double>(leaves_));
  }
}

/// P_l of the block of height `level` that has the leaf m.
VectorXd TreeContexts::block_law_of(Index m, int level) const {
  const Index length = tree_.nodes(level);
  const Index unit = stride(m / length * length + length - 1);
  Index size = 1;
  for (Index i = 0; i < length; ++i) size *= tree_.alphabet;
  VectorXd law = VectorXd::Zero(size);
  for (Index x = 0; x < full_.size(); ++x) law[x / unit % size] += full_[x];
  return law;
}

TreeMeasures TreeContexts::measure(const MatrixXd& table) const {
  TreeMeasures result;
  const MatrixXd laws = table.array().exp();
  for (int k = 0; k <= tree_.depth; ++k) {
    const auto at = static_cast<std::size_t>(k);
    result.data_loss.push_back(mean_table_loss(laws_[at], table));
    result.bp_divergence.push_back(mean_divergence(contexts_, bp_[at], table));
    result.window_divergence.push_back(mean_divergence(contexts_, windows_[at], table));
    // Averaged over what lies outside the block.
    const Index length = tree_.nodes(k);
    double loss = 0;
    for (Index m = 0; m < leaves_; ++m) {
      const VectorXd block = block_law_of(m, k);
      const Index unit = stride(m / length * length + length - 1);
      VectorXd sums = VectorXd::Zero(block.size());
      VectorXd weights = VectorXd::Zero(block.size());
      for (Index x = 0; x < full_.size(); ++x) {
        const Index b = x / unit % block.size();
        sums[b] += contexts_(x, m) * laws(x, m);
        weights[b] += contexts_(x, m);
      }
      for (Index b = 0; b < block.size(); ++b) {
        if (block[b] > 0) loss -= block[b] * std::log(sums[b] / weights[b]);
      }
    }
    result.block_loss.push_back(loss / static_cast<double>(leaves_));
  }
  return result;
}

std::vector<double> TreeContexts::gains(const TreeMeasures& measures) const {
  std::vector<double> gains;
  for (std::size_t k = 1; k < window_.size(); ++k) {
    gains.push_back((measures.block_loss[k - 1] - measures.block_loss[k]) /
                    (window_[k - 1] - window_[k]));
  }
  return gains;
}

MatrixXd TreeContexts::bp_table(int level) const {
  return bp_[static_cast<std::size_t>(level)].array().max(1e-300).log();
}
MatrixXd TreeContexts::window_table(int level) const {
  return windows_[static_cast<std::size_t>(level)].array().max(1e-300).log();
}

MatrixXd TreeContexts::powers(const MatrixXd& table, double alpha) const {
  const Index q = tree_.alphabet;
  MatrixXd result = alpha * table + (1 - alpha) * letters_;
  for (Index m = 0; m < leaves_; ++m) {
    const Index stride = strides_[static_cast<std::size_t>(m)];
    for (Index x = 0; x < result.rows(); ++x) {
      if (x / stride % q != 0) continue;
      double sum = 0;
      for (Index a = 0; a < q; ++a) sum += std::exp(result(x + a * stride, m));
      for (Index a = 0; a < q; ++a) result(x + a * stride, m) -= std::log(sum);
    }
  }
  return result;
}

MatrixXd TreeContexts::blurred(const MatrixXd& table, double loss) const {
  // The loss is convex in alpha and falls up to its minimum, at or beyond 1 for a trained end.
  constexpr int kHalvings = 24;
  double low = 0;
  double high = 1;
  if (mean_table_loss(full_, letters_) <= loss) return letters_;
  if (mean_table_loss(full_, table) >= loss) return table;
  for (int k = 0; k < kHalvings; ++k) {
    const double middle = (low + high) / 2;
    (mean_table_loss(full_, powers(table, middle)) > loss ? low : high) = middle;
  }
  return powers(table, high);
}

}  // namespace attica
