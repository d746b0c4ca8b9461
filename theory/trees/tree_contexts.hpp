#pragma once
/// @file
/// @brief What a predictor of masked leaves has learnt of a tree, measured on all contexts with
/// their exact weights.
///
/// With f(a | m, others) the predictor, b_k the law of a leaf given all others in data of level k,
/// w_k given the others of its block of s^k leaves, P_l the law of the whole tree:
///     data_loss_k         = E_{P_k} -log f                                  >= own_k      (B1)
///     bp_divergence_k     = E_{P_l} KL(b_k || f)
///     window_divergence_k = E_{P_l} KL(w_k || f)
///     block_loss_k        = E_{P_l} -log E_{P_l}[f | block of m]            >= window_k   (B3)
///     gain_k = (block_loss_{k-1} - block_loss_k) / (window_{k-1} - window_k)
/// so that the loss is block_loss_0 minus the sum of gain_k times the steps of the windows. Derived
/// here.

#include <Eigen/Core>
#include <vector>

#include "attica/core/trees/filtered_tree.hpp"

namespace attica {

/// Losses and divergences of a predictor by level 0..depth, nats per masked leaf.
struct TreeMeasures {
  std::vector<double> data_loss, bp_divergence, window_divergence, block_loss;

  double test_loss() const { return data_loss.back(); }
};

/// @brief All contexts of a tree. A table holds log f(x_m | the other leaves) in row x, column m:
/// one entry for every context and letter. @shape{q^n x n}
class TreeContexts {
 public:
  /// @throws Error (input, `model.depth`) for more than 2^16 sequences
  explicit TreeContexts(const FilteredTree& tree);

  const std::vector<double>& own() const { return own_; }        ///< own_k by level
  const std::vector<double>& window() const { return window_; }  ///< window_k by level
  Eigen::Index leaves() const { return leaves_; }
  Eigen::Index sequences() const { return full_.size(); }
  /// q^(n-1-m): what the number of a sequence grows by with the letter at m.
  Eigen::Index stride(Eigen::Index m) const { return strides_[static_cast<std::size_t>(m)]; }

  TreeMeasures measure(const Eigen::MatrixXd& table) const;
  /// @brief gain_k for k = 1..depth, in this order.
  std::vector<double> gains(const TreeMeasures& measures) const;
  /// @brief The tables of b_k and w_k.
  Eigen::MatrixXd bp_table(int level) const;
  Eigen::MatrixXd window_table(int level) const;
  /// @brief Laws proportional to u^(1 - alpha) f^alpha, u the frequencies of letters at the leaf,
  /// with alpha in [0, 1] such that the loss on the whole tree is as given.
  Eigen::MatrixXd blurred(const Eigen::MatrixXd& table, double loss) const;

 private:
  Eigen::MatrixXd powers(const Eigen::MatrixXd& table, double alpha) const;
  Eigen::VectorXd block_law_of(Eigen::Index m, int level) const;

  FilteredTree tree_;
  Eigen::Index leaves_;
  std::vector<Eigen::Index> strides_;
  std::vector<Eigen::VectorXd> laws_;          ///< P_k
  Eigen::VectorXd full_;                       ///< P_l
  Eigen::MatrixXd contexts_;                   ///< P_l of the other leaves, in the form of a table
  Eigen::MatrixXd letters_;                    ///< log u, in the form of a table
  std::vector<Eigen::MatrixXd> bp_, windows_;  ///< b_k and w_k
  std::vector<double> own_, window_;
};

}  // namespace attica
