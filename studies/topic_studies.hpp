#pragma once
/// @file
/// @brief The studies of topic structure.

#include "attica/studies/study.hpp"

namespace attica {

Study topics_value_map();
Study topics_value_curves();
Study topics_value_penalty();
Study topics_value_length();
Study topics_embedding();
Study topics_landscape();
Study topics_omega();
Study topics_two_stage();
Study topics_onset();
Study topics_mode_growth();
Study topics_attention();
Study topics_finite_length();
Study topics_two_stage_deep();
Study topics_text();

}  // namespace attica
