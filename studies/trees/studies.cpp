/// @file
/// @brief The studies of filtered trees, in the order of `attica list`.

#include "attica/studies/registry.hpp"

namespace attica {

// clang-format off
namespace tree_filtered_floors { Study study(); }
namespace tree_filtered_order { Study study(); }
namespace tree_filtered_students { Study study(); }
namespace tree_filtered_flow { Study study(); }
// clang-format on

std::vector<NamedStudy> trees_studies() {
  return {
      {"tree-filtered-floors", tree_filtered_floors::study},
      {"tree-filtered-order", tree_filtered_order::study},
      {"tree-filtered-students", tree_filtered_students::study},
      {"tree-filtered-flow", tree_filtered_flow::study},
  };
}

}  // namespace attica
