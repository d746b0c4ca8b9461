/// @file
/// @brief The studies of learning in context and of token dynamics, in the order of `attica list`.

#include "attica/studies/study.hpp"

namespace attica {

// clang-format off
namespace icl_double_descent { Study study(); }
namespace icl_diversity { Study study(); }
namespace icl_context { Study study(); }
namespace icl_alignment { Study study(); }
namespace icl_training { Study study(); }
namespace icl_merged { Study study(); }
namespace icl_separate { Study study(); }
namespace token_curve { Study study(); }
namespace token_time { Study study(); }
namespace token_metastable { Study study(); }
namespace positional_flow_study { Study study(); }
namespace positional_phase { Study study(); }
// clang-format on

std::vector<Study> icl_studies() {
  return {
      icl_double_descent::study(),
      icl_diversity::study(),
      icl_context::study(),
      icl_alignment::study(),
      icl_training::study(),
      icl_merged::study(),
      icl_separate::study(),
      token_curve::study(),
      token_time::study(),
      token_metastable::study(),
      positional_flow_study::study(),
      positional_phase::study(),
  };
}

}  // namespace attica
