#include "attica/solvers/statistics/rank_correlation.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>
#include <numeric>

#include "attica/core/error.hpp"
#include "attica/core/random.hpp"

using namespace attica;
using Catch::WithinAbs;

namespace statistics_rank_correlation_test {

/// Normal pairs of correlation rho.
PairedValues normal_pairs(std::size_t n, double rho, RandomStream& stream) {
  PairedValues pairs;
  for (std::size_t i = 0; i < n; ++i) {
    const double x = stream.normal();
    pairs.emplace_back(x, rho * x + std::sqrt(1 - rho * rho) * stream.normal());
  }
  return pairs;
}

/// E r_S of n normal pairs (Moran 1948): 6/(pi (n+1)) [asin rho + (n-2) asin(rho/2)].
double expected_rank_correlation(double n, double rho) {
  return 6 / (std::numbers::pi * (n + 1)) * (std::asin(rho) + (n - 2) * std::asin(rho / 2));
}

TEST_CASE("rank_correlation: known values, ties and constants", "[solvers][rank_correlation]") {
  const std::vector<double> a = {1, 2, 3, 4};
  CHECK(rank_correlation(a, std::vector<double>{1, 10, 100, 1000}) == 1);
  CHECK(rank_correlation(a, std::vector<double>{4, 3, 2, 1}) == -1);
  // Ranks 0.5 0.5 2.5 2.5.
  CHECK(rank_correlation(a, std::vector<double>{1, 1, 2, 2}) == Approx(4 / std::sqrt(5.0 * 4)));
  CHECK(std::isnan(rank_correlation(a, std::vector<double>(4, 0.0))));
  // 1 - 6 sum d^2 / (n (n^2 - 1)), sum d^2 = 194, n = 10: hours of television against IQ.
  const std::vector<double> iq = {106, 100, 86, 101, 99, 103, 97, 113, 112, 110};
  const std::vector<double> hours = {7, 27, 2, 50, 28, 29, 20, 12, 6, 17};
  CHECK(rank_correlation(iq, hours) == Approx(-29.0 / 165));
  CHECK_THROWS_AS(rank_correlation(a, std::vector<double>{1, 2}), Error);
}

TEST_CASE("rank_correlation_below_zero: p-values are those of all permutations",
          "[solvers][rank_correlation]") {
  // Two groups of four, with a tie: all 24 x 24 permutations by enumeration.
  const std::vector<PairedValues> groups = {{{1, 3}, {2, 4}, {3, 1}, {4, 2}},
                                            {{5, 9}, {5, 8}, {6, 7}, {7, 8}}};
  const std::vector<std::vector<double>> x = {{-1.5, -0.5, 0.5, 1.5}, {-1, -1, 0.5, 1.5}};
  std::vector<std::vector<double>> y = {{0.5, 1.5, -1.5, -0.5}, {1.5, 0, -1.5, 0}};
  const auto product = [&](std::size_t g, const std::vector<double>& of) {
    return std::inner_product(of.begin(), of.end(), x[g].begin(), 0.0);
  };
  const double seen = product(0, y[0]) + product(1, y[1]);
  std::vector<int> order = {0, 1, 2, 3};
  std::vector<std::vector<double>> sums(2);
  do {
    for (std::size_t g = 0; g < 2; ++g) {
      std::vector<double> permuted;
      for (const int i : order) permuted.push_back(y[g][static_cast<std::size_t>(i)]);
      sums[g].push_back(product(g, permuted));
    }
  } while (std::ranges::next_permutation(order).found);
  double below = 0;
  double above = 0;
  for (const double a : sums[0]) {
    for (const double b : sums[1]) {
      below += a + b <= seen ? 1.0 / 576 : 0;
      above += a + b >= seen ? 1.0 / 576 : 0;
    }
  }
  const ClaimTest test = rank_correlation_below_zero(groups);
  CHECK(test.estimate == Approx(seen / std::sqrt((5 + 4.5) * (5 + 4.5))));
  // Four standard errors of 10^4 permutations.
  CHECK_THAT(test.p_agree, WithinAbs(below, 4 * std::sqrt(below * (1 - below) / 1e4)));
  CHECK_THAT(test.p_disagree, WithinAbs(above, 4 * std::sqrt(above * (1 - above) / 1e4)));
}

TEST_CASE("rank_correlation_below_zero: what differs between groups only is not seen within them",
          "[solvers][rank_correlation]") {
  RandomStream stream({.seed = 3, .id = StreamId::self_test});
  std::vector<PairedValues> groups;
  PairedValues all;
  for (const double shift : {0.0, 10.0, 20.0}) {
    PairedValues group = normal_pairs(8, 0.0, stream);
    for (auto& [x, y] : group) {
      x += shift;
      y -= shift;
    }
    all.insert(all.end(), group.begin(), group.end());
    groups.push_back(std::move(group));
  }
  CHECK(rank_correlation_below_zero({&all, 1}).estimate < -0.8);
  CHECK(rank_correlation_below_zero({&all, 1}).verdict() == Verdict::agree);
  CHECK(std::abs(rank_correlation_below_zero(groups).estimate) < 0.5);
}

TEST_CASE("rank_correlation_below_zero: too little says nothing", "[solvers][rank_correlation]") {
  const std::vector<PairedValues> single = {{{1, 2}}, {{3, 4}}};
  CHECK(rank_correlation_below_zero({}).verdict() == Verdict::inconclusive);
  CHECK(rank_correlation_below_zero(single).verdict() == Verdict::inconclusive);
  const std::vector<PairedValues> flat = {{{1, 2}, {1, 3}, {1, 4}, {1, 5}}};
  CHECK(rank_correlation_below_zero(flat).p_agree == 1);
  CHECK(rank_correlation_below_zero(flat).p_disagree == 1);
  const std::vector<PairedValues> perfect = {{{1, 5}, {2, 4}, {3, 3}, {4, 2}, {5, 1}}};
  const ClaimTest test = rank_correlation_below_zero(perfect);
  CHECK(test.estimate == -1);
  CHECK_FALSE(test.interval);
  CHECK_THAT(test.p_agree, WithinAbs(1.0 / 120, 0.004));
  CHECK_THROWS_AS(rank_correlation_below_zero(std::vector<PairedValues>{{{1, NAN}, {2, 3}}}),
                  Error);
}

TEST_CASE("rank_correlation_below_zero: coverage of its interval and level of its test",
          "[solvers][rank_correlation][slow]") {
  constexpr int kTrials = 2000;
  struct Case {
    std::size_t groups;
    std::size_t runs;
    double rho;
  };
  for (const auto& [groups, runs, rho] : {Case{1, 15, 0.0},
                                          Case{1, 15, -0.6},
                                          Case{1, 30, -0.9},
                                          Case{3, 5, 0.0},
                                          Case{3, 5, -0.6},
                                          Case{7, 10, -0.3}}) {
    CAPTURE(groups, runs, rho);
    const double truth = expected_rank_correlation(static_cast<double>(runs), rho);
    int covered = 0;
    int agree = 0;
    for (int t = 0; t < kTrials; ++t) {
      RandomStream stream({.seed = 7,
                           .id = StreamId::self_test,
                           .point = 100 * groups + runs,
                           .replicate = static_cast<std::uint64_t>(t)});
      std::vector<PairedValues> data;
      for (std::size_t g = 0; g < groups; ++g) data.push_back(normal_pairs(runs, rho, stream));
      const ClaimTest test = rank_correlation_below_zero(data);
      covered += test.interval && test.interval->contains(truth) ? 1 : 0;
      agree += test.verdict() == Verdict::agree ? 1 : 0;
    }
    // 90 % up to 3 % of approximation and four standard errors, 2.7 %.
    UNSCOPED_INFO("coverage " << covered / double(kTrials) << ", AGREE "
                              << agree / double(kTrials));
    CHECK_THAT(covered / static_cast<double>(kTrials), WithinAbs(0.9, 0.057));
    // At no correlation the claim errs in 5 % of cases, up to four standard errors.
    if (rho == 0) CHECK(agree / static_cast<double>(kTrials) < 0.05 + 0.02);
  }
}

}  // namespace statistics_rank_correlation_test
