#include <Eigen/Core>
#include <catch2/catch.hpp>

TEST_CASE("Eigen: the same cache sizes on every processor", "[core]") {
  // It cuts the sums of products by them.
  CHECK(Eigen::l1CacheSize() == 48 * 1024);
  CHECK(Eigen::l2CacheSize() == 1024 * 1024);
}
