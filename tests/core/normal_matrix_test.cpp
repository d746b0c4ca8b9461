#include "attica/core/normal_matrix.hpp"

#include <catch2/catch.hpp>

using namespace attica;

TEST_CASE("normal_matrix: the stream's numbers, column after column", "[core][random]") {
  const StreamAddress address{.seed = 7};
  RandomStream one(address);
  RandomStream other(address);
  const Eigen::MatrixXd matrix = normal_matrix(3, 4, one);
  Eigen::VectorXf vector(5);
  fill_normal(vector, one);
  for (Eigen::Index column = 0; column < 4; ++column)
    for (Eigen::Index row = 0; row < 3; ++row) CHECK(matrix(row, column) == other.normal());
  std::vector<float> rest(5);
  other.fill_normal(rest);
  for (Eigen::Index k = 0; k < 5; ++k) CHECK(vector(k) == rest[static_cast<std::size_t>(k)]);
}
