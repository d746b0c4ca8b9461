#include "attica/theory/icl/feature_law.hpp"

#include <Eigen/Dense>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "attica/core/random.hpp"
#include "attica/theory/icl/ridge.hpp"

namespace feature_law_test {

using namespace attica;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd normals(Index rows, Index columns, RandomStream& stream) {
  MatrixXd all(rows, columns);
  for (double& x : all.reshaped()) x = stream.normal();
  return all;
}

double distance(const MatrixXd& a, const MatrixXd& b) { return (a - b).norm() / b.norm(); }

TEST_CASE("weighted: without weight the moments of the features", "[theory][icl]") {
  RandomStream stream({.seed = 3});
  const MatrixXd pool = normals(4, 6, stream);  // of unequal lengths
  for (const double rho : {0.0, 0.3}) {
    const ContextNoise context{.length = 5, .rho = rho};
    const ContextMoments exact = pool_moments(pool, context);
    const FeatureLaw::Weighted weighted =
        FeatureLaw(pool, context)
            .weighted(1e-9 * MatrixXd::Identity(7, 7), 0, MatrixXd::Zero(6, 7));
    // Below e^-9 of the range, nodes are taken for a geometric series: e^-18 of it.
    CHECK(distance(weighted.second, exact.second) < 5e-7);
    CHECK(distance(weighted.cross, exact.cross) < 5e-7);
  }
}

TEST_CASE("weighted: a task that the form does not see keeps its whole weight", "[theory][icl]") {
  constexpr Index d = 8;
  constexpr double kStrong = 1e6;
  MatrixXd pool = MatrixXd::Zero(2, d);
  pool.row(0).head(3).setOnes();
  pool(1, 3) = 1;
  MatrixXd k = MatrixXd::Zero(d + 1, d + 1);
  k.topLeftCorner(3, 3) = kStrong * MatrixXd::Identity(3, 3);
  // Contexts so long that h = w and g = |w|^2/d: the mean of |x|^2/(1 + |x|^2 a) is 1 where a = 0,
  // and 1/a up to E 1/(a |x|)^2 of the other task.
  const FeatureLaw::Weighted weighted =
      FeatureLaw(pool, {.length = 1e13, .rho = 0}).weighted(k, 0, MatrixXd::Zero(d, d + 1));
  const auto feature = [&](Index task) {
    VectorXd u(d + 1);
    u << pool.row(task).transpose(), pool.row(task).squaredNorm() / d;
    return u;
  };
  const MatrixXd second =
      (feature(1) * feature(1).transpose() + feature(0) * feature(0).transpose() / (3 * kStrong)) /
      2;
  // Up to the order 1/(a |x|)^4.
  CHECK(distance(weighted.second, second) < 1e-4);
}

TEST_CASE("weighted: sequences drawn token by token", "[theory][icl][slow]") {
  constexpr Index d = 5;
  constexpr Index kLength = 4;
  constexpr double kRho = 0.2;
  constexpr double kEpsilon = 0.3;
  RandomStream stream({.seed = 5});
  const MatrixXd pool = normals(3, d, stream);
  const MatrixXd root = 0.6 * normals(d + 1, d + 1, stream);
  const MatrixXd k = root * root.transpose();
  const MatrixXd gamma = 0.5 * normals(d, d + 1, stream);
  const FeatureLaw::Weighted weighted =
      FeatureLaw(pool, {.length = kLength, .rho = kRho}).weighted(k, kEpsilon, gamma);

  constexpr int kDraws = 600000;
  MatrixXd second = MatrixXd::Zero(d + 1, d + 1);
  MatrixXd cross = MatrixXd::Zero(d, d + 1);
  for (int draw = 0; draw < kDraws; ++draw) {
    const VectorXd w = pool.row(draw % pool.rows()).transpose();
    VectorXd u = VectorXd::Zero(d + 1);
    for (Index i = 0; i < kLength; ++i) {
      const VectorXd x = normals(d, 1, stream) / std::sqrt(d);
      const double y = w.dot(x) + std::sqrt(kRho) * stream.normal();
      u.head(d) += static_cast<double>(d) / kLength * y * x;
      u(d) += y * y / kLength;
    }
    const double square = normals(d, 1, stream).squaredNorm() / d;
    const double q =
        square * (u.dot(k * u) + kEpsilon * (w - gamma * u).squaredNorm() / d) + kEpsilon * kRho;
    const double phi = square / (1 + q) / kDraws;
    second += phi * u * u.transpose();
    cross += phi * w * u.transpose();
  }
  // Draws scatter by some 0.2 %.
  CHECK(distance(second, weighted.second) < 0.01);
  CHECK(distance(cross, weighted.cross) < 0.01);
}

TEST_CASE("context_pool: Gaussian features when the fit is rigid or the data are many",
          "[theory][icl]") {
  RandomStream stream({.seed = 7});
  const MatrixXd pool = sphere_pool(12, 10, stream);
  const PoolSizes rigid{.context = 20, .samples = 200, .rho = 0.1, .lambda = 1e5};
  CHECK_THAT(context_pool(pool, rigid).icl, WithinRel(context_gaussian(pool, rigid).icl, 1e-4));
  const PoolSizes many{.context = 20, .samples = 1e7, .rho = 0.1, .lambda = 0.1};
  const ContextErrors exact = context_pool(pool, many);
  const ContextErrors gaussian = context_gaussian(pool, many);
  CHECK_THAT(exact.icl, WithinRel(gaussian.icl, 1e-4));
  CHECK_THAT(exact.idg, WithinRel(gaussian.idg, 1e-4));
  // Fluctuating features are harder to learn from.
  const PoolSizes few{.context = 20, .samples = 150, .rho = 0.1, .lambda = 0.1};
  CHECK(context_pool(pool, few).icl > 1.02 * context_gaussian(pool, few).icl);
}

TEST_CASE("context_pool: without a penalty the limit of small ones", "[theory][icl]") {
  RandomStream stream({.seed = 9});
  constexpr Index d = 6;
  const MatrixXd pool = sphere_pool(12, d, stream);
  // Fewer and more sequences than the d(d + 1) = 42 unknowns.
  for (const double samples : {14.0, 30.0, 120.0}) {
    const auto error = [&](double lambda) {
      return context_pool(pool, {.context = 12, .samples = samples, .rho = 0.1, .lambda = lambda})
          .icl;
    };
    CAPTURE(samples);
    const double limit = 2 * error(1e-3) - error(2e-3);
    for (const double lambda : {0.0, 1e-9, 1e-7, 1e-5}) {
      CAPTURE(lambda);
      CHECK_THAT(error(lambda), WithinRel(limit, 0.01));
    }
  }
}

TEST_CASE("context_pool: large pools by the law of their first tasks", "[theory][icl]") {
  RandomStream stream({.seed = 8});
  constexpr Index d = 6;
  const MatrixXd pool = sphere_pool(60 * d, d, stream);
  const PoolSizes sizes{.context = 12, .samples = 72, .rho = 0.1, .lambda = 0.1};
  const ContextNoise context{.length = sizes.context, .rho = sizes.rho};
  const ContextMoments own = pool_moments(pool, context);
  const RidgeOfFeatures all =
      ridge_of_features(FeatureLaw(pool, context), sizes.samples, sizes.lambda, own, 0.5);
  const auto error = [&](const ContextMoments& test) {
    return population_error(all.mean, test) + test.second.cwiseProduct(all.covariance).sum();
  };
  const ContextErrors few = context_pool(pool, sizes);
  CHECK_THAT(few.icl, WithinRel(error(fresh_moments(d, context)), 0.002));
  CHECK_THAT(few.idg, WithinRel(error(own), 0.002));
  // Not by chance: what the law adds is larger.
  CHECK(few.icl > 1.02 * context_gaussian(pool, sizes).icl);
}

TEST_CASE("context_pool: several tests at once are those of each alone", "[theory][icl]") {
  RandomStream stream({.seed = 10});
  const PoolSizes sizes{.context = 12, .samples = 72, .rho = 0.1, .lambda = 0.1};
  const ContextNoise context{.length = sizes.context, .rho = sizes.rho};
  for (const Index tasks : {9, 200}) {
    const MatrixXd pool = sphere_pool(tasks, 6, stream);
    const std::vector<ContextMoments> tests = {
        fresh_moments(6, context), gaussian_moments(Eigen::ArrayXd::LinSpaced(6, 0.5, 2), context)};
    const std::vector<ContextErrors> both = context_pool(pool, sizes, tests);
    for (std::size_t k = 0; k < tests.size(); ++k) {
      const ContextErrors one = context_pool(pool, sizes, tests[k]);
      CHECK(both[k].icl == one.icl);
      CHECK(both[k].idg == one.idg);
    }
  }
}

TEST_CASE("context_pool: ridge regression on sequences drawn token by token", "[theory][icl]") {
  constexpr Index d = 6;
  constexpr Index kLength = 12;
  constexpr Index kSequences = 72;
  constexpr double kLambda = 0.02;
  constexpr double kRho = 0.1;
  RandomStream stream({.seed = 9});
  const MatrixXd pool = sphere_pool(6, d, stream);
  const ContextNoise context{.length = kLength, .rho = kRho};
  constexpr int kSets = 1500;
  constexpr Index kFeatures = d * (d + 1);
  double icl = 0;
  for (int set = 0; set < kSets; ++set) {
    MatrixXd features(kFeatures, kSequences);
    VectorXd labels(kSequences);
    for (Index mu = 0; mu < kSequences; ++mu) {
      const VectorXd w = pool.row(mu % pool.rows()).transpose();
      const MatrixXd x = normals(d, kLength + 1, stream) / std::sqrt(d);
      const VectorXd y = x.transpose() * w + std::sqrt(kRho) * normals(kLength + 1, 1, stream);
      VectorXd u(d + 1);
      u << static_cast<double>(d) / kLength * x.leftCols(kLength) * y.head(kLength),
          y.head(kLength).squaredNorm() / kLength;
      features.col(mu) = (x.col(kLength) * u.transpose()).reshaped();
      labels(mu) = y(kLength);
    }
    MatrixXd gram = features * features.transpose();
    gram.diagonal().array() += kSequences * kLambda / d;
    const VectorXd fit = gram.llt().solve(features * labels);
    icl += population_error(fit.reshaped(d, d + 1), fresh_moments(d, context)) / kSets;
  }
  const PoolSizes sizes{.context = kLength, .samples = kSequences, .rho = kRho, .lambda = kLambda};
  // Data sets scatter by 0.6 %; Gaussian features are 14 % off.
  CHECK_THAT(context_pool(pool, sizes).icl, WithinRel(icl, 0.025));
  CHECK(std::abs(context_gaussian(pool, sizes).icl / icl - 1) > 0.06);
}

}  // namespace feature_law_test
