/// @file
/// @brief The studies of learning in context and of token dynamics, in the order of `attica list`.

#include "attica/studies/study.hpp"

namespace attica {

Study icl_double_descent();
Study icl_diversity();
Study icl_context();
Study icl_alignment();
Study icl_training();
Study icl_merged();
Study icl_separate();
Study token_curve();
Study token_time();
Study token_metastable();
Study positional_flow();
Study positional_phase();

std::vector<Study> icl_studies() {
  return {
      icl_double_descent(),
      icl_diversity(),
      icl_context(),
      icl_alignment(),
      icl_training(),
      icl_merged(),
      icl_separate(),
      token_curve(),
      token_time(),
      token_metastable(),
      positional_flow(),
      positional_phase(),
  };
}

}  // namespace attica
