#include "attica/sim/icl/tokens.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "icl/reference.hpp"
#include "reference_values.hpp"
#include "refused.hpp"

using attica::testing::Reference;
using namespace attica;
using attica::testing::numbers;
using attica::testing::reference_tokens;
using attica::testing::reference_values;
using attica::testing::refused;
using Catch::Matchers::WithinAbs;
using Eigen::Index;
using Eigen::MatrixXd;

namespace icl_tokens_test {

/// The definition: derivatives of the tokens themselves, a row each.
MatrixXd token_rate(const MatrixXd& x, const TokenDynamics& dynamics) {
  MatrixXd rate = MatrixXd::Zero(x.rows(), x.cols());
  for (Index i = 0; i < x.rows(); ++i) {
    double sum = 0;
    for (Index j = 0; j < x.rows(); ++j) {
      const double weight = std::exp(dynamics.beta * x.row(i).dot(x.row(j)));
      rate.row(i) += weight * x.row(j);
      sum += weight;
    }
    const bool softmax = dynamics.normalisation == AttentionNormalisation::softmax;
    rate.row(i) /= softmax ? sum : static_cast<double>(x.rows());
    rate.row(i) -= rate.row(i).dot(x.row(i)) * x.row(i);
  }
  return rate;
}

TEST_CASE("gram_rate: that of the tokens themselves", "[sim][tokens]") {
  const MatrixXd x = reference_tokens(5, 4);
  for (const auto normalisation : {AttentionNormalisation::softmax, AttentionNormalisation::mean}) {
    const TokenDynamics dynamics{5, 1.7, normalisation};
    const MatrixXd rate = token_rate(x, dynamics);
    const MatrixXd expected = rate * x.transpose() + x * rate.transpose();
    CHECK((gram_rate(x * x.transpose(), dynamics) - expected).cwiseAbs().maxCoeff() < 1e-14);
  }
}

TEST_CASE("gram_step: reference values", "[sim][tokens]") {
  for (const Reference entry : reference_values("incontext").at("tokens").at("gram")) {
    CAPTURE(entry.dump());
    const Index n = entry.at("n");
    const TokenDynamics dynamics{.tokens = n, .beta = entry.at("beta")};
    const MatrixXd x = reference_tokens(n, entry.at("d"));
    MatrixXd gram = x * x.transpose();
    const MatrixXd rate = gram_rate(gram, dynamics);
    for (int k = 0; k < 2000; ++k) gram_step(gram, dynamics, 1.0 / 2000);
    for (Index j = 0; j < n; ++j) {
      const auto at = static_cast<std::size_t>(j);
      CHECK_THAT(rate(0, j), WithinAbs(entry.at("gram_rate_row1")[at].get<double>(), 1e-13));
      // Order 4: 2000 steps leave 1e-12.
      CHECK_THAT(gram(0, j), WithinAbs(entry.at("gram_t1_row1")[at].get<double>(), 2e-10));
    }
    CHECK_THAT(mean_overlap(gram), WithinAbs(entry.at("mean_corr_t1").get<double>(), 2e-10));
  }
}

TEST_CASE("gram_step: order 4", "[sim][tokens]") {
  const TokenDynamics dynamics{.tokens = 6, .beta = 2};
  const MatrixXd x = reference_tokens(6, 3);
  const auto end = [&](int steps) {
    MatrixXd gram = x * x.transpose();
    for (int k = 0; k < steps; ++k) gram_step(gram, dynamics, 1.0 / steps);
    return gram;
  };
  const MatrixXd exact = end(640);
  const double ratio = (end(20) - exact).norm() / (end(40) - exact).norm();
  CHECK_THAT(std::log2(ratio), WithinAbs(4, 0.3));
}

TEST_CASE("token starts: moments, ranks and groups", "[sim][tokens]") {
  RandomStream stream({.seed = 3});
  // Overlaps of independent tokens have variance 1/d: 4000 of them, five standard errors.
  double squares = 0;
  constexpr int kPairs = 4000;
  for (int k = 0; k < kPairs; ++k) {
    const double overlap = uniform_gram(2, 10, stream)(0, 1);
    squares += overlap * overlap;
  }
  CHECK_THAT(squares / kPairs, WithinAbs(0.1, 5 * 0.1 * std::sqrt(2.0 / kPairs)));
  CHECK(mean_overlap(equiangular_gram(5, 0.3)) == Approx(0.3));
  const MatrixXd exact = group_gram(6, 4, {.overlap = -0.2, .jitter = 0}, stream);
  CHECK_THAT(group_overlaps(exact).within, WithinAbs(1, 1e-14));
  CHECK_THAT(group_overlaps(exact).between, WithinAbs(-0.2, 1e-14));
  const MatrixXd noisy = group_gram(400, 500, {.overlap = 0.5, .jitter = 0.3}, stream);
  CHECK_THAT(group_overlaps(noisy).within, WithinAbs(1 / 1.09, 0.01));
  CHECK_THAT(group_overlaps(noisy).between, WithinAbs(0.5 / 1.09, 0.01));
  CHECK(refused([&] { static_cast<void>(group_gram(5, 4, {}, stream)); }) == "tokens");
}

TEST_CASE("tokens: two groups are two tokens", "[sim][tokens]") {
  RandomStream stream({.seed = 3});
  MatrixXd many = group_gram(10, 4, {.overlap = 0.1, .jitter = 0}, stream);
  MatrixXd pair = equiangular_gram(2, 0.1);
  for (int k = 0; k < 100; ++k) {
    gram_step(many, {.tokens = 10, .beta = 3}, 0.05);
    gram_step(pair, {.tokens = 2, .beta = 3}, 0.05);
  }
  CHECK_THAT(group_overlaps(many).between, WithinAbs(pair(0, 1), 1e-12));
}

}  // namespace icl_tokens_test
