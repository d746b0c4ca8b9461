/// @file
/// @brief The studies of masked ridge regression, in the order of `attica list`.

#include "attica/studies/study.hpp"

namespace attica {

Study masked_spectrum();

std::vector<Study> masked_studies() {
  return {
      masked_spectrum(),
  };
}

}  // namespace attica
