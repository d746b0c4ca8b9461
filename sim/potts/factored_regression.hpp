#pragma once
/// @file
/// @brief Factored attention with fields, fitted to a fixed sample by L-BFGS.
///
/// Logits h_ia = b_ia + sum_{j != i} A_ij V[a, s_j]: the model of pseudo-likelihood whose coupling
/// matrices are all multiples of one V. The objective is the weighted mean over sequences and sites
/// of -ln softmax(h_i)[s_i] plus (lambda/2) sum_{i != j} |A_ij V|^2 / L, the penalty that
/// general couplings W_ij = A_ij V would have, so that both fits are regularised alike.
///
/// All sequences go through matrix products at once: with S the seen values V[:, s_j] of all
/// sequences below each other (M C x L), the logits are S A^T.
///
/// Sources: N. Bhattacharya et al. 2020 (doi:10.1101/2020.12.21.423882); R. Rende, F. Gerace,
/// A. Laio, S. Goldt 2024 (arXiv:2304.07235).

#include <Eigen/Core>
#include <vector>

#include "attica/core/potts/enumeration.hpp"
#include "attica/core/potts/model.hpp"
#include "attica/solvers/lbfgs.hpp"

namespace attica {

/// Factored attention and the fields of the sites.
struct BiasedAttention {
  FactoredAttention attention;
  Eigen::MatrixXd biases;  ///< b, @shape{C x L}
};

/// @brief The objective over x = (A by columns, V by columns, b by columns).
class FactoredRegression {
 public:
  /// @param lambda, bias_lambda penalties >= 0
  FactoredRegression(const WeightedSequences& data,
                     Eigen::Index colours,
                     double lambda,
                     double bias_lambda);

  Eigen::Index parameters() const {
    return sites_ * sites_ + colours_ * colours_ + colours_ * sites_;
  }
  /// @param gradient parameters() numbers, or null
  double operator()(const double* x, double* gradient);
  BiasedAttention unpacked(const double* x) const;

 private:
  Eigen::Index sites_;
  Eigen::Index colours_;
  double lambda_;
  double bias_lambda_;
  WeightedSequences data_;
  Eigen::MatrixXd seen_, logits_, pull_;  ///< of a chunk of sequences
};

/// @brief Where the search ended. The loss is not convex in A and V together.
struct FactoredRegressionFit {
  BiasedAttention model;
  double objective = 0;
  bool converged = false;
  int iterations = 0;
};

/// @brief Fields alone, from frequencies with the given total weight of pseudo-counts spread evenly
/// over the colours: the best prediction that sees no other site.
/// @param share in (0, 1]
BiasedAttention independent_sites(const WeightedSequences& data,
                                  Eigen::Index colours,
                                  double share);

/// @brief Minimises the objective from the fields of independent sites and the direction in which
/// couplings grow first, the leading pair (A, V) of the covariances of the colours.
FactoredRegressionFit fit_factored_regression(const WeightedSequences& data,
                                              Eigen::Index colours,
                                              double lambda,
                                              double bias_lambda,
                                              const LbfgsOptions& options);

/// @brief Weighted mean over sequences and sites of -ln softmax(logits)[s_i], nats.
double pseudo_likelihood_loss(const BiasedAttention& model, const WeightedSequences& data);

}  // namespace attica
