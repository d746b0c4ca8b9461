/// @file
/// @brief The studies of language, in the order of `attica list`.

#include "attica/studies/registry.hpp"

namespace attica {

// clang-format off
namespace language_clones { Study study(); }
namespace language_orders { Study study(); }
// clang-format on

std::vector<NamedStudy> language_studies() {
  return {
      {"language-clones", language_clones::study},
      {"language-orders", language_orders::study},
  };
}

}  // namespace attica
