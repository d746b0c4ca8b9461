#include "attica/sim/gauss/ridge.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <utility>
#include <vector>

#include "attica/sim/gauss/sgd.hpp"
#include "attica/sim/gauss/tridiagonal.hpp"
#include "reference_values.hpp"

using namespace attica;
using attica::testing::reference_values;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace gauss_ridge_test {

MatrixXd ar1_covariance(Index sites, double rho) {
  MatrixXd sigma(sites, sites);
  for (Index i = 0; i < sites; ++i) {
    for (Index j = 0; j < sites; ++j) sigma(i, j) = std::pow(rho, std::abs(double(i - j)));
  }
  return sigma;
}

MatrixXd factor_of(const MatrixXd& sigma) { return sigma.llt().matrixL(); }

struct Oracle {
  MatrixXd attention;
  VectorXd test;
  VectorXd train;
  VectorXd overlap_m;
  VectorXd overlap_q;
  VectorXd weight_norm2;
};

/// Site by site: minimum-norm least squares of the augmented system, by QR. Shares nothing with the
/// code.
Oracle site_by_site(const MatrixXd& z, const MatrixXd& sigma, double lambda) {
  const Index m = z.rows();
  const Index l = z.cols();
  Oracle o{MatrixXd::Zero(l, l), VectorXd(l), VectorXd(l), VectorXd(l), VectorXd(l), VectorXd(l)};
  for (Index i = 0; i < l; ++i) {
    MatrixXd x(m, l - 1);
    x << z.leftCols(i), z.rightCols(l - 1 - i);
    MatrixXd augmented(m + l - 1, l - 1);
    augmented << x, std::sqrt(lambda * double(m)) * MatrixXd::Identity(l - 1, l - 1);
    VectorXd target = VectorXd::Zero(m + l - 1);
    target.head(m) = z.col(i);
    const VectorXd w = augmented.completeOrthogonalDecomposition().solve(target);
    for (Index j = 0, k = 0; j < l; ++j) {
      if (j != i) o.attention(i, j) = w(k++);
    }
    const VectorXd row = o.attention.row(i);
    o.overlap_m(i) = row.dot(sigma.col(i));
    o.overlap_q(i) = row.dot(sigma * row);
    o.weight_norm2(i) = row.squaredNorm();
    VectorXd residual = -o.attention.row(i).transpose();
    residual(i) = 1;
    o.test(i) = residual.dot(sigma * residual);
    o.train(i) = (z * residual).squaredNorm() / double(m);
  }
  return o;
}

TEST_CASE("tridiagonal_form: A = Q T Q^T, Q orthogonal, at sizes around those of a block",
          "[sim][ridge]") {
  RandomStream stream({.seed = 2});
  for (const Index n : {1, 2, 3, 7, 8, 9, 16, 17, 33, 100}) {
    const MatrixXd z = MatrixXd::NullaryExpr(n, n, [&] { return stream.normal(); });
    MatrixXd blocks = MatrixXd::Identity(n, n);  // nothing is left to reflect half way
    blocks.topLeftCorner(n / 2, n / 2) = (z * z.transpose()).topLeftCorner(n / 2, n / 2);
    for (const MatrixXd& a : {MatrixXd(z + z.transpose()),
                              MatrixXd(z.col(0) * z.col(0).transpose()),
                              blocks,
                              MatrixXd(MatrixXd::Zero(n, n)),
                              MatrixXd(MatrixXd::Identity(n, n))}) {
      const auto form = tridiagonal_form(MatrixXd(a.triangularView<Eigen::Lower>()));
      MatrixXd t = form.diagonal.asDiagonal();
      t.diagonal(1) = form.subdiagonal;
      t.diagonal(-1) = form.subdiagonal;
      const double tolerance = 1e-14 * static_cast<double>(n) * (1 + a.norm());
      CHECK((form.q * t * form.q.transpose() - a).norm() < tolerance);
      CHECK((form.q.transpose() * form.q - MatrixXd::Identity(n, n)).norm() < tolerance);
    }
  }
}

TEST_CASE("RidgeFits: equals site-by-site least squares on both sides of M = L", "[sim][ridge]") {
  for (const auto& [sites, m] : std::vector<std::pair<Index, Index>>{
           {9, 1}, {9, 4}, {9, 8}, {9, 9}, {9, 10}, {9, 25}, {37, 1}, {37, 20}, {37, 60}}) {
    const MatrixXd sigma = ar1_covariance(sites, 0.7);
    const MatrixXd factor = factor_of(sigma);
    RandomStream stream({.seed = 3, .point = static_cast<std::uint64_t>(m)});
    const MatrixXd z = gaussian_samples(factor, true, m, stream);
    const RidgeFits fits(z, factor);
    for (double lambda : {0.0, 1e-6, 0.1, 3.0}) {
      CAPTURE(sites, m, lambda);
      const Oracle oracle = site_by_site(z, sigma, lambda);
      // The least-squares oracle sees the condition number of the data, squared in the normal
      // equations.
      const double tolerance = lambda == 0 || lambda == 1e-6 ? 1e-6 : 1e-10;
      CHECK((fits.attention(lambda) - oracle.attention).norm() <
            tolerance * (1 + oracle.attention.norm()));
      const RidgeFit fit = fits.fit(lambda);
      CHECK((fit.test - oracle.test).norm() < tolerance * oracle.test.norm());
      CHECK((fit.train - oracle.train).norm() < tolerance * (1e-3 + oracle.train.norm()));
      CHECK((fit.overlap_m - oracle.overlap_m).norm() < tolerance * (1 + oracle.overlap_m.norm()));
      CHECK((fit.overlap_q - oracle.overlap_q).norm() < tolerance * (1 + oracle.overlap_q.norm()));
      CHECK((fit.weight_norm2 - oracle.weight_norm2).norm() <
            tolerance * (1 + oracle.weight_norm2.norm()));
    }
  }
}

TEST_CASE("RidgeFits: reference estimators of explicit data", "[sim][ridge]") {
  const auto cases = reference_values("potts").at("ridge_given_data");
  REQUIRE(cases.size() == 2);
  for (const auto c : cases) {
    const Index m = c.at("M");
    const Index l = c.at("L");
    MatrixXd z(m, l);
    for (Index mu = 0; mu < m; ++mu) {
      for (Index j = 0; j < l; ++j) {
        z(mu, j) = std::sin(1 + 1.7 * double(mu) + 2.3 * double(j) + 0.31 * double(mu * j));
      }
    }
    const double lambda = c.at("lam");
    const MatrixXd factor = factor_of(ar1_covariance(l, c.at("Sigma_test").at("param")));
    const RidgeFits fits(z, factor);
    const MatrixXd a = fits.attention(lambda);
    const RidgeFit fit = fits.fit(lambda);
    for (Index i = 0; i < l; ++i) {
      const auto k = static_cast<std::size_t>(i);
      for (Index j = 0; j < l; ++j) {
        // lambda = 0 has G_00 = 0.0064: the reference itself carries the cancellation of 1 - P.
        CHECK_THAT(a(i, j),
                   Catch::WithinAbs(double(c.at("A")[k][static_cast<std::size_t>(j)]), 1e-10));
      }
      CHECK_THAT(fit.test(i), Catch::WithinRel(double(c.at("test")[k]), 1e-10));
      CHECK_THAT(fit.train(i), Catch::WithinAbs(double(c.at("train")[k]), 1e-12));
    }
  }
}

TEST_CASE("RidgeFits: lambda = 0 is the limit of small lambda, also for repeated rows",
          "[sim][ridge]") {
  const MatrixXd sigma = ar1_covariance(6, 0.5);
  const MatrixXd factor = factor_of(sigma);
  RandomStream stream({.seed = 4});
  MatrixXd z = gaussian_samples(factor, true, 8, stream);
  for (Index mu = 4; mu < 8; ++mu) z.row(mu) = z.row(mu - 4);  // rank 4 with M = 8 >= L
  const RidgeFits fits(z, factor);
  const RidgeFit zero = fits.fit(0);
  const RidgeFit small = fits.fit(1e-8);
  CHECK((zero.test - small.test).norm() <
        1e-5 * zero.test.norm());  // O(lambda / smallest eigenvalue)
  CHECK(zero.train.cwiseAbs().maxCoeff() < 1e-12);
}

TEST_CASE("RidgeFits: a site outside the kernel at lambda = 0 uses the pseudo-inverse",
          "[sim][ridge]") {
  // Columns 0 and 1 are equal, so the kernel is spanned by e_0 - e_1; sites 2 and 3 have no
  // component there.
  RandomStream stream({.seed = 5});
  MatrixXd z = gaussian_samples(MatrixXd::Identity(4, 4), true, 30, stream);
  z.col(1) = z.col(0);
  const MatrixXd sigma = MatrixXd::Identity(4, 4);
  const Oracle oracle = site_by_site(z, sigma, 0);
  const RidgeFit fit = RidgeFits(z, sigma).fit(0);
  CHECK((fit.test - oracle.test).norm() < 1e-10);
  CHECK((fit.train - oracle.train).norm() < 1e-10);
}

TEST_CASE("RidgeFits: test error equals the error on fresh samples", "[sim][ridge]") {
  const MatrixXd factor = factor_of(ar1_covariance(5, 0.6));
  RandomStream stream({.seed = 6});
  const RidgeFits fits(gaussian_samples(factor, true, 12, stream), factor);
  const MatrixXd fresh = gaussian_samples(factor, true, 200000, stream);
  const MatrixXd residual = fresh - fresh * fits.attention(0.05).transpose();
  const VectorXd sampled = residual.colwise().squaredNorm().transpose() / 200000.0;
  const RidgeFit fit = fits.fit(0.05);
  // Relative standard error of a mean of squares of normals: sqrt(2 / n) = 0.0032; five of them.
  for (Index i = 0; i < 5; ++i) CHECK_THAT(sampled(i), Catch::WithinRel(fit.test(i), 5 * 0.00317));
}

TEST_CASE("gaussian_samples: covariance F F^T", "[sim][ridge]") {
  const MatrixXd sigma = ar1_covariance(4, 0.8);
  RandomStream stream({.seed = 8});
  const MatrixXd z = gaussian_samples(factor_of(sigma), true, 100000, stream);
  const MatrixXd estimate = z.transpose() * z / 100000.0;
  // Var of an entry is at most 2 / n: five standard errors.
  CHECK((estimate - sigma).cwiseAbs().maxCoeff() < 5 * std::sqrt(2.0 / 100000));
}

TEST_CASE("gaussian_samples, gaussian_source: F times what the stream gives, by whichever route",
          "[sim][ridge]") {
  constexpr Index kSites = 100;  // several blocks of columns
  const MatrixXd walk = MatrixXd::NullaryExpr(
      kSites, kSites, [](Index i, Index j) { return 1 + 0.1 * double(std::min(i, j)); });
  MatrixXd equal = MatrixXd::Constant(kSites, kSites, 0.3);
  equal.diagonal().setOnes();
  const MatrixXd nearly = ar1_covariance(kSites, 0.7) + 1e-6 * MatrixXd::Identity(kSites, kSites);
  for (const auto& [covariance, chain] : {std::pair(ar1_covariance(kSites, 0.7), true),
                                          std::pair(ar1_covariance(kSites, 0.0), true),
                                          std::pair(ar1_covariance(kSites, -0.1), true),
                                          std::pair(walk, true),
                                          std::pair(equal, false),
                                          std::pair(nearly, false)}) {
    const MatrixXd factor = factor_of(covariance);
    const VectorXd slopes = chain_slopes(factor);
    REQUIRE((slopes.size() > 0) == chain);
    if (chain)
      CHECK_THAT(slopes[70], Catch::WithinAbs(covariance(70, 69) / covariance(69, 69), 1e-13));
    RandomStream again({.seed = 3});
    MatrixXd white = MatrixXd::NullaryExpr(37, kSites, [&] { return again.normal(); });
    RandomStream stream({.seed = 3});
    const double rounding = 1e-13 * std::sqrt(covariance.diagonal().maxCoeff());
    CHECK((gaussian_samples(factor, true, 37, stream) - white * factor.transpose())
              .cwiseAbs()
              .maxCoeff() < rounding);
    RandomStream general({.seed = 3});
    CHECK((gaussian_samples(factor, false, 37, general) - white * factor.transpose())
              .cwiseAbs()
              .maxCoeff() < rounding);
    RandomStream columns({.seed = 3});
    white.resize(kSites, 37);  // the same numbers, a sample after the other
    MatrixXd samples(kSites, 37);
    gaussian_source(GaussianMlm(covariance), columns)(samples);
    CHECK((samples - factor * white).cwiseAbs().maxCoeff() < rounding);
  }
}

TEST_CASE("resampled_rows: every row equally likely", "[sim][ridge]") {
  MatrixXd rows(3, 2);
  rows << 0, 0, 1, 1, 2, 2;
  RandomStream stream({.seed = 8});
  const MatrixXd drawn = resampled_rows(rows, 30000, stream);
  // Mean 1, variance 2/3 of the row index.
  CHECK_THAT(drawn.col(0).mean(), Catch::WithinAbs(1.0, 5 * std::sqrt(2.0 / 3 / 30000)));
  CHECK(drawn.col(0) == drawn.col(1));
}

TEST_CASE("RidgeFits: refuses a negative penalty by name", "[sim][ridge]") {
  CHECK_THROWS_WITH(RidgeFits(MatrixXd::Ones(3, 2), MatrixXd::Identity(2, 2)).attention(-1.0),
                    Catch::Contains("lambda") && Catch::Contains("-1"));
}

TEST_CASE("RidgeFits: a penalty below the rounding of a singular Gram matrix is a failure",
          "[sim][ridge]") {
  // Equal columns make S singular; 1e-300 vanishes beside its entries.
  CHECK_THROWS_WITH(RidgeFits(MatrixXd::Ones(3, 2), MatrixXd::Identity(2, 2)).fit(1e-300),
                    Catch::Contains("singular"));
}

TEST_CASE("RidgeFits: an estimator's parts are those of labels without noise and of noise alone",
          "[sim][ridge]") {
  constexpr Index kSites = 9;
  const GaussianMlm problem(ar1_covariance(kSites, 0.6));
  const BestPredictors best(problem);
  const MatrixXd factor = problem.factor();
  for (const Index samples : {4, 8, 9, 30}) {
    RandomStream stream({.seed = 12, .point = static_cast<std::uint64_t>(samples)});
    const MatrixXd z = gaussian_samples(factor, true, samples, stream);
    const RidgeFits fits(z, factor);
    for (const double lambda : {0.0, 0.05, 2.0}) {
      CAPTURE(samples, lambda);
      const RidgeSplit split = fits.split(lambda, best);
      CHECK(split.fit.test == fits.fit(lambda).test);
      for (Index i = 0; i < kSites; ++i) {
        // By least squares, site by site.
        MatrixXd x(samples, kSites - 1);
        x << z.leftCols(i), z.rightCols(kSites - 1 - i);
        MatrixXd c(kSites - 1, kSites - 1);
        VectorXd b(kSites - 1);
        for (Index j = 0, jj = 0; j < kSites; ++j) {
          if (j == i) continue;
          b(jj) = problem.covariance()(j, i);
          for (Index k = 0, kk = 0; k < kSites; ++k) {
            if (k != i) c(jj, kk++) = problem.covariance()(j, k);
          }
          ++jj;
        }
        const VectorXd teacher = c.llt().solve(b);
        const auto solve = [&](const VectorXd& y) {
          MatrixXd augmented(samples + kSites - 1, kSites - 1);
          augmented << x,
              std::sqrt(lambda * double(samples)) * MatrixXd::Identity(kSites - 1, kSites - 1);
          VectorXd target = VectorXd::Zero(samples + kSites - 1);
          target.head(samples) = y;
          return VectorXd(augmented.completeOrthogonalDecomposition().solve(target));
        };
        const VectorXd clean = x * teacher;
        const VectorXd signal = solve(clean) - teacher;
        const VectorXd noise = solve(z.col(i) - clean);
        const auto square = [&](const VectorXd& w) { return w.dot(c * w); };
        CHECK(split.signal.row(i).squaredNorm() ==
              Approx(square(signal)).epsilon(1e-8).margin(1e-12));
        CHECK(split.noise.row(i).squaredNorm() == Approx(square(noise)).epsilon(1e-8));
        // The other noise on the same inputs: half the sum of both errors is the sum of squares.
        const VectorXd flipped = solve(2 * clean - z.col(i)) - teacher;
        CHECK(0.5 * (split.fit.test(i) + square(flipped) + problem.noise_variances()(i)) ==
              Approx(square(signal) + square(noise) + problem.noise_variances()(i)).epsilon(1e-8));
      }
    }
  }
}

}  // namespace gauss_ridge_test
