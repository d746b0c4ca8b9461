#include "attica/sim/potts/block_ridge.hpp"

#include <Eigen/Cholesky>
#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/core/gauss/ensembles.hpp"
#include "attica/sim/gauss/ridge.hpp"

using namespace attica;
using Catch::Matchers::WithinRel;
using Eigen::MatrixXd;

TEST_CASE("block_ridge_errors: equals the explicit regressions", "[sim][potts]") {
  const Eigen::Index size = 6;
  const MatrixXd covariance = ar1_covariance(size, 0.5);
  RandomStream stream({.seed = 4});
  const MatrixXd z = gaussian_samples(MatrixXd(covariance.llt().matrixL()), true, 5, stream);
  const double lambda = 0.3;
  double test = 0;
  double train = 0;
  for (Eigen::Index first = 0; first < size; first += 2) {
    std::vector<Eigen::Index> inputs;
    for (Eigen::Index k = 0; k < size; ++k) {
      if (k / 2 != first / 2) inputs.push_back(k);
    }
    const MatrixXd x = z(Eigen::all, inputs);
    const MatrixXd y = z.middleCols(first, 2);
    const MatrixXd w = (x.transpose() * x / 5 + lambda * MatrixXd::Identity(4, 4))
                           .llt()
                           .solve(x.transpose() * y / 5);
    train += (y - x * w).squaredNorm() / 5 / 3;
    const MatrixXd c = covariance(inputs, inputs);
    const MatrixXd b = covariance(inputs, Eigen::seqN(first, 2));
    test += (covariance.block(first, first, 2, 2) - 2 * b.transpose() * w + w.transpose() * c * w)
                .trace() /
            3;
  }
  const BlockRidgeErrors errors = block_ridge_errors(z, covariance, 2, lambda);
  CHECK_THAT(errors.test, WithinRel(test, 1e-12));
  CHECK_THAT(errors.train, WithinRel(train, 1e-12));
  CHECK_THROWS_AS(block_ridge_errors(z, covariance, 4, lambda), Error);
  CHECK_THROWS_AS(block_ridge_errors(z, covariance, 2, -1), Error);
}

TEST_CASE("block_ridge_errors: at lambda = 0 it is the limit of a small penalty", "[sim][potts]") {
  const Eigen::Index size = 8;
  const MatrixXd covariance = ar1_covariance(size, 0.5);
  const MatrixXd factor = covariance.llt().matrixL();
  // Fewer samples than inputs, one more than the inputs of a block, more than variables.
  for (const Eigen::Index samples : {3, 7, 12}) {
    RandomStream stream({.seed = 5});
    const MatrixXd z = gaussian_samples(factor, true, samples, stream);
    const BlockRidgeErrors none = block_ridge_errors(z, covariance, 2, 0);
    // Regressions solved one by one: the inverse of the whole matrix would lose nine digits here.
    double test = 0;
    double train = 0;
    for (Eigen::Index first = 0; first < size; first += 2) {
      std::vector<Eigen::Index> inputs;
      for (Eigen::Index k = 0; k < size; ++k) {
        if (k / 2 != first / 2) inputs.push_back(k);
      }
      const MatrixXd x = z(Eigen::all, inputs);
      MatrixXd penalised = x.transpose() * x;
      penalised.diagonal().array() += 1e-9;
      MatrixXd r = MatrixXd::Zero(size, 2);
      r.middleRows(first, 2).setIdentity();
      r(inputs, Eigen::all) =
          -penalised.llt().solve(MatrixXd(x.transpose() * z.middleCols(first, 2)));
      test += (r.transpose() * covariance * r).trace() / 4;
      train += (z * r).squaredNorm() / static_cast<double>(samples) / 4;
    }
    // The limit is reached as the penalty over the smallest eigenvalue, some 1e-3.
    CHECK_THAT(none.test, WithinRel(test, 1e-4));
    CHECK(std::abs(none.train - train) < 1e-8);
  }
}
