/// @file
/// @brief The studies of masked ridge regression, in the order of `attica list`.

#include "attica/studies/study.hpp"

namespace attica {

// clang-format off
namespace masked_spectrum { Study study(); }
namespace masked_spike { Study study(); }
namespace masked_vs_pca { Study study(); }
namespace masked_transfer { Study study(); }
namespace masked_resampling { Study study(); }
namespace masked_resampling_labels { Study study(); }
namespace masked_resampling_threshold { Study study(); }
namespace masked_resampling_unit { Study study(); }
// clang-format on

std::vector<Study> masked_studies() {
  return {
      masked_spectrum::study(),
      masked_spike::study(),
      masked_vs_pca::study(),
      masked_transfer::study(),
      masked_resampling::study(),
      masked_resampling_labels::study(),
      masked_resampling_threshold::study(),
      masked_resampling_unit::study(),
  };
}

}  // namespace attica
