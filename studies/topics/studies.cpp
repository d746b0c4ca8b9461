/// @file
/// @brief The studies of topic structure, in the order of `attica list`.

#include "attica/studies/study.hpp"

namespace attica {

Study topics_value_map();
Study topics_value_curves();
Study topics_value_penalty();
Study topics_value_length();
Study topics_embedding();
Study topics_compensation();
Study topics_landscape();
Study topics_omega();
Study topics_two_stage();
Study topics_onset();
Study topics_mode_growth();
Study topics_attention();
Study topics_finite_length();
Study topics_two_stage_deep();
Study topics_text();

std::vector<Study> topics_studies() {
  return {
      topics_value_map(),
      topics_value_curves(),
      topics_value_penalty(),
      topics_value_length(),
      topics_embedding(),
      topics_compensation(),
      topics_landscape(),
      topics_omega(),
      topics_two_stage(),
      topics_onset(),
      topics_mode_growth(),
      topics_attention(),
      topics_finite_length(),
      topics_two_stage_deep(),
      topics_text(),
  };
}

}  // namespace attica
