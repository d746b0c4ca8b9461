/// @file
/// @brief The studies of Potts models and interactions beyond pairs, in the order of `attica list`.

#include "attica/studies/study.hpp"

namespace attica {

Study potts_loss();
Study potts_couplings();
Study potts_flow();
Study potts_learning();
Study potts_peak();
Study potts_square();
Study potts_sampler();
Study potts_alignment();
Study body4_stairs();
Study body4_msd();

std::vector<Study> potts_studies() {
  return {
      potts_loss(),
      potts_couplings(),
      potts_flow(),
      potts_learning(),
      potts_peak(),
      potts_square(),
      potts_sampler(),
      potts_alignment(),
      body4_stairs(),
      body4_msd(),
  };
}

}  // namespace attica
