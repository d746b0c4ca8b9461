#pragma once
/// @file
/// @brief The studies of sparse contextual bigrams.

#include "attica/studies/study.hpp"

namespace attica {

Study bigrams_flow();
Study bigrams_recursion();
Study bigrams_large();
Study bigrams_sign();
Study bigrams_boosting();
Study bigrams_floor();
Study bigrams_stability();

}  // namespace attica
