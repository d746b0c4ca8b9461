#include "attica/core/eigen_instances.hpp"

namespace Eigen::internal {
ATTICA_PRODUCTS()
}  // namespace Eigen::internal
