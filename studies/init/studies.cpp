/// @file
/// @brief The studies of transformers at initialisation, in the order of `attica list`.

#include "attica/studies/registry.hpp"

namespace attica {

// clang-format off
namespace init_attention { Study study(); }
namespace init_propagation { Study study(); }
namespace init_gradients { Study study(); }
namespace init_trainability { Study study(); }
// clang-format on

std::vector<NamedStudy> init_studies() {
  return {
      {"init-attention", init_attention::study},
      {"init-propagation", init_propagation::study},
      {"init-gradients", init_gradients::study},
      {"init-trainability", init_trainability::study},
  };
}

}  // namespace attica
