#include "attica/solvers/statistics/distributions.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "attica/core/error.hpp"

using namespace attica;
using Catch::WithinAbs;
using Catch::WithinRel;

TEST_CASE("distributions: tails and quantiles invert each other down to 1e-15",
          "[solvers][distributions]") {
  // The inversions iterate until rounding; 1e-12 leaves a margin of a hundred.
  for (double alpha : {1e-15, 1e-9, 2.5e-4, 0.025, 0.3}) {
    CHECK_THAT(normal_tail(normal_quantile(alpha)), WithinRel(alpha, 1e-12));
    for (double nu : {1.0, 2.0, 7.0, 29.5, 1e5}) {
      CHECK_THAT(student_tail(student_quantile(alpha, nu), nu),
                 WithinRel(alpha, 1e-7 * (nu == 1) + 1e-12));
    }
    for (double nu : {3.0, 29.0, 999.0}) {
      CHECK_THAT(chi_square_tail(chi_square_quantile(alpha, nu), nu), WithinRel(alpha, 1e-10));
    }
  }
}

TEST_CASE("distributions: textbook values", "[solvers][distributions]") {
  CHECK_THAT(student_quantile(0.25, 1), WithinRel(1.0, 1e-14));  // Cauchy
  CHECK_THAT(student_quantile(0.05, 2),
             WithinRel(2.919985580353726, 1e-12));  // (1-2a) sqrt(2/(1-(1-2a)^2))
  CHECK_THAT(chi_square_lower_quantile(0.5, 2), WithinRel(2 * std::log(2.0), 1e-12));
  CHECK_THAT(chi_square_density(3, 2), WithinRel(std::exp(-1.5) / 2, 1e-13));
  CHECK_THAT(normal_density(1), WithinRel(0.24197072451914337, 1e-13));
  CHECK_THAT(log_gamma(6), WithinRel(std::log(120.0), 1e-14));
  CHECK_THAT(log_gamma(0.5), WithinRel(std::log(std::numbers::pi) / 2, 1e-14));
}

TEST_CASE("normal_score: as rare as Student's t", "[solvers][distributions]") {
  CHECK_THAT(normal_tail(normal_score(3.0, 1)),
             WithinRel(std::atan(1 / 3.0) / std::numbers::pi, 1e-9));
  CHECK_THAT(normal_score(2.0, 1e9), WithinRel(2.0, 1e-6));
  CHECK_THAT(normal_score(0, 5), WithinAbs(0, 1e-12));
  // At t = 82 the tail is 1e-290 and the other branch begins: a factor of the tail is left out,
  // whose logarithm is 0.5 of 668.
  CHECK_THAT(normal_score(83, 500), WithinRel(normal_score(81, 500), 2e-2));
  for (const double t : {81.0, 83.0}) {
    CHECK_THAT(normal_score(t, 500), WithinRel(std::sqrt(500 * std::log1p(t * t / 500)), 1e-3));
  }
  CHECK(std::isfinite(normal_score(1e6, 1e4)));
}

TEST_CASE("binomial: sums of its probabilities, ends, and large counts",
          "[solvers][distributions]") {
  for (double p : {0.0, 0.03, 0.5, 1.0}) {
    double sum = 0;
    for (std::size_t k = 0; k <= 20; ++k) {
      CHECK_THAT(binomial_tail(k, p, 20), WithinAbs(1 - sum, 1e-14));
      sum += binomial_probability(k, p, 20);
      CHECK_THAT(binomial_lower_tail(k, p, 20), WithinAbs(sum, 1e-14));
    }
  }
  CHECK_THAT(binomial_probability(3, 0.3, 10),
             WithinRel(120 * std::pow(0.3, 3) * std::pow(0.7, 7), 1e-13));
  CHECK(binomial_tail(21, 0.5, 20) == 0);
  // Clopper-Pearson limits of a million trials invert the tails; the iteration stops at 1e-9 or
  // better.
  const double limit = beta_lower_quantile(0.01, 5e4, 9.5e5 + 1);
  CHECK_THAT(binomial_tail(50000, limit, 1000000), WithinRel(0.01, 1e-8));
  const double upper = beta_quantile(0.01, 5e4 + 1, 9.5e5);
  CHECK_THAT(binomial_lower_tail(50000, upper, 1000000), WithinRel(0.01, 1e-8));
}

TEST_CASE("distributions: no finite value is an error, not a NaN", "[solvers][distributions]") {
  CHECK_THROWS_AS(student_quantile(0, 5), Error);
  CHECK_THROWS_AS(normal_tail(std::numeric_limits<double>::quiet_NaN()), Error);
}
