#include "attica/theory/icl/tokens.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "reference_values.hpp"
#include "refused.hpp"

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
  for (const nlohmann::json& entry :
       reference_values("incontext").at("tokens").at("cluster_time")) {
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
  for (const nlohmann::json& entry : reference_values("incontext").at("tokens").at("curve")) {
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
}

}  // namespace icl_tokens_test
