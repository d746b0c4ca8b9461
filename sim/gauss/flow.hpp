#pragma once
/// @file
/// @brief Full-batch gradient flow of the linear attention matrix on one Gaussian data set.
///
/// Data Z (M x L, one sample a row). Row i of A (zero diagonal) is trained from 0 on (1/2M) |Z (e_i
/// - a_i)|²: with the other sites' S = X^T X/M = Q s Q^T and r = X^T y/M, the flow has reached at
/// time t
///   a_i(t) = Q phi_t(s) Q^T r,   phi_t(s) = (1 - e^{-st})/s   (t at s = 0),
/// and a sum over the poles of a rational approximation of phi gets all sites and times from one
/// eigendecomposition of Z^T Z/M, to 1e-11. Test errors are exact population values of that A,
/// [(1-A) Sigma (1-A)^T]_ii; no test sample is drawn. Mean squares without factor 1/2.

#include <span>

#include "attica/core/gauss/mlm.hpp"

namespace attica {

/// Errors of every site along a training run. Both are L x number of recorded times.
struct TrainingErrors {
  Eigen::MatrixXd test;   ///< population error
  Eigen::MatrixXd train;  ///< error on the data
};

/// @brief Gradient flow at the given times, exact given the data.
/// @param data M x L, M >= 1, finite
/// @param times each >= 0
/// @param start A(0), its diagonal is not looked at; empty: 0; @shape{L x L}
/// @throws Error of kind input naming 'data' or 'times'
TrainingErrors gradient_flow(const GaussianMlm& problem,
                             const Eigen::MatrixXd& data,
                             std::span<const double> times,
                             const Eigen::MatrixXd& start = {});

}  // namespace attica
