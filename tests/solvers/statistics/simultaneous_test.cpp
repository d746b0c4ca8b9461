#include "attica/solvers/statistics/simultaneous.hpp"

#include <Eigen/Dense>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/core/random.hpp"
#include "attica/solvers/statistics/agreement.hpp"
#include "attica/solvers/statistics/distributions.hpp"

using namespace attica;
using Catch::Contains;
using Catch::WithinAbs;
using Catch::WithinRel;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace statistics_simultaneous_test {

constexpr int kPoints = 6;

MatrixXd equicorrelated(double rho, const VectorXd& sd) {
  MatrixXd c = MatrixXd::Constant(sd.size(), sd.size(), rho);
  c.diagonal().setOnes();
  return sd.asDiagonal() * c * sd.asDiagonal();
}

// P(all |Z_i| <= c) for equicorrelated normal values: given the shared part they are independent.
double inside(double c, double rho, int points) {
  double sum = 0;
  constexpr double kStep = 1e-3;
  for (double u = -8; u <= 8; u += kStep) {
    const double high = (c - std::sqrt(rho) * u) / std::sqrt(1 - rho);
    const double low = (-c - std::sqrt(rho) * u) / std::sqrt(1 - rho);
    sum += kStep * normal_density(u) * std::pow(normal_tail(low) - normal_tail(high), points);
  }
  return sum;
}

std::string refusal(const MatrixXd& covariance) {
  try {
    static_cast<void>(simultaneous_band(covariance));
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST_CASE("simultaneous band: uncorrelated errors, and one error for all", "[solvers][band]") {
  VectorXd sd(4);
  sd << 1, 0.5, 0, 2;  // a value without error has no width and takes no part
  const VectorXd band = simultaneous_band(MatrixXd(sd.cwiseAbs2().asDiagonal()));
  // P(three independent |Z| <= c) = 0.99.
  const double c = band(0);
  CHECK_THAT(std::pow(1 - 2 * normal_tail(c), 3), WithinRel(0.99, 1e-12));
  CHECK((band - c * sd).norm() < 1e-12);
  CHECK(simultaneous_band(MatrixXd::Zero(3, 3)).isZero());
  // Fully correlated: the quantile of one value. 2e5 draws leave 0.01 of 2.576 (the density there
  // is 0.0289, so its standard error is sqrt(0.01 0.99/2e5)/0.0289 = 0.008).
  const VectorXd shared = simultaneous_band(sd * sd.transpose());
  CHECK_THAT(shared(0), WithinAbs(2.5758, 0.03));
  CHECK_THAT(shared(3), WithinRel(2 * shared(0), 1e-12));
}

TEST_CASE("simultaneous band: equicorrelated errors against quadrature", "[solvers][band]") {
  const VectorXd sd = VectorXd::LinSpaced(kPoints, 0.5, 3);
  double last = 10;
  for (const double rho : {0.2, 0.5, 0.9}) {
    const double c = simultaneous_band(equicorrelated(rho, sd), 0.05)(0) / sd(0);
    // The quantile's draws leave a standard error of sqrt(0.05 0.95/2e5) = 0.0005 in probability.
    CHECK_THAT(inside(c, rho, kPoints), WithinAbs(0.95, 0.002));
    CHECK(c < last);  // the closer the errors, the narrower their band
    last = c;
  }
  CHECK(simultaneous_band(equicorrelated(0.5, sd)) == simultaneous_band(equicorrelated(0.5, sd)));
}

TEST_CASE("simultaneous band: a right theory with correlated errors is not rejected more often",
          "[solvers][band]") {
  // Theory values off by errors of covariance C, replicates about the truth, no other margin to
  // speak of. With the band as numerical error DISAGREE needs the band to fail (1 %) or the test
  // to err; without it nearly every run disagrees. 300 runs: 1 % and at most 5 % more is 18; 31
  // would be three standard deviations above.
  const VectorXd sd = VectorXd::LinSpaced(kPoints, 0.5, 3);
  const MatrixXd covariance = equicorrelated(0.7, sd);
  const VectorXd band = simultaneous_band(covariance);
  const MatrixXd root = covariance.llt().matrixL();
  int disagree = 0;
  int without = 0;
  int outside = 0;
  for (std::uint64_t run = 0; run < 300; ++run) {
    RandomStream stream({.seed = 4, .id = StreamId::self_test, .replicate = run});
    VectorXd z(kPoints);
    for (double& value : z) value = stream.normal();
    const VectorXd error = root * z;
    outside += (error.cwiseAbs().array() > band.array()).any() ? 1 : 0;
    std::vector<ComparedPoint> points;
    for (int k = 0; k < kPoints; ++k) {
      ComparedPoint p{.theory = 10 + error(k),
                      .margin = {.absolute = 0.01, .numerical_error = band(k)},
                      .tails = Tails::normal};
      for (int r = 0; r < 30; ++r) p.replicates.push_back(10 + 0.2 * stream.normal());
      points.push_back(p);
    }
    disagree += judge(points, {.details = false}).verdict == Verdict::disagree ? 1 : 0;
    for (ComparedPoint& p : points) p.margin.numerical_error = 0;
    without += judge(points, {.details = false}).verdict == Verdict::disagree ? 1 : 0;
  }
  CAPTURE(disagree, without, outside);
  CHECK(outside <= 9);  // of 300 at 1 %: three standard deviations above 3 are 8.2
  CHECK(disagree <= 31);
  CHECK(without > 270);
}

TEST_CASE("simultaneous band: bad covariances are named", "[solvers][band]") {
  CHECK_THAT(refusal(MatrixXd(2, 3)), Contains("columns"));
  MatrixXd c = equicorrelated(0.5, VectorXd::Ones(3));
  c(1, 1) = -1;
  CHECK_THAT(refusal(c), Contains("diagonal"));
  c = equicorrelated(0.5, VectorXd::Ones(3));
  c(0, 2) = 0.4;
  CHECK_THAT(refusal(c), Contains("symmetric"));
  c(0, 2) = NAN;
  CHECK_THAT(refusal(c), Contains("finite"));
  c(0, 2) = c(2, 0) = 1.5;
  CHECK_THAT(refusal(c), Contains("sqrt(C_ii C_jj)"));
  CHECK_THAT(refusal(equicorrelated(-0.9, VectorXd::Ones(3))), Contains("eigenvalues"));
}

}  // namespace statistics_simultaneous_test
