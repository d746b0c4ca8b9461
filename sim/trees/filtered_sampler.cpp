#include "attica/sim/trees/filtered_sampler.hpp"

#include <algorithm>
#include <cmath>

namespace attica {

using Eigen::Index;

namespace {

/// The first number whose cumulative probability is above u: never one of probability 0.
int first_above(const double* cumulative, Index count, double u) {
  return static_cast<int>(std::upper_bound(cumulative, cumulative + count - 1, u) - cumulative);
}

/// Cumulative sums, whose last entries of rounding are 1.
void accumulate_row(double* row, Index count) {
  Index last = 0;
  for (Index k = 0; k < count; ++k) {
    if (row[k] > 0) last = k;
    if (k > 0) row[k] += row[k - 1];
  }
  std::fill(row + last, row + count, 1.0);
}

}  // namespace

FilteredSampler::FilteredSampler(const FilteredTree& tree, int level)
    : children_(tree.children),
      alphabet_(tree.alphabet),
      head_(tree.depth - level),
      depth_(tree.depth),
      root_(tree.root.begin(), tree.root.end()) {
  accumulate_row(root_.data(), std::ssize(root_));
  for (int d = 0; d < depth_; ++d) {
    cumulative_.emplace_back(tree.rule(d).transpose());
    for (int y = 0; y < alphabet_; ++y) {
      accumulate_row(cumulative_.back().col(y).data(), cumulative_.back().rows());
    }
  }
}

int FilteredSampler::tuple(int level, int letter, RandomStream& stream) const {
  const Eigen::MatrixXd& rule = cumulative_[static_cast<std::size_t>(level)];
  return first_above(rule.col(letter).data(), rule.rows(), stream.uniform());
}

int FilteredSampler::draw(RandomStream& stream, std::vector<int>& leaves) const {
  const int root = first_above(root_.data(), std::ssize(root_), stream.uniform());
  const auto power = [&](int exponent) {
    std::size_t result = 1;
    for (int k = 0; k < exponent; ++k) result *= static_cast<std::size_t>(children_);
    return result;
  };
  const std::size_t blocks = power(head_);
  const std::size_t length = power(depth_ - head_);
  leaves.resize(blocks * length);
  for (std::size_t block = 0; block < blocks; ++block) {
    int letter = root;
    std::size_t stride = blocks;
    for (int d = 0; d < head_; ++d) {
      stride /= static_cast<std::size_t>(children_);
      const auto child = static_cast<int>(block / stride % static_cast<std::size_t>(children_));
      int c = tuple(d, letter, stream);
      for (int i = children_; --i > child;) c /= alphabet_;
      letter = c % alphabet_;
    }
    // Below the head, level by level: the leaves' places hold the letters of a level, from the
    // back so that a parent is read before its children are written over it.
    int* const place = leaves.data() + block * length;
    place[0] = letter;
    std::size_t nodes = 1;
    for (int d = head_; d < depth_; ++d, nodes *= static_cast<std::size_t>(children_)) {
      for (std::size_t node = nodes; node-- > 0;) {
        int c = tuple(d, place[node], stream);
        for (int i = children_; i-- > 0; c /= alphabet_) {
          place[node * static_cast<std::size_t>(children_) + static_cast<std::size_t>(i)] =
              c % alphabet_;
        }
      }
    }
  }
  return root;
}

}  // namespace attica
