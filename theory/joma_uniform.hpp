#pragma once
/// @file
/// @brief Growth of MLP weights under uniform attention on isotropic mixtures (Theorem 3 of Tian et
/// al. 2023, arXiv:2310.00535), exact for Gaussian clusters by Stein's lemma.
///
/// Inputs x ~ N(c_j, sigma^2 I) in cluster j, back-propagated gradient a_j per cluster:
///     v' = sum_j a_j [ theta1(r_j) c_j + theta2(r_j) v ],   r_j = v.c_j,
///     theta1 = E phi'(r + sigma|v| xi),   theta2 = sigma^2 E phi''(r + sigma|v| xi),   xi ~
///     N(0,1).

#include <Eigen/Core>

#include "attica/core/joma_model.hpp"

namespace attica {

/// The two coefficients of one cluster.
struct ClusterForce {
  double along_centre = 0;  ///< theta1
  double along_weight = 0;  ///< theta2
};

/// @param overlap r = v.c (plus whatever the residual connection adds)
/// @param sigma   >= 0, spread of the cluster
/// @param norm    |v| >= 0; > 0 for ReLU, whose second derivative is a delta function
/// @throws Error (input) naming the parameter
ClusterForce cluster_force(JomaActivation activation, double overlap, double sigma, double norm);

/// @brief E[phi'(v.x) x] of one cluster.
Eigen::VectorXd cluster_drift(JomaActivation activation,
                              const Eigen::VectorXd& v,
                              const Eigen::VectorXd& centre,
                              double sigma);

}  // namespace attica
