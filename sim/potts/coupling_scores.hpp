#pragma once
/// @file
/// @brief How strongly pairs of sites are coupled: Frobenius norms with average-product correction.

#include <Eigen/Core>

#include "attica/sim/potts/factored_regression.hpp"
#include "attica/sim/potts/pseudo_likelihood.hpp"

namespace attica {

/// @brief Raw scores F_ij = |(W_ij + W_ji^T)/2| in the gauge whose rows and columns add up to 0,
/// Frobenius norm over the colours other than 0, the gap. @shape{L x L}, zero diagonal
///
/// Source: M. Ekeberg, C. Lovkvist, Y. Lan, M. Weigt, E. Aurell 2013 (arXiv:1211.1281).
Eigen::MatrixXd coupling_norms(const PseudoLikelihoodFit& fit);
/// @brief The same of factored attention, W_ij = A_ij V.
Eigen::MatrixXd coupling_norms(const FactoredAttention& student);

/// @brief S_ij = F_ij - F_i F_j / F with the means F_i = mean over j != i of F_ij and F over all
/// pairs: takes away what single sites contribute (conservation, phylogeny).
///
/// Source: S. Dunn, L. Wahl, G. Gloor 2008 (doi:10.1093/bioinformatics/btm604).
/// @param norms symmetric with zero diagonal, L >= 2
Eigen::MatrixXd average_product_corrected(const Eigen::MatrixXd& norms);

/// @brief The entries above the diagonal, row by row: pairs i < j.
Eigen::VectorXd pairs(const Eigen::MatrixXd& symmetric);

}  // namespace attica
