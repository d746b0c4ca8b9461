#pragma once
/// @file
/// @brief Training curves of SGD, or of its Gaussian surrogate, against the mean-field recursion:
/// what bigrams-recursion and bigrams-large share.

#include <memory>

#include "attica/studies/bigrams/model.hpp"

namespace attica {

std::unique_ptr<Experiment> make_mean_field(Configuration& c);

}  // namespace attica
