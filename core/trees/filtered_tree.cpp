#include "attica/core/trees/filtered_tree.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "attica/core/error.hpp"
#include "attica/core/random.hpp"

namespace attica {

using Eigen::Index;

namespace {

constexpr double kSumTolerance = 1e-9;
constexpr double kMostLeaves = 65536;
constexpr double kMostTuples = 1048576;

void require_probabilities(const Eigen::VectorXd& row, const char* name, const std::string& where) {
  for (const double p : row) {
    require(std::isfinite(p) && p >= 0, name, p, "finite probabilities >= 0" + where);
  }
  require(std::abs(row.sum() - 1) <= kSumTolerance,
          name,
          row.sum(),
          "probabilities that sum to 1 within 1e-9" + where);
}

Index power(Index base, int exponent) {
  Index result = 1;
  for (int k = 0; k < exponent; ++k) result *= base;
  return result;
}

}  // namespace

Index FilteredTree::nodes(int level) const { return power(children, level); }

double FilteredTree::sequences() const { return std::pow(alphabet, static_cast<double>(leaves())); }

void validate(const FilteredTree& tree) {
  require(tree.alphabet >= 2, "model.alphabet", tree.alphabet, "alphabet >= 2");
  require(tree.children >= 2, "model.children", tree.children, "children >= 2");
  require(tree.depth >= 1, "model.depth", tree.depth, "depth >= 1");
  require(std::pow(tree.children, tree.depth) <= kMostLeaves,
          "model.depth",
          tree.depth,
          "at most 65536 leaves, children^depth");
  const double tuples = std::pow(tree.alphabet, tree.children);
  require(tuples <= kMostTuples,
          "model.children",
          tree.children,
          "at most 2^20 tuples, alphabet^children");
  require(tree.root.size() == tree.alphabet,
          "model.root",
          static_cast<double>(tree.root.size()),
          fmt::format("one probability for each of the {} letters, or [] for a uniform root",
                      tree.alphabet));
  require_probabilities(tree.root, "model.root", "");
  require(tree.rules.size() == 1 || std::ssize(tree.rules) == tree.depth,
          "model.rule",
          static_cast<double>(tree.rules.size()),
          fmt::format("one rule, or {}, one for each level", tree.depth));
  for (const Eigen::MatrixXd& rule : tree.rules) {
    require(rule.rows() == tree.alphabet && static_cast<double>(rule.cols()) == tuples,
            "model.rule",
            static_cast<double>(rule.cols()),
            fmt::format("{} rows of {} probabilities", tree.alphabet, tuples));
    for (Index y = 0; y < rule.rows(); ++y) {
      require_probabilities(rule.row(y), "model.rule", fmt::format(", row {}", y + 1));
    }
  }
}

std::vector<Eigen::MatrixXd> draw_rules(const DrawnRules& law, int count) {
  const Index q = law.alphabet;
  const Index all = power(q, law.children);
  require(law.tuples_each >= 0 && law.tuples_each * q <= all,
          "model.tuples",
          static_cast<double>(law.tuples_each),
          fmt::format("at most alphabet^(children-1) = {}", all / q));
  std::vector<Eigen::MatrixXd> rules;
  for (int level = 0; level < count; ++level) {
    RandomStream stream(
        {.seed = law.seed, .id = StreamId::model, .step = static_cast<std::uint64_t>(level)});
    std::vector<Index> order(static_cast<std::size_t>(all));
    std::iota(order.begin(), order.end(), 0);
    const bool each_once = law.tuples_each > 0;
    for (std::size_t k = order.size() - 1; each_once && k > 0; --k) {
      std::swap(order[k], order[stream.below(k + 1)]);
    }
    Eigen::MatrixXd rule = Eigen::MatrixXd::Zero(q, all);
    const Index each = each_once ? law.tuples_each : all;
    for (Index y = 0; y < q; ++y) {
      Eigen::VectorXd z(each);
      for (double& value : z) value = law.sigma * stream.normal();
      z = (z.array() - z.maxCoeff()).exp();
      z /= z.sum();
      for (Index k = 0; k < each; ++k) {
        rule(y, order[static_cast<std::size_t>(each_once ? y * each + k : k)]) = z[k];
      }
    }
    rules.push_back(rule);
  }
  return rules;
}

Eigen::MatrixXd broadcast_rule(int alphabet, int children, double rho) {
  const Index all = power(alphabet, children);
  const double other = (1 - rho) / alphabet;
  require(other >= 0 && rho + other >= 0, "model.rho", rho, "-1/(alphabet-1) <= rho <= 1");
  Eigen::MatrixXd rule = Eigen::MatrixXd::Ones(alphabet, all);
  for (Index y = 0; y < alphabet; ++y) {
    for (Index c = 0; c < all; ++c) {
      Index rest = c;
      for (int i = 0; i < children; ++i, rest /= alphabet) {
        rule(y, c) *= rest % alphabet == y ? rho + other : other;
      }
    }
  }
  return rule;
}

}  // namespace attica
