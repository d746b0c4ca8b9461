#pragma once
/// @file
/// @brief The words of the studies of ridge regression on Gaussian inputs: parameters, sources,
/// axes, margins.

#include <Eigen/Core>
#include <cstdint>
#include <string>
#include <vector>

#include "attica/core/gauss/ridge_order.hpp"
#include "attica/studies/kit.hpp"

namespace attica {

/// @brief Work of drawing M samples and fitting them at some penalties.
double ridge_flops(Eigen::Index samples, Eigen::Index sites, std::size_t lambdas);

/// @brief Mean over the data sets of a replicate of what `measure` says of each.
template <class Set, class Measure>
double mean_over(const std::vector<Set>& sets, const Measure& measure) {
  double sum = 0;
  for (const Set& set : sets) sum += measure(set);
  return sum / static_cast<double>(sets.size());
}

/// @brief The order of `theory.order`; on data, whose terms of order 1/M are not those of Gaussian
/// samples, always the leading one, which is then what the configuration says.
RidgeOrder ridge_order(Configuration& configuration);

/// @name Axis and legend texts
/// @{
Axis alpha_axis();
Axis lambda_axis(const Configuration& configuration);
std::string lambda_label(const Configuration& configuration);
/// What the unit in these labels is, for the end of a caption; empty for absolute penalties.
std::string lambda_note(const Configuration& configuration);
/// @}

/// @brief Relative margin beside the allowances: 1 % on Gaussian samples. On data the claim is a
/// coarser one, that only the covariance matters (Gaussian universality): 5 %, without allowances.
double ridge_margin(const Configuration& configuration);
/// @brief Test and training error, both with that margin.
std::vector<AgreementRule> ridge_agreement(const Configuration& configuration);

}  // namespace attica
