#pragma once
/// @file
/// @brief Potts sequences as vectors: each site coded by C-1 zero-sum numbers.

#include <Eigen/Core>

#include "attica/core/potts/model.hpp"

namespace attica {

/// @brief Codes phi_i = B^T e_{s_i} of all sites side by side, B the zero-sum basis: full rank, and
/// the geometry of centred one-hot vectors. @shape{M x L(C-1)}
Eigen::MatrixXd coded(const Sequences& sequences, Eigen::Index colours);

struct CodedMoments {
  Eigen::VectorXd mean;
  Eigen::MatrixXd covariance;
};
/// @brief Mean and covariance of the codes over a population.
CodedMoments coded_moments(const WeightedSequences& population, Eigen::Index colours);

}  // namespace attica
