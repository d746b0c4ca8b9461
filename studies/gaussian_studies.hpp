#pragma once
/// @file
/// @brief The studies of Gaussian masked modelling.

#include "attica/studies/study.hpp"

namespace attica {

Study gauss_double_descent();
Study gauss_lambda();
Study gauss_overlaps();
Study gauss_sizes();
Study gauss_flow();
Study gauss_sgd();
Study gauss_sgd_steady();
Study gauss_sgd_data();

}  // namespace attica
