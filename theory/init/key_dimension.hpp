#pragma once
/// @file
/// @brief Attention at a finite head dimension d_k: averages over the law of the queries.
///
/// Given the queries q_t the logits of Gaussian keys are Gaussian and independent, with variances
/// s² |q_t|² and correlation q_t·q_s / |q_t||q_s|, in units where E |q|² = 1. So a row is the mean
/// of `softmax_row` over χ²_{d_k}/d_k, and two rows that of `softmax_pair` over the Wishart law of
/// two queries of correlation p: exact for Gaussian weights and tokens with equal overlaps p.

#include <cstdint>
#include <vector>

#include "attica/theory/init/softmax_rows.hpp"

namespace attica {

/// A value and its weight in a mean.
struct WeightedValue {
  double value = 0;
  double weight = 0;
};

/// @brief Quadrature of the law of χ²_k / k: exact for polynomials up to degree 2n - 1.
/// @param degrees k >= 1 @param nodes n >= 1
std::vector<WeightedValue> chi_squared_nodes(double degrees, int nodes);
/// @brief The same of the standard normal law.
std::vector<WeightedValue> normal_nodes(int nodes);

/// @brief Attention at initialisation of a head of finite dimension.
struct FiniteHead {
  AttentionRows rows;
  double variance = 0;       ///< s0² = β² ln T of a logit
  double cosine = 0;         ///< overlap p of two tokens
  double key_dimension = 0;  ///< d_k >= 2
  /// Tokens uniform on a sphere, p = 0, whose dimension is that of `rows`: W_Kᵀ q has a length that
  /// fluctuates besides that of q.
  bool random_tokens = false;
};

/// @brief Moments of a row; exact.
RowMoments finite_row(const FiniteHead& head, bool with_largest = true);
/// @brief Moments of two rows, by Bartlett's decomposition of the Wishart law; relative error 1e-5
/// at d_k = 8.
PairMoments finite_pair(const FiniteHead& head, PairPart part = PairPart::shared);
/// @brief The same to order 1/d_k, by six points with the mean and covariance of that law.
PairMoments finite_pair_first_order(const FiniteHead& head, PairPart part = PairPart::shared);

}  // namespace attica
