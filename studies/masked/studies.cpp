/// @file
/// @brief The studies of masked ridge regression, in the order of `attica list`.

#include "attica/studies/study.hpp"

namespace attica {

Study masked_spectrum();
Study masked_spike();
Study masked_vs_pca();

std::vector<Study> masked_studies() {
  return {
      masked_spectrum(),
      masked_spike(),
      masked_vs_pca(),
  };
}

}  // namespace attica
