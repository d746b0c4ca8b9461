#pragma once
/// @file
/// @brief The order in 1/M of theories of ridge regression, as studies ask for it and tell it.

#include <string>

#include "attica/core/gauss/ridge_order.hpp"
#include "attica/studies/kit.hpp"

namespace attica {

RidgeOrder configured_order(const Configuration& configuration);
/// @brief The order of `theory.order`; on data, whose terms of order 1/M are not those of Gaussian
/// samples, always the leading one, which is then what the configuration says.
RidgeOrder ridge_order(Configuration& configuration);
/// @brief For the caption of a figure: "theory to order 1/M" or "theory at leading order".
std::string order_words(const Configuration& configuration);

/// @brief A value with its allowance and the theory's own error, compared where the theory
/// describes it: at first order where the allowance is at most a tenth of the value. Beyond, the
/// expansion in 1/(M (1 - gamma)) is not seen to converge.
PredictedValue test_error_value(RidgeOrder order, double value, double allowance, double error = 0);
/// @brief The same of a train error. Far below the test error it is not described at leading order,
/// and rounding in the end.
PredictedValue train_error_value(
    RidgeOrder order, double value, double test_error, double allowance, double error = 0);

}  // namespace attica
