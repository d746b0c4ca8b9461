/// @file
/// @brief The studies of topic structure, in the order of `attica list`.

#include "attica/studies/registry.hpp"

namespace attica {

// clang-format off
namespace topics_value_map { Study study(); }
namespace topics_value_curves { Study study(); }
namespace topics_value_penalty { Study study(); }
namespace topics_value_length { Study study(); }
namespace topics_overlap { Study study(); }
namespace topics_embedding { Study study(); }
namespace topics_compensation { Study study(); }
namespace topics_landscape { Study study(); }
namespace topics_omega { Study study(); }
namespace topics_two_stage { Study study(); }
namespace topics_onset { Study study(); }
namespace topics_mode_growth { Study study(); }
namespace topics_attention { Study study(); }
namespace topics_finite_length { Study study(); }
namespace topics_two_stage_deep { Study study(); }
namespace topics_text { Study study(); }
// clang-format on

std::vector<NamedStudy> topics_studies() {
  return {
      {"topics-value-map", topics_value_map::study},
      {"topics-value-curves", topics_value_curves::study},
      {"topics-value-penalty", topics_value_penalty::study},
      {"topics-value-length", topics_value_length::study},
      {"topics-overlap", topics_overlap::study},
      {"topics-embedding", topics_embedding::study},
      {"topics-compensation", topics_compensation::study},
      {"topics-landscape", topics_landscape::study},
      {"topics-omega", topics_omega::study},
      {"topics-two-stage", topics_two_stage::study},
      {"topics-onset", topics_onset::study},
      {"topics-mode-growth", topics_mode_growth::study},
      {"topics-attention", topics_attention::study},
      {"topics-finite-length", topics_finite_length::study},
      {"topics-two-stage-deep", topics_two_stage_deep::study},
      {"topics-text", topics_text::study},
  };
}

}  // namespace attica
