/// @file
/// @brief The studies of learning in context and of token dynamics, in the order of `attica list`.

#include "attica/studies/registry.hpp"

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

std::vector<NamedStudy> icl_studies() {
  return {
      {"icl-double-descent", icl_double_descent::study},
      {"icl-diversity", icl_diversity::study},
      {"icl-context", icl_context::study},
      {"icl-alignment", icl_alignment::study},
      {"icl-training", icl_training::study},
      {"icl-merged", icl_merged::study},
      {"icl-separate", icl_separate::study},
      {"token-curve", token_curve::study},
      {"token-time", token_time::study},
      {"token-metastable", token_metastable::study},
      {"positional-flow", positional_flow_study::study},
      {"positional-phase", positional_phase::study},
  };
}

}  // namespace attica
