#include "attica/sim/bigrams/estimators.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/bigrams/instances.hpp"

namespace bigrams_estimators_test {

using namespace attica;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

BigramModel model_of(Index context) {
  RandomStream stream({.seed = 3, .id = StreamId::model});
  return {cyclic_chain(3, 0.7, 1.5),
          context,
          2,
          random_attention(3, context, 2, AttentionWeights::random, stream)};
}

BigramData data_of(const BigramModel& model, std::int64_t samples) {
  RandomStream stream({.seed = 4});
  return draw_bigram_data(model, samples, stream);
}

/// Σ log (V X a)_y, with one-hot matrices.
double log_likelihood(const BigramData& data, const MatrixXd& v, const MatrixXd& a) {
  double sum = 0;
  for (std::size_t k = 0; k < data.size(); ++k) {
    for (std::size_t i = 0; i < data[k].next.size(); ++i) {
      MatrixXd x = MatrixXd::Zero(v.rows(), a.rows());
      for (Index t = 0; t < a.rows(); ++t) x(data[k].tokens(t, static_cast<Index>(i)), t) = 1;
      sum += std::log((v * x * a.col(static_cast<Index>(k)))[data[k].next[i]]);
    }
  }
  return sum;
}

TEST_CASE("draw_bigram_data: as many sequences as asked for, in columns by last token",
          "[sim][bigrams]") {
  const BigramModel model = model_of(7);
  std::size_t all = 0;
  for (const BigramSequences& s : data_of(model, 1000)) {
    CHECK(s.tokens.rows() == 7);
    CHECK(s.tokens.cols() == static_cast<Index>(s.next.size()));
    all += s.next.size();
  }
  CHECK(all == 1000);
}

TEST_CASE("counting_estimate: in matrices, and on the constraint set", "[sim][bigrams]") {
  const BigramModel model = model_of(5);
  const VectorXd& mu = model.stationary();
  const BigramData data = data_of(model, 400);
  // E (y - μ)(x_t - μ)ᵀ D⁻¹ of every last token and position, summed.
  MatrixXd centred = MatrixXd::Zero(3, 3);
  for (const BigramSequences& s : data) {
    for (std::size_t i = 0; i < s.next.size(); ++i) {
      for (Index t = 0; t < 5; ++t) {
        VectorXd y = -mu;
        VectorXd x = -mu;
        y[s.next[i]] += 1;
        x[s.tokens(t, static_cast<Index>(i))] += 1;
        centred += y * x.transpose() * mu.cwiseInverse().asDiagonal() / 400;
      }
    }
  }
  const BigramEstimate found = counting_estimate(model, data);
  CHECK((found.value - mu * VectorXd::Ones(3).transpose() - centred).cwiseAbs().maxCoeff() < 1e-12);
  CHECK((found.value * mu - mu).cwiseAbs().maxCoeff() < 1e-12);
  CHECK((found.attention.colwise().sum().array() - 1).abs().maxCoeff() < 1e-12);
}

TEST_CASE("maximum_likelihood: no admissible step raises the likelihood", "[sim][bigrams]") {
  const BigramModel model = model_of(5);
  const VectorXd& mu = model.stationary();
  const BigramData data = data_of(model, 3000);
  for (const OpenPositions& open : {true_positions(model), all_positions(model)}) {
    const BigramLikelihood found =
        maximum_likelihood(model, data, open, restricted(counting_estimate(model, data), open));
    REQUIRE(found.converged);
    const auto& [v, a] = found.estimate;
    CHECK((v * mu - mu).cwiseAbs().maxCoeff() < 1e-12);
    CHECK((v.colwise().sum().array() - 1).abs().maxCoeff() < 1e-12);
    CHECK((a.colwise().sum().array() - 1).abs().maxCoeff() < 1e-12);
    const double most = log_likelihood(data, v, a);
    CHECK(
        found.gain ==
        Approx((most - log_likelihood(data, model.transition(), model.dense_attention())) / 3000));
    CHECK(found.gain > 0);
    // Steps of 1e-3 lose some 3000·1e-6; the last scoring step promised below 1e-5.
    RandomStream stream({.seed = 8});
    for (int trial = 0; trial < 20; ++trial) {
      MatrixXd dv(3, 3);
      for (double& entry : dv.reshaped()) entry = stream.normal();
      dv.rowwise() -= dv.colwise().mean().eval();
      dv.colwise() -= dv * mu;
      MatrixXd da = MatrixXd::Zero(5, 3);
      for (std::size_t k = 0; k < open.size(); ++k) {
        double sum = 0;
        for (const Index t : open[k]) sum += da(t, static_cast<Index>(k)) = stream.normal();
        da(open[k][0], static_cast<Index>(k)) -= sum;
      }
      for (const double sign : {-1e-3, 1e-3}) {
        CHECK(log_likelihood(data, v + sign * dv, a + sign * da) < most + 1e-5);
      }
      const double slope = (log_likelihood(data, v + 1e-4 * dv, a + 1e-4 * da) -
                            log_likelihood(data, v - 1e-4 * dv, a - 1e-4 * da)) /
                           2e-4;
      CHECK(std::abs(slope) < 1);  // its deviation at the truth is of order √3000
    }
  }
}

TEST_CASE("excess_log_loss: over all sequences, zero at the truth, infinite without a chance",
          "[sim][bigrams]") {
  const BigramModel model = model_of(4);
  const VectorXd& mu = model.stationary();
  BigramEstimate estimate{model.transition(), model.dense_attention()};
  CHECK(excess_log_loss(model, estimate) == 0);
  estimate.value = 0.8 * estimate.value + 0.2 * mu * VectorXd::Ones(3).transpose();
  double expected = 0;
  for (Index code = 0; code < 81; ++code) {
    MatrixXd x = MatrixXd::Zero(3, 4);
    double weight = 1;
    for (Index t = 0, rest = code; t < 4; ++t, rest /= 3) {
      x(rest % 3, t) = 1;
      weight *= mu[rest % 3];
    }
    const MatrixXd law = model.transition() * x * model.dense_attention();
    const MatrixXd found = estimate.value * x * estimate.attention;
    expected +=
        weight *
        (law.array() * (law.array() / found.array()).log()).matrix().colwise().sum().dot(mu);
  }
  CHECK(excess_log_loss(model, estimate) == Approx(expected).epsilon(1e-12));
  estimate.value = 3 * model.transition() - 2 * mu * VectorXd::Ones(3).transpose();
  CHECK(std::isinf(excess_log_loss(model, estimate)));
}

}  // namespace bigrams_estimators_test
