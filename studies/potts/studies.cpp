/// @file
/// @brief The studies of Potts models and interactions beyond pairs, in the order of `attica list`.

#include "attica/studies/study.hpp"

namespace attica {

// clang-format off
namespace potts_loss { Study study(); }
namespace potts_couplings { Study study(); }
namespace potts_flow { Study study(); }
namespace potts_softmax_flow { Study study(); }
namespace potts_learning { Study study(); }
namespace potts_samples { Study study(); }
namespace potts_peak { Study study(); }
namespace potts_square { Study study(); }
namespace potts_sampler { Study study(); }
namespace potts_alignment { Study study(); }
namespace body4_stairs { Study study(); }
namespace body4_msd { Study study(); }
// clang-format on

std::vector<Study> potts_studies() {
  return {
      potts_loss::study(),
      potts_couplings::study(),
      potts_flow::study(),
      potts_softmax_flow::study(),
      potts_learning::study(),
      potts_samples::study(),
      potts_peak::study(),
      potts_square::study(),
      potts_sampler::study(),
      potts_alignment::study(),
      body4_stairs::study(),
      body4_msd::study(),
  };
}

}  // namespace attica
