/// @file
/// @brief The studies of transformers at initialisation, in the order of `attica list`.

#include "attica/studies/study.hpp"

namespace attica {

// clang-format off
namespace init_attention { Study study(); }
namespace init_propagation { Study study(); }
namespace init_gradients { Study study(); }
// clang-format on

std::vector<Study> init_studies() {
  return {
      init_attention::study(),
      init_propagation::study(),
      init_gradients::study(),
  };
}

}  // namespace attica
