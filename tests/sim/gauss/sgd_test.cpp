#include "attica/sim/gauss/sgd.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "attica/core/gauss/ensembles.hpp"

using namespace attica;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using Eigen::MatrixXd;

namespace gauss_sgd_test {

using Steps = std::vector<std::int64_t>;

/// One step at a time, straight from the update rule. `kept(step, sample)` is the mask as a column.
template <class Mask>
MatrixXd plain_sgd(
    Eigen::Index sites, const SgdSettings& s, const SampleSource& source, int steps, Mask&& mask) {
  MatrixXd a = MatrixXd::Zero(sites, sites);
  MatrixXd z(sites, s.batch);
  for (int step = 0; step < steps; ++step) {
    source(z);
    MatrixXd r = z - a * z;
    for (Eigen::Index b = 0; b < s.batch; ++b) r.col(b) = r.col(b).cwiseProduct(mask());
    MatrixXd change = r * z.transpose() * (s.eta / static_cast<double>(s.batch));
    change.diagonal().setZero();
    a = (1 - s.eta * s.lambda) * a + change;
  }
  return a;
}

TEST_CASE("LinearAttentionSgd: equals the update rule step by step", "[sim][sgd]") {
  const GaussianMlm problem(ar1_covariance(7, 0.6));
  for (const SgdMask mask : {SgdMask::all_sites, SgdMask::one_site, SgdMask::independent}) {
    for (const Eigen::Index batch : {1, 3, 100}) {
      for (const double lambda : {0.0, 0.2}) {
        const SgdSettings settings{
            .eta = 0.05, .batch = batch, .lambda = lambda, .mask = mask, .mask_probability = 0.4};
        const StreamAddress samples{.seed = 1}, masks{.seed = 1, .id = StreamId::minibatch};
        RandomStream sample_stream(samples), mask_stream(masks);
        LinearAttentionSgd sgd(7, settings, gaussian_source(problem, sample_stream), mask_stream);
        sgd.advance(50);  // blocks are cut here
        sgd.advance(150);
        RandomStream plain_samples(samples), plain_masks(masks);
        const MatrixXd expected = plain_sgd(
            7, settings, gaussian_source(problem, plain_samples), 150, [&]() -> Eigen::VectorXd {
              if (mask == SgdMask::all_sites) return Eigen::VectorXd::Ones(7);
              if (mask == SgdMask::one_site)
                return Eigen::VectorXd::Unit(7, static_cast<Eigen::Index>(plain_masks.below(7)));
              return Eigen::VectorXd::NullaryExpr(
                  7, [&] { return plain_masks.uniform() < 0.4 ? 1.0 : 0.0; });
            });
        CHECK((sgd.attention() - expected).cwiseAbs().maxCoeff() < 1e-13);
        CHECK(sgd.attention().diagonal().isZero(0));
      }
    }
  }
}

TEST_CASE("sample sources: covariance of fresh samples, and only rows of the data", "[sim][sgd]") {
  RandomStream stream({.seed = 6});
  // A singular covariance has no triangular factor.
  MatrixXd loadings(4, 2);
  loadings << 1, 0, 0, 1, 1, 1, 1, -1;
  const GaussianMlm singular(loadings * loadings.transpose(), Definiteness::semi_positive);
  for (const GaussianMlm& problem : {singular, GaussianMlm(ar1_covariance(4, 0.7))}) {
    MatrixXd z(4, 100000);
    gaussian_source(problem, stream)(z);
    // Standard error of a second moment of unit scale: at most 2 sqrt(2/1e5) = 0.009.
    CHECK((z * z.transpose() / 1e5 - problem.covariance()).cwiseAbs().maxCoeff() < 0.045);
  }
  const MatrixXd data = MatrixXd::NullaryExpr(3, 4, [&] { return stream.normal(); });
  MatrixXd z(4, 3000);
  resampling_source(data, stream)(z);
  std::vector<int> counts(3);
  for (Eigen::Index b = 0; b < z.cols(); ++b) {
    for (Eigen::Index mu = 0; mu < 3; ++mu)
      counts[static_cast<std::size_t>(mu)] += z.col(b) == data.row(mu).transpose();
  }
  for (const int count : counts) CHECK_THAT(count, WithinAbs(1000, 130));  // 5 standard deviations
}

TEST_CASE("record_sgd: errors at the recorded steps", "[sim][sgd]") {
  const GaussianMlm problem(ar1_covariance(5, 0.6));
  RandomStream samples({.seed = 3}), masks({.seed = 3, .id = StreamId::minibatch});
  LinearAttentionSgd sgd(5, {.eta = 0.1}, gaussian_source(problem, samples), masks);
  const SgdRun run = record_sgd(problem, sgd, Steps{0, 5, 5, 90});
  REQUIRE(run.test.cols() == 4);
  CHECK((run.test.col(0).array() == 1).all());
  CHECK(run.test.col(1) == run.test.col(2));
  const Eigen::VectorXd row = Eigen::VectorXd::Unit(5, 2) - sgd.attention().row(2).transpose();
  CHECK_THAT(run.test(2, 3), WithinRel(row.dot(problem.covariance() * row), 1e-13));
  CHECK(!run.diverged);
}

TEST_CASE("SGD: divergence is reported with its step", "[sim][sgd]") {
  const GaussianMlm problem(ar1_covariance(5, 0.6));
  for (const Eigen::Index batch : {1, 80}) {
    RandomStream samples({.seed = 3}), masks({.seed = 3, .id = StreamId::minibatch});
    LinearAttentionSgd sgd(
        5, {.eta = 50, .batch = batch}, gaussian_source(problem, samples), masks);
    const SgdRun run = record_sgd(problem, sgd, Steps{0, 10, 100000, 200000});
    CHECK(run.test.cols() == 2);
    REQUIRE(run.diverged);
    CHECK((*run.diverged > 10 && *run.diverged < 1000));
    CHECK(sgd.attention().allFinite());
  }
}

TEST_CASE("steady_sgd_error: block errors of independent records", "[sim][sgd]") {
  // eta so small that nothing moves: the error stays E(0) = 1 with no spread.
  const GaussianMlm problem(ar1_covariance(5, 0.6));
  RandomStream samples({.seed = 3}), masks({.seed = 3, .id = StreamId::minibatch});
  LinearAttentionSgd still(5, {.eta = 1e-300}, gaussian_source(problem, samples), masks);
  const SteadyError none =
      steady_sgd_error(problem, still, {.burn_in = 5, .interval = 2, .records = 10, .blocks = 5});
  CHECK_THAT(none.mean, WithinRel(1.0, 1e-14));
  CHECK(none.standard_error < 1e-14);
  CHECK(still.step() == 25);
  LinearAttentionSgd wild(5, {.eta = 50}, gaussian_source(problem, samples), masks);
  CHECK(steady_sgd_error(problem, wild, {}).diverged);
}

TEST_CASE("SGD: bad input is refused by name", "[sim][sgd]") {
  const GaussianMlm problem(ar1_covariance(5, 0.6));
  RandomStream stream({.seed = 3});
  const auto make = [&](const SgdSettings& settings) {
    return LinearAttentionSgd(5, settings, gaussian_source(problem, stream), stream);
  };
  CHECK_THROWS_WITH(make({.eta = 0}), Catch::Contains("'eta'"));
  CHECK_THROWS_WITH(make({.batch = 0}), Catch::Contains("'batch'"));
  CHECK_THROWS_WITH(make({.lambda = -1}), Catch::Contains("'lambda'"));
  CHECK_THROWS_WITH(make({.mask_probability = 0}), Catch::Contains("'mask_probability'"));
  LinearAttentionSgd sgd = make({});
  CHECK_THROWS_WITH(record_sgd(problem, sgd, Steps{3, 2}), Catch::Contains("'steps'"));
  CHECK_THROWS_WITH(steady_sgd_error(problem, sgd, {.blocks = 1}), Catch::Contains("'blocks'"));
}

}  // namespace gauss_sgd_test
