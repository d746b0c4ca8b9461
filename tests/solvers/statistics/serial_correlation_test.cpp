#include "attica/solvers/statistics/serial_correlation.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <vector>

#include "attica/core/random.hpp"

namespace attica {
namespace {

using Chains = std::vector<std::vector<double>>;

/// Autoregressive chains of unit variance around 2, one a point.
Chains chains(double correlation, std::size_t points, std::size_t n, std::uint64_t number) {
  RandomStream stream({.seed = 11, .id = StreamId::self_test, .replicate = number});
  Chains all(points, std::vector<double>(n));
  for (std::vector<double>& chain : all) {
    double state = stream.normal();
    for (double& y : chain) {
      y = 2 + state;
      state = correlation * state + std::sqrt(1 - correlation * correlation) * stream.normal();
    }
  }
  return all;
}

std::optional<SerialCorrelation> test(const Chains& chains, std::size_t shuffles = 199) {
  std::vector<std::uint64_t> numbers(chains.front().size());
  std::iota(numbers.begin(), numbers.end(), 3U);
  std::vector<OrderedReplicates> points;
  for (const std::vector<double>& chain : chains) points.push_back({chain, numbers});
  return serial_correlation(points, shuffles);
}

double rate(double correlation, std::size_t points, std::size_t n, std::uint64_t runs) {
  int found = 0;
  for (std::uint64_t k = 0; k < runs; ++k) {
    Chains data = chains(correlation, points, n, k);
    // Points of one curve share their replicates.
    for (std::size_t p = 1; p < points; ++p) {
      for (std::size_t r = 0; r < n; ++r) data[p][r] = data[0][r] + 0.3 * data[p][r];
    }
    found += test(data)->correlated();
  }
  return found / static_cast<double>(runs);
}

}  // namespace

TEST_CASE("serial_correlation: independent replicates are called correlated in 5 % of runs",
          "[solvers][serial]") {
  constexpr std::uint64_t kRuns = 600;
  const double three_errors = 3 * std::sqrt(0.05 * 0.95 / kRuns);
  for (const std::size_t n : {8, 30}) {
    for (const std::size_t points : {1, 5}) {
      CAPTURE(n, points);
      CHECK(std::abs(rate(0, points, n, kRuns) - 0.05) < three_errors);
    }
  }
}

TEST_CASE("serial_correlation: chains are noticed", "[solvers][serial]") {
  CHECK(rate(0.9, 1, 40, 100) > 0.95);
  CHECK(rate(0.5, 1, 100, 100) > 0.95);
  const auto found = test(chains(0.95, 3, 2000, 0));
  REQUIRE(found);
  CHECK(found->correlation == Approx(0.95).margin(0.02));
  CHECK(found->factor() == Approx(std::sqrt(1.95 / 0.05)).epsilon(0.25));
  CHECK(found->p_value == Approx(1.0 / 200));
  // A short chain has a bias of order 1/n, which is taken off.
  double mean = 0;
  for (std::uint64_t k = 0; k < 200; ++k) mean += test(chains(0.5, 1, 30, k), 1)->corrected / 200;
  CHECK(mean == Approx(0.5).margin(0.04));
}

TEST_CASE("serial_correlation: runs that share something with their neighbours",
          "[solvers][serial]") {
  RandomStream stream({.seed = 4, .id = StreamId::self_test});
  Chains data(1);
  for (int teacher = 0; teacher < 10; ++teacher) {
    const double shared = stream.normal();
    for (int r = 0; r < 10; ++r) data[0].push_back(shared + stream.normal());
  }
  CHECK(test(data)->correlated());
}

TEST_CASE("serial_correlation: what has no order", "[solvers][serial]") {
  CHECK_FALSE(serial_correlation({}));
  CHECK_FALSE(test({std::vector<double>(20, 1.5)}));
  CHECK_FALSE(test({{1, 2, 3, 4}}));
  // Alternating replicates are not held against anybody.
  std::vector<double> alternating;
  for (int k = 0; k < 40; ++k) alternating.push_back(k % 2 == 0 ? 1.0 : -1.0);
  const auto found = test({alternating});
  REQUIRE(found);
  CHECK_FALSE(found->correlated());
  CHECK(found->factor() == 1);
  CHECK(found->cautious_factor() == 1);
  // Missing values and points of other replicates are no hindrance, and the result is the same each
  // time.
  Chains data = chains(0.95, 2, 60, 1);
  data[0][7] = NAN;
  data[1].resize(40);
  std::vector<std::uint64_t> numbers(60);
  std::iota(numbers.begin(), numbers.end(), 0U);
  const std::vector<OrderedReplicates> points = {{data[0], numbers},
                                                 {data[1], std::span(numbers).subspan(20)}};
  const auto once = serial_correlation(points);
  REQUIRE(once);
  CHECK(once->correlated());
  CHECK(serial_correlation(points)->correlation == once->correlation);
}

}  // namespace attica
