/// @file
/// @brief The studies of sparse contextual bigrams, in the order of `attica list`.

#include "attica/studies/study.hpp"

namespace attica {

Study bigrams_regularisation();
Study bigrams_flow();
Study bigrams_sign();
Study bigrams_boosting();
Study bigrams_recursion();
Study bigrams_floor();
Study bigrams_softmax();
Study bigrams_complexity();
Study bigrams_vocabulary();
Study bigrams_large();
Study bigrams_transfer();
Study bigrams_stability();

std::vector<Study> bigrams_studies() {
  return {
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
}

}  // namespace attica
