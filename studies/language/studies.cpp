/// @file
/// @brief The studies of language, in the order of `attica list`.

#include "attica/studies/study.hpp"

namespace attica {

// clang-format off
namespace language_clones { Study study(); }
namespace language_orders { Study study(); }
// clang-format on

std::vector<Study> language_studies() {
  return {
      language_clones::study(),
      language_orders::study(),
  };
}

}  // namespace attica
