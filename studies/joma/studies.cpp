/// @file
/// @brief The studies of attention with MLP, latent trees, depth, in the order of `attica list`.

#include "attica/studies/registry.hpp"

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

std::vector<NamedStudy> joma_studies() {
  return {
      {"joma-invariants", joma_invariants::study},
      {"joma-overlap", joma_overlap::study},
      {"joma-softmax", joma_softmax::study},
      {"joma-erf", joma_erf::study},
      {"joma-blowup", joma_blowup::study},
      {"joma-entropy-gd", joma_entropy_gd::study},
      {"joma-convergence-time", joma_convergence_time::study},
      {"joma-salience", joma_salience::study},
      {"joma-bounce", joma_bounce::study},
      {"tree-cooccurrence", tree_cooccurrence::study},
      {"tree-learning", tree_learning::study},
      {"tree-latents", tree_latents::study},
      {"deep-entropy", deep_entropy::study},
      {"deep-stable-rank", deep_stable_rank::study},
      {"deep-learning-rate", deep_learning_rate::study},
      {"deep-width", deep_width::study},
  };
}

}  // namespace attica
