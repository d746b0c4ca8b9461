#include "attica/core/joma/tokens.hpp"

#include <cmath>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::Index;
using Eigen::VectorXd;

VectorXd JomaTokens::delta() const { return tokens.transpose() * classes.cwiseProduct(rewards); }

VectorXd JomaTokens::variance(double context) const {
  const VectorXd weights = classes.array() * rewards.array().square();
  const Eigen::ArrayXXd p = tokens.array();
  const Eigen::MatrixXd second = p.square() + p * (1 - p) / context;
  return second.transpose() * weights - delta().cwiseAbs2();
}

JomaTokens JomaTokens::with_delta(const std::vector<double>& delta) {
  const Eigen::Map<const VectorXd> d(delta.data(), static_cast<Index>(delta.size()));
  double total = d.cwiseAbs().sum();
  if (total == 0) total = 1;
  const double common = 0.5 * total / static_cast<double>(d.size());
  // g_n P(l|n)/2 of the two classes: max(Delta, 0) + common and max(-Delta, 0) + common.
  JomaTokens made{.classes = VectorXd::Constant(2, 0.5),
                  .rewards = VectorXd(2),
                  .tokens = Eigen::MatrixXd(2, d.size())};
  made.tokens.row(0) = d.cwiseMax(0.0).array() + common;
  made.tokens.row(1) = (-d).cwiseMax(0.0).array() + common;
  const VectorXd sums = made.tokens.rowwise().sum();
  made.tokens.array().colwise() /= sums.array();
  made.rewards << 2 * sums[0], -2 * sums[1];
  return made;
}

void validate(const JomaTokens& tokens) {
  constexpr double kSumTolerance = 1e-9;
  const auto probability_rows = [&](const Eigen::MatrixXd& p, const char* name) {
    for (const double x : p.reshaped()) {
      require(std::isfinite(x) && x >= 0, name, x, "finite probabilities >= 0");
    }
    for (const double sum : VectorXd(p.rowwise().sum())) {
      require(
          std::abs(sum - 1) <= kSumTolerance, name, sum, "probabilities that sum to 1 within 1e-9");
    }
  };
  probability_rows(tokens.classes.transpose(), "model.classes");
  probability_rows(tokens.tokens, "model.token_law");
  for (const double g : tokens.rewards) {
    require(std::isfinite(g), "model.rewards", g, "finite numbers");
  }
  require(tokens.rewards.size() == tokens.classes.size() &&
              tokens.tokens.rows() == tokens.classes.size(),
          "model.rewards",
          static_cast<double>(tokens.rewards.size()),
          "one reward and one token law per class");
}

}  // namespace attica
