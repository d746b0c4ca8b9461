#pragma once
/// @file
/// @brief Sums over all states of the nodes of a small latent tree.

#include <Eigen/Core>
#include <cstdint>

#include "attica/core/joma/latent_tree.hpp"

namespace attica::testing {

/// @brief The joint law of the class and a leaf, given that leaf 0 is 1.
class EnumeratedPair {
 public:
  EnumeratedPair(const LatentTree& tree, Eigen::Index leaf)
      : joint_(Eigen::MatrixXd::Zero(tree.classes(), 2)) {
    Eigen::Index nodes = 0;
    for (int level = 1; level <= tree.depth; ++level) nodes += tree.nodes(level);
    for (std::uint64_t state = 0; state < (std::uint64_t{1} << nodes); ++state) {
      const auto value = [&](Eigen::Index i) { return static_cast<Eigen::Index>(state >> i & 1U); };
      double edges = 1;
      Eigen::Index above = 0;  // the first node of the level above
      Eigen::Index first = tree.nodes(1);
      for (int level = 2; level <= tree.depth; ++level) {
        for (Eigen::Index i = 0; i < tree.nodes(level); ++i) {
          const bool same = value(first + i) == value(above + i / 2);
          edges *= 0.5 * (same ? 1 + tree.rho : 1 - tree.rho);
        }
        above = first;
        first += tree.nodes(level);
      }
      if (value(above) == 0) continue;
      for (Eigen::Index k = 0; k < tree.classes(); ++k) {
        double p = tree.prior[k] * edges;
        for (Eigen::Index a = 0; a < tree.nodes(1); ++a) {
          p *= value(a) == 1 ? tree.root_child(a, k) : 1 - tree.root_child(a, k);
        }
        joint_(k, value(above + leaf)) += p;
      }
    }
    joint_ /= joint_.sum();
  }
  double given_query(Eigen::Index k, Eigen::Index value) const { return joint_(k, value); }

 private:
  Eigen::MatrixXd joint_;
};

}  // namespace attica::testing
