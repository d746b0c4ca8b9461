#pragma once
/// @file
/// @brief Training curves of SGD, or of its Gaussian surrogate, against the mean-field recursion:
/// what bigrams-recursion and bigrams-large share.

#include <memory>
#include <string>
#include <vector>

#include "attica/studies/bigrams/model.hpp"

namespace attica {

/// @brief The series of these studies.
const std::vector<std::string>& mean_field_names();
std::unique_ptr<Experiment> make_mean_field(Configuration& c);
std::vector<AgreementRule> mean_field_rules(const Configuration& c, double margin);

}  // namespace attica
