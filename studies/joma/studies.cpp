/// @file
/// @brief The studies of attention with MLP, latent trees, depth, in the order of `attica list`.

#include "attica/studies/study.hpp"

namespace attica {

// clang-format off
namespace joma_invariants { Study study(); }
namespace joma_overlap { Study study(); }
namespace joma_softmax { Study study(); }
namespace joma_erf { Study study(); }
namespace joma_blowup { Study study(); }
namespace joma_entropy_gd { Study study(); }
namespace joma_convergence_time { Study study(); }
namespace joma_salience { Study study(); }
namespace joma_bounce { Study study(); }
namespace tree_cooccurrence { Study study(); }
namespace tree_learning { Study study(); }
namespace tree_latents { Study study(); }
namespace deep_entropy { Study study(); }
namespace deep_stable_rank { Study study(); }
namespace deep_learning_rate { Study study(); }
namespace deep_width { Study study(); }
// clang-format on

std::vector<Study> joma_studies() {
  return {
      joma_invariants::study(),
      joma_overlap::study(),
      joma_softmax::study(),
      joma_erf::study(),
      joma_blowup::study(),
      joma_entropy_gd::study(),
      joma_convergence_time::study(),
      joma_salience::study(),
      joma_bounce::study(),
      tree_cooccurrence::study(),
      tree_learning::study(),
      tree_latents::study(),
      deep_entropy::study(),
      deep_stable_rank::study(),
      deep_learning_rate::study(),
      deep_width::study(),
  };
}

}  // namespace attica
