/// @file
/// @brief The studies of Gaussian masked modelling, in the order of `attica list`.

#include "attica/studies/study.hpp"

namespace attica {

// clang-format off
namespace gauss_double_descent { Study study(); }
namespace gauss_lambda { Study study(); }
namespace gauss_overlaps { Study study(); }
namespace gauss_sizes { Study study(); }
namespace gauss_teacher { Study study(); }
namespace gauss_random_labels { Study study(); }
namespace gauss_logistic { Study study(); }
namespace gauss_flow { Study study(); }
namespace gauss_sgd { Study study(); }
namespace gauss_sgd_steady { Study study(); }
namespace gauss_sgd_data { Study study(); }
// clang-format on

std::vector<Study> gauss_studies() {
  return {
      gauss_double_descent::study(),
      gauss_lambda::study(),
      gauss_overlaps::study(),
      gauss_sizes::study(),
      gauss_teacher::study(),
      gauss_random_labels::study(),
      gauss_logistic::study(),
      gauss_flow::study(),
      gauss_sgd::study(),
      gauss_sgd_steady::study(),
      gauss_sgd_data::study(),
  };
}

}  // namespace attica
