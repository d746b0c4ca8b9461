#include "attica/theory/icl/tokens.hpp"

#include <Eigen/Core>
#include <catch2/catch.hpp>
#include <cmath>

#include "reference_values.hpp"
#include "refused.hpp"

using attica::testing::Reference;
using namespace attica;
using attica::testing::numbers;
using attica::testing::reference_values;
using attica::testing::refused;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace icl_tokens_test {

constexpr auto kSoftmax = AttentionNormalisation::softmax;
constexpr auto kMean = AttentionNormalisation::mean;

/// ∫ dρ/ρ' by Simpson's rule in y = -ln(1-ρ), where the integrand is smooth: to 1e-8 at
/// n = 1000.
double time_by_quadrature(const TokenDynamics& dynamics, double start, double delta) {
  constexpr int kIntervals = 200000;
  const double low = -std::log(1 - start);
  const double h = (-std::log(delta) - low) / kIntervals;
  double sum = 0;
  for (int k = 0; k <= kIntervals; ++k) {
    const double rest = std::exp(-(low + h * k));
    const double weight = k == 0 || k == kIntervals ? 1 : k % 2 == 1 ? 4 : 2;
    sum += weight * rest / overlap_rate(dynamics, 1 - rest);
  }
  return sum * h / 3;
}

TEST_CASE("clustering_time: reference values", "[theory][tokens]") {
  for (const Reference entry : reference_values("incontext").at("tokens").at("cluster_time")) {
    CAPTURE(entry.dump());
    TokenDynamics dynamics{.tokens = entry.at("n"), .beta = entry.at("beta")};
    const double start = entry.at("rho0");
    const double delta = entry.at("delta");
    CHECK_THAT(clustering_time(dynamics, start, delta),
               WithinRel(entry.at("softmax").get<double>(), 1e-12));
    dynamics.normalisation = kMean;
    CHECK_THAT(clustering_time(dynamics, start, delta),
               WithinRel(entry.at("mean").get<double>(), 1e-12));
  }
}

TEST_CASE("clustering_time: equals the integral of the rate", "[theory][tokens]") {
  for (const auto normalisation : {kSoftmax, kMean}) {
    for (const double beta : {0.0, 1e-3, 0.7, 5.0, 20.0}) {
      for (const Eigen::Index n : {2, 16, 1000}) {
        for (const double start : {0.0, 0.3}) {
          const TokenDynamics dynamics{n, beta, normalisation};
          CAPTURE(beta, n, start);
          CHECK_THAT(clustering_time(dynamics, start, 0.01),
                     WithinRel(time_by_quadrature(dynamics, start, 0.01), 1e-8));
        }
      }
    }
  }
}

TEST_CASE("clustering_time: two groups live exponentially long", "[theory][tokens]") {
  const TokenDynamics pair{.tokens = 2, .beta = 6};
  CHECK_THAT(clustering_time(pair, -0.3, 0.01), WithinRel(215.7977, 1e-6));
  // e^{β(1-r)}/(2β(1-r²)) for large β: the next order is 1/β.
  const double r = 0.2;
  const TokenDynamics cold{.tokens = 2, .beta = 200};
  const double leading = std::exp(200 * (1 - r)) / (2 * 200 * (1 - r * r));
  CHECK_THAT(clustering_time(cold, r, 0.1), WithinRel(leading, 0.02));
}

TEST_CASE("clustering_time: long contexts freeze above gamma = 1", "[theory][tokens]") {
  // β = γ ln n: below 1 the time tends to that of ρ' = 2ρ(1-ρ) from 1/n on, above it grows as a
  // power of n.
  const auto time = [](double gamma, double n) {
    return clustering_time(
        {.tokens = static_cast<Eigen::Index>(n), .beta = gamma * std::log(n)}, 0, 0.01);
  };
  CHECK(time(0.5, 1 << 20) < 2 * std::log(1 << 20));
  CHECK(time(1.5, 1 << 20) > 100 * time(1.5, 1 << 8));
}

TEST_CASE("overlap_curve: reference values", "[theory][tokens]") {
  for (const Reference entry : reference_values("incontext").at("tokens").at("curve")) {
    CAPTURE(entry.dump());
    const std::vector<double> times = numbers(entry.at("times"));
    TokenDynamics dynamics{.tokens = entry.at("n"), .beta = entry.at("beta")};
    const std::vector<double> rho = overlap_curve(dynamics, entry.at("rho0"), times);
    dynamics.normalisation = kMean;
    const std::vector<double> mean = overlap_curve(dynamics, entry.at("rho0"), times);
    dynamics.normalisation = kSoftmax;
    for (std::size_t k = 0; k < times.size(); ++k) {
      // The reference rounds above 1 in the last digits.
      CHECK_THAT(rho[k], WithinAbs(entry.at("rho")[k].get<double>(), 1e-10));
      CHECK_THAT(mean[k], WithinAbs(entry.at("rho_mean_norm")[k].get<double>(), 1e-10));
      if (entry.at("sd_sqrt_d").is_null()) continue;
      CHECK_THAT(std::sqrt(overlap_variance(dynamics, rho[k])),
                 WithinRel(entry.at("sd_sqrt_d")[k].get<double>(), 1e-8));
    }
  }
}

TEST_CASE("overlap_curve: reaches 1 - delta at the clustering time", "[theory][tokens]") {
  for (const auto normalisation : {kSoftmax, kMean}) {
    const TokenDynamics dynamics{24, 3, normalisation};
    const double time = clustering_time(dynamics, 0.1, 0.05);
    const std::vector<double> at = {0, time / 2, time};
    const std::vector<double> curve = overlap_curve(dynamics, 0.1, at);
    CHECK(curve[0] == 0.1);
    CHECK(curve[1] < 0.9);
    CHECK_THAT(curve[2], WithinAbs(0.95, 1e-10));
  }
}

/// x_i' = Proj Σ_j P_ij x_j of tokens as vectors, by small Runge-Kutta steps.
double mean_overlap_of_vectors(Eigen::MatrixXd x, const TokenDynamics& dynamics, double time) {
  constexpr int kSteps = 400;
  const auto rate = [&](const Eigen::MatrixXd& at) {
    Eigen::MatrixXd v(at.rows(), at.cols());
    for (Eigen::Index i = 0; i < at.cols(); ++i) {
      Eigen::VectorXd weights = (dynamics.beta * at.transpose() * at.col(i)).array().exp();
      weights /= dynamics.normalisation == kMean ? static_cast<double>(at.cols()) : weights.sum();
      const Eigen::VectorXd pull = at * weights;
      v.col(i) = pull - at.col(i).dot(pull) * at.col(i);
    }
    return v;
  };
  const double h = time / kSteps;
  for (int step = 0; step < kSteps; ++step) {
    const Eigen::MatrixXd k1 = rate(x);
    const Eigen::MatrixXd k2 = rate(x + h / 2 * k1);
    const Eigen::MatrixXd k3 = rate(x + h / 2 * k2);
    x += h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(x + h * k3));
  }
  const auto n = static_cast<double>(x.cols());
  return ((x.transpose() * x).sum() - n) / (n * (n - 1));
}

TEST_CASE("pair_curve: tokens as vectors", "[theory][tokens]") {
  for (const auto normalisation : {kSoftmax, kMean}) {
    for (const Eigen::Index n : {2, 3, 4, 6}) {
      const TokenDynamics dynamics{n, 1.5, normalisation};
      Eigen::MatrixXd x = Eigen::MatrixXd::Identity(n, n);
      x.col(1) << 0.4, std::sqrt(1 - 0.16), Eigen::VectorXd::Zero(n - 2);
      const std::vector<double> times = {0, 0.7, 1.6};
      const std::vector<double> curve = pair_curve(dynamics, 0.4, times);
      CAPTURE(n);
      for (std::size_t k = 0; k < times.size(); ++k) {
        CHECK_THAT(curve[k], WithinAbs(mean_overlap_of_vectors(x, dynamics, times[k]), 1e-8));
      }
      const double time = pair_clustering_time(dynamics, 0.4, 1 - curve[2]);
      CHECK_THAT(time, WithinAbs(1.6, 1e-9));
    }
  }
}

TEST_CASE("pair_curve: a pair of no overlap is a start at right angles", "[theory][tokens]") {
  const std::vector<double> times = {0.5, 2, 4};
  for (const auto normalisation : {kSoftmax, kMean}) {
    const TokenDynamics dynamics{16, 2, normalisation};
    const std::vector<double> curve = pair_curve(dynamics, 0, times);
    const std::vector<double> equal = overlap_curve(dynamics, 0, times);
    for (std::size_t k = 0; k < times.size(); ++k) CHECK_THAT(curve[k], WithinAbs(equal[k], 1e-10));
    CHECK_THAT(pair_clustering_time(dynamics, 0, 0.1),
               WithinRel(clustering_time(dynamics, 0, 0.1), 1e-10));
  }
}

TEST_CASE("finite dimension: two tokens, by the derivative of the rate", "[theory][tokens]") {
  // n = 2: ρ(t) is the flow of its start. β = 0: ρ' = 1 - ρ², ρ = tanh(t + artanh g), whose second
  // derivative by g at 0 is -2 tanh t / cosh² t, and that of T = artanh(1 - δ) - artanh g is 0.
  const TokenDynamics two{.tokens = 2, .beta = 0};
  const std::vector<double> times = {0.3, 1, 2.5};
  const std::vector<double> shift = overlap_shift(two, times);
  for (std::size_t k = 0; k < times.size(); ++k) {
    const double expected = -std::tanh(times[k]) / std::pow(std::cosh(times[k]), 2);
    CHECK_THAT(shift[k], WithinAbs(expected, 1e-3));
  }
  CHECK_THAT(clustering_shift(two, 0.1), WithinAbs(0, 1e-6));
  // dT/dg = -1/F(g): the second derivative is F'/F² at 0.
  const TokenDynamics warm{.tokens = 2, .beta = 1.5};
  constexpr double kStep = 1e-5;
  const double slope = (overlap_rate(warm, kStep) - overlap_rate(warm, -kStep)) / (2 * kStep);
  CHECK_THAT(clustering_shift(warm, 0.1),
             WithinRel(slope / std::pow(overlap_rate(warm, 0), 2) / 2, 5e-3));
}

TEST_CASE("token theory: bad input names the parameter", "[theory][tokens]") {
  const auto time = [](const TokenDynamics& dynamics, double start, double delta) {
    return refused([&] { static_cast<void>(clustering_time(dynamics, start, delta)); });
  };
  CHECK(time({.tokens = 1}, 0, 0.1) == "tokens");
  CHECK(time({.tokens = 3, .beta = -1}, 0, 0.1) == "beta");
  CHECK(time({.tokens = 3, .beta = 1000}, 0, 0.1) == "beta");
  CHECK(time({.tokens = 3}, -0.5, 0.1) == "overlap");
  CHECK(time({.tokens = 3}, 1, 0.1) == "overlap");
  CHECK(time({.tokens = 3}, 0.2, 0.8) == "delta");
  CHECK(time({.tokens = 3}, 0.2, 0) == "delta");
  const std::vector<double> times = {1};
  CHECK(refused([&] { static_cast<void>(pair_curve({.tokens = 3}, 1, times)); }) == "overlap");
  CHECK(refused([&] { static_cast<void>(pair_curve({.tokens = 1}, 0, times)); }) == "tokens");
}

}  // namespace icl_tokens_test
