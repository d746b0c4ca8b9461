#include "attica/theory/potts/block_ridge.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/core/gauss/ensembles.hpp"
#include "attica/core/potts/coding.hpp"
#include "attica/core/potts/ensembles.hpp"
#include "attica/core/potts/enumeration.hpp"
#include "attica/theory/gauss/ridge.hpp"
#include "reference_values.hpp"

using namespace attica;
using attica::testing::reference_values;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

TEST_CASE("BlockRidge: matches the reference on coded Potts data", "[theory][potts]") {
  const auto r = reference_values("potts")["potts"]["square_theory"];
  const PottsModel model(cosine_couplings(4), cosine_colour_couplings(3), 1.2);
  const BlockRidge theory(coded_moments(enumerate(model).states, 3).covariance, 2);
  for (const auto entry : r) {
    for (std::size_t i = 0; i < 4; ++i) {
      const BlockRidgeBlock b =
          theory.block(static_cast<Eigen::Index>(i), entry["M"], entry["lam"]);
      // At lambda = 1e-8 and M = N the errors are of order 1e3 and amplify rounding likewise.
      CHECK_THAT(b.test_error, WithinRel(entry["test"][i].get<double>(), 1e-9));
      CHECK_THAT(b.train_error, WithinRel(entry["train"][i].get<double>(), 1e-8));
      CHECK_THAT(b.kappa, WithinAbs(entry["kappa"][i], 1e-12));
    }
  }
}

TEST_CASE("BlockRidge: blocks of one are the scalar theory", "[theory][potts]") {
  const Eigen::MatrixXd covariance = ar1_covariance(8, 0.6);
  const BlockRidge blocks(covariance, 1);
  const GaussianRidge scalar{GaussianMlm(covariance)};
  for (const auto& [samples, lambda] :
       {std::pair{3.5, 0.1}, {7.0, 0.01}, {20.0, 0.0}, {4.0, 0.0}}) {
    const RidgePoint expected = scalar.average(samples, lambda);
    const BlockRidgePoint found = blocks.average(samples, lambda);
    CHECK_THAT(found.test_error, WithinRel(expected.test_error, 1e-10));
    CHECK_THAT(found.train_error, WithinAbs(expected.train_error, 1e-10));
  }
  CHECK(std::isinf(blocks.average(7, 0).test_error));

  const GaussianRidge first(GaussianMlm(covariance), RidgeOrder::first);
  for (const auto& [samples, lambda] :
       {std::pair{3.5, 0.1}, {7.0, 0.01}, {20.0, 0.0}, {40.0, 1.0}}) {
    const RidgePoint expected = first.average(samples, lambda);
    const BlockRidgePoint found = blocks.average(samples, lambda, RidgeOrder::first);
    CHECK_THAT(found.test_error, WithinRel(expected.test_error, 1e-9));
    CHECK_THAT(found.train_error, WithinRel(expected.train_error, 1e-9));
    CHECK_THAT(found.finite_size_test, WithinRel(expected.finite_size_test, 1e-8));
    CHECK_THAT(found.finite_size_train, WithinRel(expected.finite_size_train, 1e-8));
    const BlockRidgeOrders both = blocks.averages(samples, lambda);
    CHECK(both.first.test_error == found.test_error);
    CHECK(both.first.finite_size_train == found.finite_size_train);
    CHECK(both.leading.train_error == blocks.average(samples, lambda).train_error);
  }
}

TEST_CASE("BlockRidge: to order 1/M channels of a block add, as single variables would",
          "[theory][potts]") {
  // Each channel by itself: a site among the inputs that its block has.
  const Eigen::MatrixXd one = ar1_covariance(5, 0.6);
  Eigen::MatrixXd both = Eigen::MatrixXd::Zero(10, 10);
  for (Eigen::Index i = 0; i < 5; ++i) {
    for (Eigen::Index j = 0; j < 5; ++j)
      both(2 * i, 2 * j) = both(2 * i + 1, 2 * j + 1) = one(i, j);
  }
  const double samples = 25;
  const double lambda = 0.2;
  for (const RidgeOrder order : {RidgeOrder::leading, RidgeOrder::first}) {
    double expected = 0;
    for (const Eigen::Index site : {4, 5}) {  // both channels of the middle one
      std::vector<Eigen::Index> kept;
      for (Eigen::Index k = 0; k < 10; ++k) {
        if (k == site || (k != 4 && k != 5)) kept.push_back(k);
      }
      const auto own = std::find(kept.begin(), kept.end(), site) - kept.begin();
      expected +=
          ridge_site(GaussianMlm(Eigen::MatrixXd(both(kept, kept))), own, samples, lambda, order)
              .test_error;
    }
    CHECK_THAT(BlockRidge(both, 2).block(2, samples, lambda, order).test_error,
               WithinRel(expected, 1e-9));
  }
}

TEST_CASE("BlockRidge: refuses bad input", "[theory][potts]") {
  const Eigen::MatrixXd covariance = ar1_covariance(6, 0.5);
  CHECK_THROWS_AS(BlockRidge(covariance, 4), Error);
  CHECK_THROWS_AS(BlockRidge(covariance, 6), Error);
  CHECK_THROWS_AS(BlockRidge(Eigen::MatrixXd::Zero(6, 6), 2), Error);
  CHECK_THROWS_AS(BlockRidge(covariance, 2).block(0, 10, -1), Error);
  CHECK_THROWS_AS(BlockRidge(covariance, 2).block(0, 0, 1), Error);
}
