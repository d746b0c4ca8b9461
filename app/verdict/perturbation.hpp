#pragma once
/// @file
/// @brief A theory that is wrong on purpose. A verdict that cannot tell it from the right one is
/// blunt.
///
/// There are three kinds, written as on the command line:
///
///     model.rho=0.72         the theory at another value of a parameter than the simulation's
///     test_error*=1.02       a series times a factor
///     test_error.x*=1.1      a series shifted in x: y(x) becomes y(x / 1.1), linear in between

#include <string>
#include <vector>

#include "attica/app/configuration/configuration_file.hpp"
#include "attica/app/run/work.hpp"

namespace attica::app {

/// @brief The perturbed theory in that form.
std::vector<std::string> perturbation_texts(const PerturbedTheory& perturbation);

/// @brief The theory with errors in it, told at the points of the right one.
/// @param request what gave the right theory
/// @param theory the right one
/// @throws Error of kind input for what cannot be read, does not exist, or is told at other points
std::vector<Prediction> perturbed_theory(const ConfigurationRequest& request,
                                         const Registry& registry,
                                         const std::vector<Prediction>& theory,
                                         const std::vector<std::string>& perturbations);

}  // namespace attica::app
