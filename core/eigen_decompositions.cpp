#include "attica/core/eigen_instances.hpp"

namespace Eigen {
ATTICA_DECOMPOSITIONS()
}  // namespace Eigen
