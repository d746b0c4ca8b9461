#pragma once
/// @file
/// @brief The training theory for models written in Python.

#include <pybind11/pybind11.h>

namespace attica {

/// @brief Adds `training` and `training_flow`.
void bind_training(pybind11::module_& module);

}  // namespace attica
