#include "attica/solvers/largest_eigenpair.hpp"

#include <Eigen/Eigenvalues>
#include <catch2/catch.hpp>
#include <limits>

#include "attica/core/error.hpp"
#include "attica/core/random.hpp"

using namespace attica;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace largest_eigenpair_test {

MatrixXd symmetric(Eigen::Index d, std::uint64_t seed) {
  RandomStream stream({.seed = seed});
  MatrixXd m(d, d);
  stream.fill_normal(std::span(m.data(), static_cast<std::size_t>(m.size())));
  return m + m.transpose();
}

TEST_CASE("largest_eigenpair: as all eigenvalues together say", "[solvers]") {
  for (const Eigen::Index d : {1, 2, 3, 10, 120}) {
    for (const double scale : {1.0, 1e-200, 1e150}) {
      const MatrixXd m = scale * symmetric(d, 7);
      const Eigen::SelfAdjointEigenSolver<MatrixXd> all(m);
      const Eigenpair top = largest_eigenpair(m);
      const double norm = all.eigenvalues().cwiseAbs().maxCoeff();
      CHECK_THAT(top.value, WithinAbs(all.eigenvalues()(d - 1), 1e-13 * norm));
      CHECK_THAT(top.vector.norm(), WithinRel(1, 1e-13));
      CHECK((m * top.vector - top.value * top.vector).norm() <= 1e-12 * norm);
      CHECK_THAT(std::abs(top.vector.dot(all.eigenvectors().col(d - 1))), WithinAbs(1, 1e-10));
      CHECK_THAT(-largest_eigenpair(-m).value, WithinAbs(all.eigenvalues()(0), 1e-13 * norm));
    }
  }
}

TEST_CASE("largest_eigenpair: matrices that are diagonal, zero, of rank one or degenerate",
          "[solvers]") {
  VectorXd entries(4);
  entries << -3, 5, 5, 1;
  const MatrixXd diagonal = entries.asDiagonal();
  const Eigenpair top = largest_eigenpair(diagonal);
  CHECK_THAT(top.value, WithinRel(5, 1e-14));
  CHECK((diagonal * top.vector - 5 * top.vector).norm() < 1e-13);
  CHECK(largest_eigenpair(MatrixXd::Zero(3, 3)).value == 0);
  const VectorXd u = VectorXd::LinSpaced(6, 1, 2).normalized();
  const Eigenpair spike = largest_eigenpair(MatrixXd::Identity(6, 6) + 3 * u * u.transpose());
  CHECK_THAT(spike.value, WithinRel(4, 1e-13));
  CHECK_THAT(std::abs(spike.vector.dot(u)), WithinAbs(1, 1e-12));
  // All eigenvalues negative.
  CHECK_THAT(largest_eigenpair(-MatrixXd::Identity(3, 3)).value, WithinRel(-1, 1e-14));
}

TEST_CASE("largest_eigenpair: numbers that are not finite are refused", "[solvers]") {
  MatrixXd m = MatrixXd::Identity(3, 3);
  m(1, 1) = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(largest_eigenpair(m), Error);
}

}  // namespace largest_eigenpair_test
