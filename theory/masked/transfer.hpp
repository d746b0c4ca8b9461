#pragma once
/// @file
/// @brief From masked regression on many unlabelled samples to a regression with few labels.
///
/// x = √θ s u + z with s ~ N(0, 1), z ~ N(0, 1_d), |u| = 1, hence Σ = 1 + θ u uᵀ; the label is
/// y = s + √τ² ε. Masked regression of unlabelled samples gives a direction v, |v| = 1, with
/// squared overlap q = (u·v)², of which DelocalisedSpike tells the limit. Given v the feature v·x
/// and y are jointly Gaussian, and least squares on M labelled samples has the exact mean risk
///     R(q, M) = [τ² + 1/(1+θq)] (M-1)/(M-2),   M > 2,
/// so that the risk is closed in the number of unlabelled samples, through q, and of labelled ones.
/// The rival is ridge regression of y on all coordinates of x (gauss/labels.hpp), at its best
/// penalty.

#include <optional>

#include "attica/theory/gauss/labels.hpp"

namespace attica {

struct TransferTask {
  double dimension = 0;  ///< d
  double theta = 0;      ///< θ >= 0
  double noise = 0;      ///< τ² >= 0
};

/// @brief R(q, M).
/// @param overlap q, 0 <= q <= 1
/// @param samples M > 2
/// @throws Error of kind input naming the argument
double feature_risk(const TransferTask& task, double overlap, double samples);

/// @brief ∂R/∂q = -θ/(1+θq)² (M-1)/(M-2).
double feature_risk_slope(const TransferTask& task, double overlap, double samples);

/// @brief y on all coordinates: w = √θ/(1+θ) u, σ² = τ² + 1/(1+θ).
LinearTask raw_task(const TransferTask& task);

/// @brief Ridge regression on all coordinates at the penalty that is best in the limit.
struct BestRidge {
  double lambda = 0;
  LabelRidge ridge;  ///< to order 1/M there
};
BestRidge best_raw_ridge(const TransferTask& task, double samples);

/// @brief The number of labels beyond which all coordinates do better than the feature, and up to
/// which, from some least number on, the feature does.
/// @return empty if the feature is never better, or never beaten
std::optional<double> transfer_crossing(const TransferTask& task, double overlap);

}  // namespace attica
