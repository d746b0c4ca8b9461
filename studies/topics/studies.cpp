/// @file
/// @brief The studies of topic structure, in the order of `attica list`.

#include "attica/studies/study.hpp"

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

std::vector<Study> topics_studies() {
  return {
      topics_value_map::study(),
      topics_value_curves::study(),
      topics_value_penalty::study(),
      topics_value_length::study(),
      topics_overlap::study(),
      topics_embedding::study(),
      topics_compensation::study(),
      topics_landscape::study(),
      topics_omega::study(),
      topics_two_stage::study(),
      topics_onset::study(),
      topics_mode_growth::study(),
      topics_attention::study(),
      topics_finite_length::study(),
      topics_two_stage_deep::study(),
      topics_text::study(),
  };
}

}  // namespace attica
