/// @file
/// @brief The studies of Gaussian masked modelling, in the order of `attica list`.

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

std::vector<Study> gauss_studies() {
  return {
      gauss_double_descent(),
      gauss_lambda(),
      gauss_overlaps(),
      gauss_sizes(),
      gauss_flow(),
      gauss_sgd(),
      gauss_sgd_steady(),
      gauss_sgd_data(),
  };
}

}  // namespace attica
