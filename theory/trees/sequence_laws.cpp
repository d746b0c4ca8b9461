#include "attica/theory/trees/sequence_laws.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attica/core/error.hpp"
#include "attica/theory/trees/belief.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// The law of independent parts, the first most significant.
VectorXd product_law(const VectorXd& first, const VectorXd& second) {
  VectorXd law(first.size() * second.size());
  for (Index k = 0; k < first.size(); ++k) {
    law.segment(k * second.size(), second.size()) = first[k] * second;
  }
  return law;
}

/// Laws of the leaves below a node of that level, a column for every letter of it.
MatrixXd laws_below(const FilteredTree& tree, int level) {
  if (level == tree.depth) return MatrixXd::Identity(tree.alphabet, tree.alphabet);
  const MatrixXd children = laws_below(tree, level + 1);
  MatrixXd laws;
  for (Index c = 0; c < tree.tuples(); ++c) {
    if (tree.rule(level).col(c).isZero(0)) continue;
    Index stride = tree.tuples();
    VectorXd tuple = VectorXd::Ones(1);
    for (int i = 0; i < tree.children; ++i) {
      stride /= tree.alphabet;
      tuple = product_law(tuple, children.col(c / stride % tree.alphabet));
    }
    if (laws.size() == 0) laws = MatrixXd::Zero(tuple.size(), tree.alphabet);
    for (Index y = 0; y < tree.alphabet; ++y) {
      if (tree.rule(level)(y, c) > 0) laws.col(y) += tree.rule(level)(y, c) * tuple;
    }
  }
  return laws;
}

}  // namespace

MatrixXd sequence_laws(const FilteredTree& tree, int level) {
  require(level >= 0 && level <= tree.depth,
          "level",
          level,
          fmt::format("0 <= level <= depth = {}", tree.depth));
  require(tree.sequences() <= kMostSequences,
          "model.depth",
          tree.depth,
          "at most 2^20 sequences, alphabet^(children^depth), to be enumerated");
  const int head = tree.depth - level;
  const MatrixXd block = laws_below(tree, head);
  const std::vector<MatrixXd> paths = paths_from_root(tree, head);
  MatrixXd laws(static_cast<Index>(tree.sequences()), tree.alphabet);
  for (Index r = 0; r < tree.alphabet; ++r) {
    VectorXd law = VectorXd::Ones(1);
    for (const MatrixXd& path : paths) {
      law = product_law(law, block * path.row(r).transpose());
    }
    laws.col(r) = law;
  }
  return laws;
}

VectorXd sequence_law(const FilteredTree& tree, int level) {
  return sequence_laws(tree, level) * tree.root;
}

std::vector<FilteredTree> blocks(const FilteredTree& tree, int level) {
  const int head = tree.depth - level;
  std::vector<FilteredTree> all;
  for (const MatrixXd& path : paths_from_root(tree, head)) {
    FilteredTree block = tree;
    block.depth = level;
    block.root = path.transpose() * tree.root;
    if (tree.rules.size() > 1) block.rules.assign(tree.rules.begin() + head, tree.rules.end());
    all.push_back(std::move(block));
  }
  return all;
}

VectorXd leaf_law(const VectorXd& law, Index alphabet, Index stride) {
  VectorXd conditional(law.size());
  for (Index high = 0; high < law.size(); high += stride * alphabet) {
    for (Index low = high; low < high + stride; ++low) {
      double sum = 0;
      for (Index a = 0; a < alphabet; ++a) sum += law[low + a * stride];
      const double scale = sum > 0 ? 1 / sum : 0;
      for (Index a = 0; a < alphabet; ++a) {
        conditional[low + a * stride] = law[low + a * stride] * scale;
      }
    }
  }
  return conditional;
}

double masked_loss(const VectorXd& data, const VectorXd& predictor, int alphabet) {
  double total = 0;
  int leaves = 0;
  for (Index stride = 1; stride < data.size(); stride *= alphabet, ++leaves) {
    const VectorXd law = leaf_law(predictor, alphabet, stride);
    for (Index x = 0; x < data.size(); ++x) {
      if (data[x] > 0) total -= data[x] * std::log(law[x]);
    }
  }
  return total / leaves;
}

VectorXd wrong_predictor(const FilteredTree& tree, int level, WrongPredictor error) {
  switch (error) {
    case WrongPredictor::level_below:
      return sequence_law(tree, std::max(0, level - 1));
    case WrongPredictor::level_above:
      return sequence_law(tree, std::min(tree.depth, level + 1));
    case WrongPredictor::children_exchanged: {
      FilteredTree other = tree;
      for (std::size_t k = 0; k < tree.rules.size(); ++k) {
        for (Index c = 0; c < tree.tuples(); ++c) {
          Index backwards = 0;
          Index rest = c;
          for (int i = 0; i < tree.children; ++i, rest /= tree.alphabet) {
            backwards = backwards * tree.alphabet + rest % tree.alphabet;
          }
          other.rules[k].col(c) = tree.rules[k].col(backwards);
        }
      }
      return sequence_law(other, level);
    }
    case WrongPredictor::heads_alone: {
      VectorXd law = VectorXd::Ones(1);
      for (FilteredTree block : blocks(tree, level)) {
        block.root.setConstant(1.0 / tree.alphabet);
        law = product_law(law, sequence_law(block, level));
      }
      return law;
    }
  }
  return {};
}

}  // namespace attica
