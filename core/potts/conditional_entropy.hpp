#pragma once
/// @file
/// @brief What the other sites leave open about a site, from the probabilities of all states.

#include <Eigen/Core>

#include "attica/core/potts/enumeration.hpp"

namespace attica {

/// @brief (1/L) sum_i H(s_i | rest) = (1/L) sum_i [H(s) - H(s without s_i)], nats per site: the
/// Bayes loss of any model with these probabilities, with C^(L-1) logarithms a site where
/// `bayes_loss` takes a softmax for every state.
/// @param states all C^L states in the order of `enumerate`
/// @throws Error (input, `states`) for another number of them
double mean_conditional_entropy(const WeightedSequences& states, Eigen::Index colours);

}  // namespace attica
