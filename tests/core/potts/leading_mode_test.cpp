#include "attica/core/potts/leading_mode.hpp"

#include <Eigen/Eigenvalues>
#include <catch2/catch.hpp>

#include "attica/core/random.hpp"

using namespace attica;
using Eigen::MatrixXd;

TEST_CASE("leading_mode: the matrix of rank one that leaves the least", "[core][potts]") {
  RandomStream stream({.seed = 3});
  for (const auto& [rows, columns] : {std::pair{20, 7}, {7, 20}, {40, 40}}) {
    MatrixXd m(rows, columns);
    stream.fill_normal({m.data(), static_cast<std::size_t>(m.size())});
    m.col(1) = 2 * m.col(0);
    const LeadingMode mode = leading_mode(m);
    // Rounding: 1e-16 times the dimensions and the largest value, 13, with room.
    CHECK(mode.left.norm() == Approx(1).margin(1e-14));
    CHECK(mode.right.norm() == Approx(1).margin(1e-14));
    CHECK((m * mode.right - mode.value * mode.left).cwiseAbs().maxCoeff() < 1e-13);
    CHECK((m.transpose() * mode.left - mode.value * mode.right).cwiseAbs().maxCoeff() < 1e-13);
    CHECK(mode.right.maxCoeff() == mode.right.cwiseAbs().maxCoeff());
    // No other mode is larger: what is left has the values of the others.
    const MatrixXd left_over = m - mode.value * mode.left * mode.right.transpose();
    const auto spectrum = [](const MatrixXd& x) {
      const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(MatrixXd(x.transpose() * x),
                                                           Eigen::EigenvaluesOnly);
      return Eigen::VectorXd(solver.eigenvalues().reverse());
    };
    const Eigen::VectorXd all = spectrum(m);
    const Eigen::VectorXd others = spectrum(left_over);
    CHECK(mode.value * mode.value == Approx(all[0]).epsilon(1e-13));
    CHECK((others.head(columns - 1) - all.tail(columns - 1)).cwiseAbs().maxCoeff() < 1e-11);
  }
}
