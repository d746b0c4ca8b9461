#pragma once
/// @file
/// @brief The studies of joint dynamics of attention and MLP, of latent trees, and of deep
/// transformers.

#include "attica/studies/study.hpp"

namespace attica {

Study joma_invariants();

}  // namespace attica
