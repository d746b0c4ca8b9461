#include "attica/core/potts/thin_svd.hpp"

#include <Eigen/Eigenvalues>
#include <catch2/catch.hpp>

#include "attica/core/random.hpp"

using namespace attica;

TEST_CASE("thin_svd: orthonormal factors give the matrix back", "[core][potts]") {
  RandomStream stream({.seed = 3});
  for (const auto& [rows, columns] : {std::pair{20, 7}, {7, 20}, {40, 40}}) {
    Eigen::MatrixXd m(rows, columns);
    stream.fill_normal({m.data(), static_cast<std::size_t>(m.size())});
    m.col(1) = 2 * m.col(0);  // one value is zero
    const ThinSvd svd = thin_svd(m);
    const Eigen::Index n = std::min(rows, columns);
    REQUIRE(svd.values.size() == n);
    const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(n, n);
    // Rounding: 1e-16 times the dimensions and the largest value, 13, with room.
    CHECK((svd.left.transpose() * svd.left - one).cwiseAbs().maxCoeff() < 1e-13);
    CHECK((svd.right.transpose() * svd.right - one).cwiseAbs().maxCoeff() < 1e-13);
    CHECK((svd.left * svd.values.asDiagonal() * svd.right.transpose() - m).cwiseAbs().maxCoeff() <
          1e-12);
    const Eigen::MatrixXd gram =
        rows < columns ? Eigen::MatrixXd(m * m.transpose()) : Eigen::MatrixXd(m.transpose() * m);
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(gram, Eigen::EigenvaluesOnly);
    CHECK((svd.values.array().square() - solver.eigenvalues().reverse().array()).abs().maxCoeff() <
          1e-11);
  }
}
