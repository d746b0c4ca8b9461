#include "attica/core/softmax.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "refused.hpp"

using namespace attica;
using Eigen::MatrixXd;

TEST_CASE("log_softmax_columns: probabilities of any logits", "[core]") {
  MatrixXd logits(2, 2);
  logits << 1000, 0, 1000 + std::log(3.0), 0;
  log_softmax_columns(logits);
  CHECK(logits(0, 0) == Approx(std::log(0.25)).epsilon(1e-12));
  CHECK(logits(1, 0) == Approx(std::log(0.75)).epsilon(1e-12));
  CHECK(logits(0, 1) == Approx(std::log(0.5)).epsilon(1e-14));
}

TEST_CASE("zero_sum_basis: orthonormal, orthogonal to the constant", "[core]") {
  const MatrixXd b = zero_sum_basis(4);
  CHECK((b.transpose() * b - MatrixXd::Identity(3, 3)).norm() < 1e-14);
  CHECK(b.colwise().sum().norm() < 1e-14);
  CHECK(testing::refused([] { (void)zero_sum_basis(1); }) == "classes");
}
