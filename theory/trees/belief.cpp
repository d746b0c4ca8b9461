#include "attica/theory/trees/belief.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// The law of child i of a node, given the node's letter: a rule summed over the other children.
MatrixXd child_law(const MatrixXd& rule, Index q, int children, int i) {
  MatrixXd law = MatrixXd::Zero(q, q);
  Index stride = 1;
  for (int k = i + 1; k < children; ++k) stride *= q;
  for (Index c = 0; c < rule.cols(); ++c) law.col(c / stride % q) += rule.col(c);
  return law;
}

/// Divides by the sum, which it returns; 0 if there is none.
template <class Column>
double normalise_message(Column&& message) {
  const double sum = message.sum();
  if (sum > 0) message /= sum;
  return sum;
}

}  // namespace

std::vector<MatrixXd> paths_from_root(const FilteredTree& tree, int level) {
  const Index q = tree.alphabet;
  std::vector<MatrixXd> paths = {MatrixXd::Identity(q, q)};
  for (int d = 0; d < level; ++d) {
    std::vector<MatrixXd> next;
    for (const MatrixXd& path : paths) {
      for (int i = 0; i < tree.children; ++i) {
        next.emplace_back(path * child_law(tree.rule(d), q, tree.children, i));
      }
    }
    paths = std::move(next);
  }
  return paths;
}

BeliefPropagation::BeliefPropagation(const FilteredTree& tree, int level)
    : tree_(tree), level_(level), head_level_(tree.depth - level) {
  require(level >= 0 && level <= tree.depth,
          "level",
          level,
          fmt::format("0 <= level <= depth = {}", tree.depth));
  paths_ = paths_from_root(tree, head_level_);
  const Index q = tree.alphabet;
  for (int d = head_level_; d <= tree.depth; ++d) {
    up_.emplace_back(q, tree.nodes(d));
    down_.emplace_back(q, tree.nodes(d));
    if (d == tree.depth) break;
    std::vector<Entry> entries;
    std::vector<int> letters;
    for (Index c = 0; c < tree.tuples(); ++c) {
      for (Index y = 0; y < q; ++y) {
        if (tree.rule(d)(y, c) == 0) continue;
        entries.push_back({.parent = y, .probability = tree.rule(d)(y, c)});
        Index stride = tree.tuples();
        for (int i = 0; i < tree.children; ++i) {
          stride /= q;
          letters.push_back(static_cast<int>(c / stride % q));
        }
      }
    }
    entries_.push_back(std::move(entries));
    letters_.push_back(std::move(letters));
  }
  at_root_.resize(q, tree.nodes(head_level_));
  before_.resize(q, tree.nodes(head_level_) + 1);
  after_.resize(q, tree.nodes(head_level_) + 1);
}

void BeliefPropagation::pass(std::span<const int> leaves) {
  require(std::ssize(leaves) == tree_.leaves(),
          "leaves",
          static_cast<double>(leaves.size()),
          fmt::format("{} leaves", tree_.leaves()));
  MatrixXd& seen = up_.back();
  for (Index m = 0; m < seen.cols(); ++m) {
    const int letter = leaves[static_cast<std::size_t>(m)];
    require(letter >= -1 && letter < tree_.alphabet,
            "leaves",
            letter,
            fmt::format("letters 0..{}, or -1 for a hidden one", tree_.alphabet - 1));
    seen.col(m).setConstant(letter < 0 ? 1 : 0);
    if (letter >= 0) seen(letter, m) = 1;
  }
  log_evidence_ = 0;
  up();
  if (std::isfinite(log_evidence_)) root_and_heads();
  if (!std::isfinite(log_evidence_)) {
    std::string text;
    for (const int letter : leaves) text += letter < 0 ? "?" : fmt::format("{} ", letter);
    throw Error(ErrorKind::input,
                fmt::format("the leaves {} have probability 0 at level {}: expected a sequence "
                            "that the rules allow",
                            text,
                            level_),
                "leaves");
  }
  down();
}

void BeliefPropagation::up() {
  const int s = tree_.children;
  for (std::size_t d = entries_.size(); d-- > 0;) {
    MatrixXd& here = up_[d];
    const MatrixXd& below = up_[d + 1];
    const std::vector<Entry>& entries = entries_[d];
    for (Index node = 0; node < here.cols(); ++node) {
      double* message = here.col(node).data();
      std::fill_n(message, here.rows(), 0.0);
      const double* child = below.col(node * s).data();
      const int* letter = letters_[d].data();
      for (const Entry& entry : entries) {
        double product = entry.probability;
        for (int i = 0; i < s; ++i) product *= child[i * below.rows() + letter[i]];
        message[entry.parent] += product;
        letter += s;
      }
      log_evidence_ += std::log(normalise_message(here.col(node)));
    }
  }
}

void BeliefPropagation::root_and_heads() {
  const Index heads = at_root_.cols();
  const MatrixXd& up = up_.front();
  before_.col(0).setOnes();
  for (Index j = 0; j < heads; ++j) {
    at_root_.col(j).noalias() = paths_[static_cast<std::size_t>(j)] * up.col(j);
    before_.col(j + 1) = before_.col(j).cwiseProduct(at_root_.col(j));
    log_evidence_ += std::log(normalise_message(before_.col(j + 1)));
    if (!std::isfinite(log_evidence_)) return;
  }
  posterior_ = before_.col(heads).cwiseProduct(tree_.root);
  log_evidence_ += std::log(normalise_message(posterior_));
  if (!std::isfinite(log_evidence_)) return;
  after_.col(heads).setOnes();
  for (Index j = heads; j-- > 0;) {
    after_.col(j) = after_.col(j + 1).cwiseProduct(at_root_.col(j));
    normalise_message(after_.col(j));
  }
  for (Index j = 0; j < heads; ++j) {
    auto head = down_.front().col(j);
    head.noalias() =
        paths_[static_cast<std::size_t>(j)].transpose() *
        (tree_.root.array() * before_.col(j).array() * after_.col(j + 1).array()).matrix();
    normalise_message(head);
  }
}

void BeliefPropagation::down() {
  const int s = tree_.children;
  std::vector<double> after(static_cast<std::size_t>(s) + 1);
  for (std::size_t d = 0; d < entries_.size(); ++d) {
    const MatrixXd& here = down_[d];
    MatrixXd& below = down_[d + 1];
    const MatrixXd& up = up_[d + 1];
    const Index q = below.rows();
    below.setZero();
    for (Index node = 0; node < here.cols(); ++node) {
      const double* message = here.col(node).data();
      const double* child = up.col(node * s).data();
      double* out = below.col(node * s).data();
      const int* letter = letters_[d].data();
      for (const Entry& entry : entries_[d]) {
        double before = message[entry.parent] * entry.probability;
        if (before != 0) {
          after[static_cast<std::size_t>(s)] = 1;
          for (int i = s; i-- > 0;) {
            after[static_cast<std::size_t>(i)] =
                after[static_cast<std::size_t>(i) + 1] * child[i * q + letter[i]];
          }
          for (int i = 0; i < s; ++i) {
            out[i * q + letter[i]] += before * after[static_cast<std::size_t>(i) + 1];
            before *= child[i * q + letter[i]];
          }
        }
        letter += s;
      }
      for (int i = 0; i < s; ++i) normalise_message(below.col(node * s + i));
    }
  }
}

}  // namespace attica
