/// @file
/// @brief The studies of sparse contextual bigrams, in the order of `attica list`.

#include "attica/studies/study.hpp"

namespace attica {

// clang-format off
namespace bigrams_regularisation { Study study(); }
namespace bigrams_flow { Study study(); }
namespace bigrams_sign { Study study(); }
namespace bigrams_boosting { Study study(); }
namespace bigrams_recursion { Study study(); }
namespace bigrams_floor { Study study(); }
namespace bigrams_softmax { Study study(); }
namespace bigrams_complexity { Study study(); }
namespace bigrams_vocabulary { Study study(); }
namespace bigrams_large { Study study(); }
namespace bigrams_transfer { Study study(); }
namespace bigrams_stability { Study study(); }
namespace bigrams_baselines { Study study(); }
namespace bigrams_transformer { Study study(); }
// clang-format on

std::vector<Study> bigrams_studies() {
  return {
      bigrams_regularisation::study(),
      bigrams_flow::study(),
      bigrams_sign::study(),
      bigrams_boosting::study(),
      bigrams_recursion::study(),
      bigrams_floor::study(),
      bigrams_softmax::study(),
      bigrams_complexity::study(),
      bigrams_vocabulary::study(),
      bigrams_large::study(),
      bigrams_transfer::study(),
      bigrams_stability::study(),
      bigrams_baselines::study(),
      bigrams_transformer::study(),
  };
}

}  // namespace attica
