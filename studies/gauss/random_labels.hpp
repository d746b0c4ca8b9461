#pragma once
/// @file
/// @brief What the studies of random labels share, of square and of logistic loss: data to draw
/// from, and panels with Gaussian inputs beside rows of data.

#include <string>
#include <vector>

#include "attica/studies/kit.hpp"

namespace attica {

/// @brief A quantity against samples per input. @param rows its series on rows of data, drawn if
/// the configuration has data
Panel random_label_panel(const Configuration& configuration,
                         const char* label,
                         const char* gaussian,
                         const char* rows);

}  // namespace attica
