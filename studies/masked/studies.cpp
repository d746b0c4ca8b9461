/// @file
/// @brief The studies of masked ridge regression, in the order of `attica list`.

#include "attica/studies/registry.hpp"

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

std::vector<NamedStudy> masked_studies() {
  return {
      {"masked-spectrum", masked_spectrum::study},
      {"masked-spike", masked_spike::study},
      {"masked-vs-pca", masked_vs_pca::study},
      {"masked-transfer", masked_transfer::study},
      {"masked-resampling", masked_resampling::study},
      {"masked-resampling-labels", masked_resampling_labels::study},
      {"masked-resampling-threshold", masked_resampling_threshold::study},
      {"masked-resampling-unit", masked_resampling_unit::study},
  };
}

}  // namespace attica
