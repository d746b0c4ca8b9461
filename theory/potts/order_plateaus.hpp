#pragma once
/// @file
/// @brief The loss that predictions of limited interaction order can reach.
///
/// Order p: the logits of the masked site are a sum of functions of at most p-1 other sites, any
/// functions: multinomial regression on the products of zero-sum codes of up to p-1 sites, a convex
/// problem for every site. epsilon_1 sees no other site, epsilon_2 pairs, and so on down to the
/// Bayes loss at the order of the data. They are the plateaus that deep factored networks pass.
///
/// Source: R. Rende, F. Gerace, A. Laio, S. Goldt 2024 (arXiv:2304.07235), interactions beyond
/// pairs.

#include "attica/core/potts/body_model.hpp"
#include "attica/core/potts/exchangeable.hpp"

namespace attica {

/// @brief The codes of a site's context: 1, then all products of zero-sum codes of up to `factors`
/// other sites. @shape{d x n}
Eigen::MatrixXd context_features(const MaskedSite& site,
                                 Eigen::Index masked,
                                 Eigen::Index colours,
                                 int factors);

/// @brief Their number d = sum_{k <= factors} binomial(L-1, k) (C-1)^k.
double context_feature_count(Eigen::Index sites, Eigen::Index colours, int factors);

/// Most features times colour codes of a regression by Newton's method: its step is a dense solve
/// of that size.
inline constexpr double kMostRegressionParameters = 4000;

/// @brief epsilon_p, the mean over sites of the smallest cross-entropy at interaction order p, by
/// Newton's method; of more than 1000 parameters by `iterated_order_plateau` where it can be.
/// @throws Error (input, `order`) for p < 1 or so large a regression on some of the contexts only;
/// (numerical) if a regression does not converge
double order_plateau(const MaskedPopulation& population, Eigen::Index colours, int order);

/// @brief The same by conjugate gradients in each of Newton's steps; features are transformed axis
/// by axis of the tensor of all contexts and never stored: some L C^(L+1) multiplications a product
/// with the Hessian, up to C^L parameters.
/// @throws Error (input, `order`) for p < 1 or a population that has not all contexts;
/// (numerical) if a regression does not converge
double iterated_order_plateau(const MaskedPopulation& population, Eigen::Index colours, int order);

/// @brief The same where all sites are alike, exact through counts: the problem is convex and does
/// not change if other sites change places, so that a best prediction sees counts only, and is a
/// polynomial of degree p-1 in them.
double order_plateau(const CountedContexts& contexts, int order);

}  // namespace attica
