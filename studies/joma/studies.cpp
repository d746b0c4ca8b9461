/// @file
/// @brief The studies of attention with MLP, latent trees, depth, in the order of `attica list`.

#include "attica/studies/study.hpp"

namespace attica {

Study joma_invariants();
Study joma_overlap();
Study joma_softmax();
Study joma_erf();
Study joma_blowup();
Study joma_entropy_gd();
Study joma_convergence_time();
Study joma_salience();
Study joma_bounce();
Study tree_cooccurrence();
Study tree_latents();
Study deep_entropy();
Study deep_stable_rank();
Study deep_learning_rate();
Study deep_width();

std::vector<Study> joma_studies() {
  return {
      joma_invariants(),
      joma_overlap(),
      joma_softmax(),
      joma_erf(),
      joma_blowup(),
      joma_entropy_gd(),
      joma_convergence_time(),
      joma_salience(),
      joma_bounce(),
      tree_cooccurrence(),
      tree_latents(),
      deep_entropy(),
      deep_stable_rank(),
      deep_learning_rate(),
      deep_width(),
  };
}

}  // namespace attica
