#include <cstddef>

#include "attica/core/eigen_instances.hpp"
#include "attica/core/instructions.hpp"

namespace Eigen::internal {
ATTICA_PRODUCTS()
}  // namespace Eigen::internal

namespace attica {
namespace {

/// Eigen asks the processor for the sizes of its caches, and cuts the sums of a product into pieces
/// that fit: of terms more than 253 for 32 kB, more than 381 for 48 kB. The same sizes everywhere
/// give the same sums on every processor that a build runs on.
[[maybe_unused]] const bool kCacheSizesAreFixed = [] {
  // The module that says what a processor lacks has this library, too.
  if (!instructions_available()) return false;
  constexpr std::ptrdiff_t kKilo = 1024;
  Eigen::setCpuCacheSizes(48 * kKilo, 1024 * kKilo, 32 * kKilo * kKilo);
  return true;
}();

}  // namespace
}  // namespace attica
