#include "attica/sim/icl/key_query.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "icl/key_query.hpp"

using namespace attica;
using attica::testing::reference_weights;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace icl_key_query_test {

/// Means over sequences and their standard errors.
struct Estimate {
  VectorXd mean;
  VectorXd sem;
};

Estimate estimate(const MatrixXd& values) {
  const auto n = static_cast<double>(values.cols());
  const VectorXd mean = values.rowwise().mean();
  const VectorXd square = values.array().square().rowwise().mean();
  return {mean, ((square.array() - mean.array().square()) / n).sqrt()};
}

RegressionBatch empty_batch(Index d, Index count) {
  return {MatrixXd(d, count), MatrixXd(d, count), VectorXd(count)};
}

/// β_i β_j, y β_i x_j and the square of the latter.
MatrixXd moments_of(const RegressionBatch& batch) {
  const Index d = batch.beta.rows();
  MatrixXd all(3 * d * d, batch.labels.size());
  for (Index b = 0; b < batch.labels.size(); ++b) {
    const MatrixXd second = batch.beta.col(b) * batch.beta.col(b).transpose();
    const MatrixXd cross = batch.labels(b) * batch.beta.col(b) * batch.queries.col(b).transpose();
    all.col(b) << Eigen::Map<const VectorXd>(second.data(), d * d),
        Eigen::Map<const VectorXd>(cross.data(), d * d),
        Eigen::Map<const VectorXd>(cross.data(), d * d).cwiseAbs2();
  }
  return all;
}

/// The definition of draw_batch, pair by pair.
void draw_batch_literally(const KeyQueryTask& task, RandomStream& stream, RegressionBatch& batch) {
  const Eigen::ArrayXd root = task.spectrum().array().sqrt();
  const auto length = static_cast<Index>(task.context());
  MatrixXd x(task.dimension(), length + 1);
  VectorXd w(task.dimension());
  for (Index b = 0; b < batch.labels.size(); ++b) {
    for (double& entry : w) entry = stream.normal();
    for (double& entry : x.reshaped()) entry = stream.normal();
    x.array().colwise() *= root;
    const VectorXd y = x.transpose() * w;
    batch.beta.col(b) = x.leftCols(length) * y.head(length) / task.context();
    batch.queries.col(b) = x.col(length);
    batch.labels(b) = y(length);
  }
}

TEST_CASE("draw_batch: both samplers have the moments of the population", "[sim][key_query]") {
  const KeyQueryTask task = KeyQueryTask::power_law(2, 1, 5);
  constexpr Index kCount = 200000;
  RandomStream stream({.seed = 4});
  RegressionBatch fast = empty_batch(2, kCount);
  RegressionBatch literal = empty_batch(2, kCount);
  draw_batch(task, stream, fast);
  draw_batch_literally(task, stream, literal);
  const Estimate a = estimate(moments_of(fast));
  const Estimate b = estimate(moments_of(literal));
  // Five standard errors everywhere; the first eight numbers are known.
  CHECK(((a.mean - b.mean).array().abs() <=
         5 * (a.sem.array().square() + b.sem.array().square()).sqrt())
            .all());
  VectorXd known = VectorXd::Zero(8);
  known(0) = task.second()(0);
  known(3) = task.second()(1);
  known(4) = std::pow(task.spectrum()(0), 2);
  known(7) = std::pow(task.spectrum()(1), 2);
  for (const Estimate* e : {&a, &b}) {
    CHECK(((e->mean.head(8) - known).array().abs() <= 5 * e->sem.head(8).array()).all());
  }
}

TEST_CASE("KeyQueryTask::mse: that of sampled sequences", "[sim][key_query]") {
  const KeyQueryTask task = KeyQueryTask::power_law(3, 1, 4);
  RandomStream stream({.seed = 9});
  RegressionBatch batch = empty_batch(3, 200000);
  draw_batch_literally(task, stream, batch);
  MatrixXd u(3, 3);
  u << 1, 0.3, -0.2, 0.5, 2, 0.1, -0.4, 0.2, 3;
  const VectorXd residual =
      batch.labels - batch.beta.cwiseProduct(u * batch.queries).colwise().sum().transpose();
  const Estimate found = estimate(residual.cwiseAbs2().transpose());
  CHECK_THAT(found.mean(0), WithinAbs(task.mse(u), 5 * found.sem(0)));
}

TEST_CASE("descend: each kind of data goes down the same loss", "[sim][key_query]") {
  const KeyQueryTask task = KeyQueryTask::power_law(3, 1, 20);
  const KeyQueryShape shape{KeyQuery::merged, 2, 3};
  const VectorXd start = reference_weights(shape, 0.1);
  const auto end = [&](TrainingData data, Index sequences, double eta) {
    RandomStream stream({.seed = 2});
    double last = 0;
    const std::int64_t diverged =
        descend(task,
                shape,
                start,
                {.data = data, .eta = eta, .sequences = sequences, .steps = 3000},
                stream,
                [&](std::int64_t, double mse) {
                  last = mse;
                  return true;
                });
    CHECK(diverged == 0);
    return last;
  };
  const double exact = end(TrainingData::population, 0, 0.1);
  CHECK_THAT(exact, WithinRel(task.plateau(3), 0.05));
  // Measured elsewhere: 120/P and 0.5 η relative; here with room for the scatter of one run.
  CHECK_THAT(end(TrainingData::fixed, 20000, 0.1), WithinRel(exact, 0.05));
  CHECK_THAT(end(TrainingData::online, 256, 0.1), WithinRel(exact, 0.05));
}

TEST_CASE("descend: a run that leaves the finite numbers says when", "[sim][key_query]") {
  const KeyQueryTask task = KeyQueryTask::power_law(3, 1, 20);
  const KeyQueryShape shape{KeyQuery::separate, 3, 3, 1};
  RandomStream stream({.seed = 2});
  const auto ignore = [](std::int64_t, double) { return true; };
  CHECK(descend(task,
                shape,
                aligned_weights(shape, 0.5),
                {.data = TrainingData::population, .eta = 500, .steps = 1000},
                stream,
                ignore) > 0);
}

}  // namespace icl_key_query_test
