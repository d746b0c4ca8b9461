/// @file
/// @brief The studies of language, in the order of `attica list`.

#include "attica/studies/study.hpp"

namespace attica {

Study language_clones();
Study language_orders();

std::vector<Study> language_studies() {
  return {
      language_clones(),
      language_orders(),
  };
}

}  // namespace attica
