#include "attica/studies/bigram_studies.hpp"
#include "attica/studies/gaussian_studies.hpp"
#include "attica/studies/joma_studies.hpp"
#include "attica/studies/potts_studies.hpp"
#include "attica/studies/topic_studies.hpp"

namespace attica {

const std::vector<Study>& studies() {
  static const std::vector<Study> all = {
      gauss_double_descent(),
      gauss_lambda(),
      gauss_overlaps(),
      gauss_sizes(),
      gauss_flow(),
      gauss_sgd(),
      gauss_sgd_steady(),
      gauss_sgd_data(),
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
      topics_value_map(),
      topics_value_curves(),
      topics_value_penalty(),
      topics_value_length(),
      topics_embedding(),
      topics_landscape(),
      topics_omega(),
      topics_two_stage(),
      topics_onset(),
      topics_mode_growth(),
      topics_attention(),
      topics_finite_length(),
      topics_two_stage_deep(),
      topics_text(),
      joma_invariants(),
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
      bigrams_regularisation(),
      bigrams_flow(),
      bigrams_sign(),
      bigrams_boosting(),
      bigrams_recursion(),
      bigrams_floor(),
      bigrams_softmax(),
      bigrams_complexity(),
      bigrams_vocabulary(),
      bigrams_large(),
      bigrams_transfer(),
      bigrams_stability(),
  };
  return all;
}

}  // namespace attica
