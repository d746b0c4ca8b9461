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
Study bigrams_regularisation();
Study bigrams_vocabulary();
Study bigrams_transfer();
Study bigrams_complexity();
Study bigrams_softmax();

}  // namespace attica
