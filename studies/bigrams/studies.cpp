/// @file
/// @brief The studies of sparse contextual bigrams, in the order of `attica list`.

#include "attica/studies/registry.hpp"

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

std::vector<NamedStudy> bigrams_studies() {
  return {
      {"bigrams-regularisation", bigrams_regularisation::study},
      {"bigrams-flow", bigrams_flow::study},
      {"bigrams-sign", bigrams_sign::study},
      {"bigrams-boosting", bigrams_boosting::study},
      {"bigrams-recursion", bigrams_recursion::study},
      {"bigrams-floor", bigrams_floor::study},
      {"bigrams-softmax", bigrams_softmax::study},
      {"bigrams-complexity", bigrams_complexity::study},
      {"bigrams-vocabulary", bigrams_vocabulary::study},
      {"bigrams-large", bigrams_large::study},
      {"bigrams-transfer", bigrams_transfer::study},
      {"bigrams-stability", bigrams_stability::study},
      {"bigrams-baselines", bigrams_baselines::study},
      {"bigrams-transformer", bigrams_transformer::study},
  };
}

}  // namespace attica
