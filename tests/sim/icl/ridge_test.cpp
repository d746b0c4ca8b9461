#include "attica/sim/icl/ridge.hpp"

#include <Eigen/LU>
#include <catch2/catch.hpp>
#include <cmath>

#include "icl/reference.hpp"
#include "reference_values.hpp"
#include "refused.hpp"

using attica::testing::Reference;
using namespace attica;
using attica::testing::reference_gamma;
using attica::testing::reference_pool;
using attica::testing::reference_values;
using attica::testing::refused;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace icl_ridge_test {

RandomStream stream(std::uint64_t seed) { return RandomStream({.seed = seed}); }

/// Means over the sequences and their standard errors.
struct Estimate {
  MatrixXd mean;
  MatrixXd sem;
};

Estimate estimate(const MatrixXd& values) {
  const auto n = static_cast<double>(values.cols());
  const VectorXd mean = values.rowwise().mean();
  const VectorXd square = values.array().square().matrix().rowwise().mean();
  return {mean, ((square.array() - mean.array().square()) / n).sqrt().matrix()};
}

/// y H and the upper half of H Hᵀ: their means are A and B, each times the query's covariance 1/d.
MatrixXd moments_of(const ContextSequences& s) {
  const Index p = s.features.rows();
  MatrixXd all(p + p * (p + 1) / 2, s.features.cols());
  all.topRows(p) = s.features * s.labels.asDiagonal();
  Index row = p;
  for (Index i = 0; i < p; ++i) {
    for (Index j = i; j < p; ++j) {
      all.row(row++) = s.features.row(i).cwiseProduct(s.features.row(j));
    }
  }
  return all;
}

/// The same from the population's moments.
VectorXd expected_moments(const ContextMoments& m) {
  const Index d = m.cross.rows();
  const Index p = d * (d + 1);
  VectorXd all(p + p * (p + 1) / 2);
  for (Index i = 0; i < p; ++i) all(i) = m.cross(i % d, i / d) / static_cast<double>(d);
  Index row = p;
  for (Index i = 0; i < p; ++i) {
    for (Index j = i; j < p; ++j) {
      all(row++) = i % d == j % d ? m.second(i / d, j / d) / static_cast<double>(d) : 0.0;
    }
  }
  return all;
}

/// The definition of draw_sequences, pair by pair.
ContextSequences draw_sequences_literally(const MatrixXd& pool,
                                          const ContextNoise& context,
                                          Index count,
                                          RandomStream& stream) {
  const Index d = pool.cols();
  const auto dim = static_cast<double>(d);
  const auto length = static_cast<Index>(context.length);
  ContextSequences sequences{
      MatrixXd(d * (d + 1), count), MatrixXd(d, count), MatrixXd(d + 1, count), VectorXd(count)};
  VectorXd x(d);
  for (Index mu = 0; mu < count; ++mu) {
    VectorXd hg = VectorXd::Zero(d + 1);
    for (Index i = 0; i <= length; ++i) {
      for (double& entry : x) entry = stream.normal();
      x /= std::sqrt(dim);
      const double y = pool.row(mu % pool.rows()).dot(x) + std::sqrt(context.rho) * stream.normal();
      if (i == length) {
        sequences.queries.col(mu) = x;
        sequences.contexts.col(mu) = hg;
        sequences.features.col(mu) = (x * hg.transpose()).reshaped();
        sequences.labels(mu) = y;
        break;
      }
      hg.head(d) += dim / context.length * y * x;
      hg(d) += y * y / context.length;
    }
  }
  return sequences;
}

TEST_CASE("draw_sequences: moments of both samplers are those of the population", "[sim][icl]") {
  MatrixXd pool = reference_pool(3, 2);
  pool.row(0) *= 1.5;  // tasks of unequal norm
  const ContextNoise noise{.length = 4, .rho = 0.3};
  const VectorXd expected = expected_moments(pool_moments(pool, noise));
  constexpr Index kSequences = 300000;
  RandomStream s = stream(5);
  for (const bool literal : {false, true}) {
    const ContextSequences drawn = literal ? draw_sequences_literally(pool, noise, kSequences, s)
                                           : draw_sequences(pool, noise, kSequences, s);
    const Estimate found = estimate(moments_of(drawn));
    CAPTURE(literal);
    // 27 numbers, each within five standard errors.
    CHECK(((found.mean - expected).array().abs() <= 5 * found.sem.array()).all());
  }
}

TEST_CASE("draw_sequences: higher moments agree between the two samplers", "[sim][icl]") {
  const MatrixXd pool = reference_pool(2, 2);
  const ContextNoise noise{.length = 3, .rho = 0.5};
  constexpr Index kSequences = 300000;
  RandomStream s = stream(8);
  const auto fourth = [](const ContextSequences& drawn) {
    return estimate(moments_of(drawn).array().square().matrix());
  };
  const Estimate fast = fourth(draw_sequences(pool, noise, kSequences, s));
  const Estimate literal = fourth(draw_sequences_literally(pool, noise, kSequences, s));
  const MatrixXd sem = (fast.sem.array().square() + literal.sem.array().square()).sqrt().matrix();
  CHECK(((fast.mean - literal.mean).array().abs() <= 5 * sem.array()).all());
}

TEST_CASE("population_error: reference values and samples", "[sim][icl]") {
  for (const Reference entry : reference_values("incontext").at("ridge").at("pool")) {
    const Index d = entry.at("d");
    const ContextNoise noise{.length = entry.at("l"), .rho = entry.at("rho")};
    const MatrixXd gamma = reference_gamma(d);
    CHECK_THAT(population_error(gamma, fresh_moments(d, noise)),
               WithinRel(entry.at("exact_icl_of_G").get<double>(), 1e-12));
    CHECK_THAT(population_error(gamma, pool_moments(reference_pool(entry.at("k"), d), noise)),
               WithinRel(entry.at("exact_idg_of_G").get<double>(), 1e-12));
  }
  const MatrixXd pool = reference_pool(5, 3);
  const ContextNoise noise{.length = 6, .rho = 0.2};
  const MatrixXd gamma = reference_gamma(3);
  RandomStream s = stream(2);
  const ContextSequences drawn = draw_sequences_literally(pool, noise, 200000, s);
  const VectorXd residual =
      drawn.labels - drawn.features.transpose() * Eigen::Map<const VectorXd>(gamma.data(), 12);
  const Estimate found = estimate(residual.array().square().matrix().transpose());
  CHECK_THAT(found.mean(0),
             WithinAbs(population_error(gamma, pool_moments(pool, noise)), 5 * found.sem(0)));
}

TEST_CASE("ContextRidge: the normal equations, from either Gram matrix", "[sim][icl]") {
  const MatrixXd pool = reference_pool(4, 5);
  for (const Index n : {Index{18}, Index{70}}) {  // fewer and more than 30 features
    RandomStream s = stream(4);
    const ContextSequences drawn = draw_sequences(pool, {.length = 10, .rho = 0.1}, n, s);
    const ContextRidge ridge(drawn);
    for (const double lambda : {1e-3, 0.5}) {
      const MatrixXd gamma = ridge.fit(lambda);
      const Eigen::Map<const VectorXd> weights(gamma.data(), gamma.size());
      const VectorXd gradient =
          drawn.features * (drawn.features.transpose() * weights - drawn.labels) +
          lambda * static_cast<double>(n) / 5 * weights;
      CHECK(gradient.cwiseAbs().maxCoeff() < 1e-10 * drawn.labels.norm());
    }
    // Without a penalty: the limit of small ones, of least norm where there are fewer sequences.
    CHECK((ridge.fit(0) - ridge.fit(1e-9)).norm() < 1e-4 * ridge.fit(0).norm());
  }
}

TEST_CASE("ContextRidge: a negative penalty is refused", "[sim][icl]") {
  RandomStream s = stream(4);
  const ContextSequences drawn =
      draw_sequences(reference_pool(4, 3), {.length = 10, .rho = 0.1}, 9, s);
  CHECK(refused([&] { static_cast<void>(ContextRidge(drawn).fit(-1)); }) == "lambda");
}

TEST_CASE("posterior_mean_error: one task is known, many are nearly so", "[sim][icl]") {
  const MatrixXd pool = reference_pool(6, 4);
  const ContextNoise noise{.length = 300, .rho = 0.2};
  const MatrixXd tests = pool.replicate(1000, 1);
  RandomStream s = stream(9);
  // The error is the noise: 6000 squares of N(0, 0.2), five standard errors.
  const double tolerance = 5 * 0.2 * std::sqrt(2.0 / 6000);
  CHECK_THAT(posterior_mean_error(pool, tests, noise, s), WithinAbs(0.2, tolerance));
  CHECK_THAT(posterior_mean_error(pool.topRows(1), tests.topRows(1).replicate(6000, 1), noise, s),
             WithinAbs(0.2, tolerance));
  // A pool of w and -w, no context to speak of: the posterior mean is tanh-small and the error 1+ρ.
  MatrixXd pair(2, 4);
  pair << pool.row(0), -pool.row(0);
  const double blind =
      posterior_mean_error(pair, pair.replicate(5000, 1), {.length = 1, .rho = 1000}, s);
  CHECK_THAT(blind, WithinRel(1001, 5 * std::sqrt(2.0 / 10000)));
  CHECK(refused([&] {
          static_cast<void>(posterior_mean_error(pool, tests, {.length = 3, .rho = 0}, s));
        }) == "rho");
}

TEST_CASE("descend: gradient descent on vM ends at the ridge solution", "[sim][icl]") {
  const Index d = 6;
  const MatrixXd pool = reference_pool(6, d);
  RandomStream s = stream(7);
  const ContextSequences drawn = draw_sequences(pool, {.length = 24, .rho = 0.1}, 72, s);
  const double lambda = 0.05;
  const MatrixXd best = ContextRidge(drawn).fit(lambda);
  double distance = 1;
  const auto record = [&](std::int64_t, const MatrixXd& gamma) {
    distance = (gamma - best).norm() / best.norm();
    return true;
  };
  CHECK(descend(drawn, {.lambda = lambda, .steps = {0, 10, 8000}}, s, record) == 0);
  CHECK(distance < 1e-6);
  CHECK(descend(drawn, {.lambda = lambda, .batch = 16, .steps = {4000}}, s, record) == 0);
  CHECK(distance < 0.1);
  CHECK(descend(drawn, {.eta = 30, .lambda = lambda, .steps = {4000}}, s, record) > 0);
}

TEST_CASE("gaussian_moments: those of sequences with Gaussian tasks", "[sim][icl]") {
  const Eigen::ArrayXd spectrum = Eigen::Array2d(1.6, 0.4);
  const ContextNoise noise{.length = 4, .rho = 0.3};
  constexpr Index kSequences = 300000;
  RandomStream s = stream(6);
  const MatrixXd pool = gaussian_pool(kSequences, spectrum, s);
  const Estimate found = estimate(moments_of(draw_sequences(pool, noise, kSequences, s)));
  const VectorXd expected = expected_moments(gaussian_moments(spectrum, noise));
  CHECK(((found.mean - expected).array().abs() <= 5 * found.sem.array()).all());
}

}  // namespace icl_ridge_test
