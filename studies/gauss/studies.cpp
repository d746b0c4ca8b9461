/// @file
/// @brief The studies of Gaussian masked modelling, in the order of `attica list`.

#include "attica/studies/registry.hpp"

namespace attica {

// clang-format off
namespace gauss_double_descent { Study study(); }
namespace gauss_lambda { Study study(); }
namespace gauss_overlaps { Study study(); }
namespace gauss_sizes { Study study(); }
namespace gauss_teacher { Study study(); }
namespace gauss_random_labels { Study study(); }
namespace gauss_mixture { Study study(); }
namespace gauss_logistic { Study study(); }
namespace gauss_flow { Study study(); }
namespace gauss_sgd { Study study(); }
namespace gauss_sgd_steady { Study study(); }
namespace gauss_sgd_data { Study study(); }
// clang-format on

std::vector<NamedStudy> gauss_studies() {
  return {
      {"gauss-double-descent", gauss_double_descent::study},
      {"gauss-lambda", gauss_lambda::study},
      {"gauss-overlaps", gauss_overlaps::study},
      {"gauss-sizes", gauss_sizes::study},
      {"gauss-teacher", gauss_teacher::study},
      {"gauss-random-labels", gauss_random_labels::study},
      {"gauss-mixture", gauss_mixture::study},
      {"gauss-logistic", gauss_logistic::study},
      {"gauss-flow", gauss_flow::study},
      {"gauss-sgd", gauss_sgd::study},
      {"gauss-sgd-steady", gauss_sgd_steady::study},
      {"gauss-sgd-data", gauss_sgd_data::study},
  };
}

}  // namespace attica
