#include "attica/sim/gauss/teacher.hpp"

#include <Eigen/Cholesky>
#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/gauss/ensembles.hpp"
#include "attica/core/normal_matrix.hpp"
#include "attica/sim/gauss/ridge.hpp"

using namespace attica;
using Catch::Matchers::WithinRel;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

TEST_CASE("teacher_errors: those of the explicit regression of the labels",
          "[sim][gauss][study:gauss-teacher]") {
  constexpr Index kSites = 6;
  constexpr Index kSamples = 9;
  constexpr double kLambda = 0.2;
  const GaussianMlm problem(ar1_covariance(kSites, 0.6));
  const MatrixXd factor = problem.factor();
  RandomStream stream({.seed = 5});
  const MatrixXd data = gaussian_samples(factor, factor.isLowerTriangular(0), kSamples, stream);
  const std::vector<double> noises = {0, 0.3, 1};
  RandomStream labels({.seed = 6});
  const std::vector<TeacherErrors> errors = teacher_errors(
      {.problem = problem, .factor = factor, .lambdas = {kLambda}, .noises = noises},
      [&] { return data; },
      labels);
  REQUIRE(errors.size() == 1);
  CHECK_THAT(errors[0].masked, WithinRel(RidgeFits(data, factor).fit(kLambda).test.mean(), 1e-12));
  // The same draws: the teacher, then the noise of the labels.
  RandomStream again({.seed = 6});
  const Index inputs = kSites - 1;
  const MatrixXd covariance = problem.covariance().topLeftCorner(inputs, inputs);
  const VectorXd teacher = normal_matrix(inputs, 1, again) / std::sqrt(covariance.trace());
  const VectorXd unit = normal_matrix(kSamples, 1, again);
  const MatrixXd x = data.leftCols(inputs);
  for (std::size_t k = 0; k < noises.size(); ++k) {
    CAPTURE(noises[k]);
    const VectorXd truth = std::sqrt(1 - noises[k]) * teacher;
    const VectorXd y = x * truth + std::sqrt(noises[k]) * unit;
    const VectorXd w = (x.transpose() * x / kSamples + kLambda * MatrixXd::Identity(inputs, inputs))
                           .llt()
                           .solve(x.transpose() * y / kSamples);
    const double expected = noises[k] + (w - truth).dot(covariance * (w - truth));
    CHECK_THAT(errors[0].taught[k], WithinRel(expected, 1e-9));
  }
}
