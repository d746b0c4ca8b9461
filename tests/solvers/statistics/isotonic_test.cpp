#include "attica/solvers/statistics/isotonic.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/core/random.hpp"

using namespace attica;
using Catch::WithinRel;

namespace statistics_isotonic_test {

TEST_CASE("falling: pools of what rises", "[solvers][exponents]") {
  const std::vector<double> y{5, 3, 4, 2, 2, 3, 1};
  const std::vector<double> expected{5, 3.5, 3.5, 7.0 / 3, 7.0 / 3, 7.0 / 3, 1};
  const std::vector<double> fitted = falling(y);
  for (std::size_t k = 0; k < y.size(); ++k) CHECK_THAT(fitted[k], WithinRel(expected[k], 1e-14));
  CHECK(falling(std::vector<double>{1, 2, 3}) == std::vector<double>{2, 2, 2});
  CHECK(falling(std::vector<double>{}).empty());
  // Of random values: it falls, and its distance from them cannot be less in any pool.
  RandomStream stream({.seed = 4, .id = StreamId::self_test});
  std::vector<double> noise(200);
  for (double& each : noise) each = stream.normal();
  const std::vector<double> steps = falling(noise);
  CHECK(std::ranges::is_sorted(steps, std::greater<>()));
  double sum = 0;
  double product = 0;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    sum += noise[k] - steps[k];
    product += (noise[k] - steps[k]) * steps[k];
  }
  CHECK(std::abs(sum) < 1e-12);
  CHECK(std::abs(product) < 1e-12);
}

TEST_CASE("reach: where a power law falls to a target", "[solvers][exponents]") {
  std::vector<double> x;
  std::vector<double> y;
  for (double n = 10; n < 2000; n *= 2) {
    x.push_back(n);
    y.push_back(30 / n);
  }
  CHECK_THAT(reach(x, y, 0.1).at, WithinRel(300, 1e-12));
  CHECK(reach(x, y, 3).at == 10);
  CHECK(reach(x, y, 4).before);
  CHECK(std::isinf(reach(x, y, 0.001).at));
  CHECK_FALSE(reach(x, y, 0.001).before);
  // Below zero: linear in y, on a logarithmic scale of x.
  CHECK_THAT(reach(std::vector<double>{1, 4}, std::vector<double>{1, -1}, 0).at,
             WithinRel(2, 1e-12));
  CHECK_THROWS_AS(reach(std::vector<double>{2, 1}, std::vector<double>{1, 1}, 0), Error);
  CHECK_THROWS_AS(reach(std::vector<double>{1}, std::vector<double>{NAN}, 0), Error);
}

TEST_CASE("reach: noise does not reach the target early", "[solvers][exponents]") {
  // 20 % noise on 30/n, 40 sizes a decade: the first value below the target comes at 60 % of the
  // right n, the regression's within a few per cent in the median.
  std::vector<double> reached;
  for (std::uint64_t run = 0; run < 101; ++run) {
    RandomStream stream({.seed = 6, .id = StreamId::self_test, .replicate = run});
    std::vector<double> x;
    std::vector<double> y;
    for (double n = 10; n < 10000; n *= 1.06) {
      x.push_back(n);
      y.push_back(30 / n * (1 + 0.2 * stream.normal()));
    }
    reached.push_back(reach(x, y, 0.1).at);
  }
  std::ranges::nth_element(reached, reached.begin() + 50);
  CHECK_THAT(reached[50], WithinRel(300, 0.06));
}

}  // namespace statistics_isotonic_test
