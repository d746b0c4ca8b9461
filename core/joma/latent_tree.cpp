#include "attica/core/joma/latent_tree.hpp"

#include <cmath>

#include "attica/core/error.hpp"

namespace attica {

int LatentTree::ancestor_height(Eigen::Index l, Eigen::Index m) const {
  int height = 0;
  while (l != m && height < depth) {
    l /= 2;
    m /= 2;
    ++height;
    if (height == depth) break;  // above the children of the root is the root
  }
  return height;
}

void validate(const LatentTree& tree) {
  constexpr int kDeepest = 24;
  constexpr double kSumTolerance = 1e-9;
  require(tree.depth >= 1 && tree.depth <= kDeepest, "model.depth", tree.depth, "1 <= depth <= 24");
  require(tree.prior.size() >= 1, "model.root_prior", 0, "at least one class");
  for (const double p : tree.prior) {
    require(std::isfinite(p) && p >= 0, "model.root_prior", p, "finite probabilities >= 0");
  }
  const double sum = tree.prior.sum();
  require(std::abs(sum - 1) <= kSumTolerance,
          "model.root_prior",
          sum,
          "probabilities that sum to 1 within 1e-9");
  require(tree.root_child.rows() >= 1 && tree.root_child.cols() == tree.prior.size(),
          "model.root_child",
          static_cast<double>(tree.root_child.cols()),
          "rows with one probability per class");
  for (const double q : tree.root_child.reshaped()) {
    require(q >= 0 && q <= 1, "model.root_child", q, "0 <= q <= 1");
  }
  require(tree.rho >= -1 && tree.rho <= 1, "rho", tree.rho, "-1 <= rho <= 1");
}

LatentTree bit_tree(int depth, int classes, double rho, double low, double high) {
  require(classes >= 2, "model.classes", classes, "classes >= 2");
  LatentTree tree{.depth = depth,
                  .prior = Eigen::VectorXd::Constant(classes, 1.0 / classes),
                  .root_child = Eigen::MatrixXd(2, classes),
                  .rho = rho};
  for (int a = 0; a < 2; ++a) {
    for (int k = 0; k < classes; ++k) tree.root_child(a, k) = ((k >> a) & 1) != 0 ? high : low;
  }
  validate(tree);
  return tree;
}

}  // namespace attica
