#include "attica/solvers/statistics/multiple_tests.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/core/random.hpp"
#include "solvers/statistics/reference.hpp"

using namespace attica;
using namespace attica::testing;
using Catch::WithinAbs;

TEST_CASE("holm: reference values, order of input kept", "[solvers][multiple_tests]") {
  const auto reference = reference_values("statistics")["holm"];
  const auto adjusted = holm(reference["p"].get<std::vector<double>>());
  const auto expected = reference["adjusted"].get<std::vector<double>>();
  REQUIRE(adjusted.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK_THAT(adjusted[i], WithinAbs(expected[i], 1e-15));
  CHECK(holm({}).empty());
}

TEST_CASE("sign_flip_test: reference values", "[solvers][multiple_tests]") {
  std::vector<std::vector<double>> d(4, std::vector<double>(8));
  for (int k = 0; k < 4; ++k) {
    for (int r = 0; r < 8; ++r) {
      d[std::size_t(k)][std::size_t(r)] =
          0.5 * (k == 1) + 0.9 * (k == 3) + 0.4 * std::sin(1.1 * r + 0.9 * k + 0.3 * r * k);
    }
  }
  const std::vector<double> margins{0, 0.1, 0, 0.2};
  const SignFlips found = sign_flip_test(d, margins, 0);
  const auto reference = reference_values("statistics")["signflip"];
  for (std::size_t k = 0; k < 4; ++k) {
    CHECK_THAT(found.statistic[k], WithinAbs(reference["T"][k].get<double>(), 1e-12));
    CHECK(found.adjusted[k] == reference["adjusted"][k].get<double>());  // multiples of 1/128
  }
}

TEST_CASE("sign_flip_test: drawn signs give the p-value of Student's t for normal replicates",
          "[solvers][multiple_tests]") {
  // One point: under symmetric noise the sign-flip p of |T| tends to the two-sided t p-value. Here
  // T = 2.1, n = 40: p = 0.0422; 9999 draws have a standard error of 0.002, and the sample is not
  // exactly normal.
  std::vector<std::vector<double>> d(1, std::vector<double>(40));
  RandomStream stream({.seed = 2});
  stream.fill_normal(d[0]);
  const double t = sign_flip_test(d, std::vector<double>{0.0}, 1).statistic[0];
  double mean = 0, square = 0;
  for (double v : d[0]) mean += v / 40;
  for (double v : d[0]) square += (v - mean) * (v - mean);
  const double sem = std::sqrt(square / 39 / 40);
  CHECK_THAT(t, WithinAbs(std::abs(mean) / sem, 1e-12));
  for (double& v : d[0]) v += 2.1 * sem - mean;
  const SignFlips found = sign_flip_test(d, std::vector<double>{0.0}, 1);
  CHECK_THAT(found.adjusted[0], WithinAbs(0.0422, 0.01));
  CHECK(found.adjusted == sign_flip_test(d, std::vector<double>{0.0}, 1).adjusted);
  CHECK(found.adjusted != sign_flip_test(d, std::vector<double>{0.0}, 2).adjusted);
}

TEST_CASE("sign_flip_test: refuses what it cannot treat", "[solvers][multiple_tests]") {
  const std::vector<double> margins{0, 0};
  const std::vector<double> good{1, 2, 3, 4, 5, 6, 7, 8};
  auto test = [&](const std::vector<double>& other) {
    return sign_flip_test(std::vector<std::vector<double>>{good, other}, margins, 0);
  };
  CHECK_NOTHROW(test({2, 1, 2, 1, 2, 1, 2, 1}));
  CHECK_THROWS_AS(test({1, 2, 3}), Error);
  CHECK_THROWS_AS(test({1, 2, 3, 4, 5, 6, 7, NAN}), Error);
  CHECK_THROWS_AS(test(std::vector<double>(8, 1.0)), Error);
}
