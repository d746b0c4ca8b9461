/// @file
/// @brief The studies of Potts models and interactions beyond pairs, in the order of `attica list`.

#include "attica/studies/registry.hpp"

namespace attica {

// clang-format off
namespace potts_loss { Study study(); }
namespace potts_loss_flow { Study study(); }
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

std::vector<NamedStudy> potts_studies() {
  return {
      {"potts-loss", potts_loss::study},
      {"potts-loss-flow", potts_loss_flow::study},
      {"potts-couplings", potts_couplings::study},
      {"potts-flow", potts_flow::study},
      {"potts-softmax-flow", potts_softmax_flow::study},
      {"potts-learning", potts_learning::study},
      {"potts-samples", potts_samples::study},
      {"potts-peak", potts_peak::study},
      {"potts-square", potts_square::study},
      {"potts-sampler", potts_sampler::study},
      {"potts-alignment", potts_alignment::study},
      {"body4-stairs", body4_stairs::study},
      {"body4-msd", body4_msd::study},
  };
}

}  // namespace attica
