/// Convergence by quadrature: reference values, limits, integration of the equation.

#include "attica/theory/joma/nonlinear.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

#include "attica/core/error.hpp"
#include "attica/solvers/ode.hpp"
#include "core/joma/reference.hpp"

using namespace attica;
using attica::testing::number;
using attica::testing::reference_values;
using Catch::Matchers::Contains;

namespace joma_nonlinear_test {
constexpr double kRelative = 2e-14;  // sums of some hundred positive terms

TEST_CASE("convergence_time: reference table for mu = 0.01..30", "[theory][joma]") {
  for (const auto row : reference_values("joma")["reduced"]["nonlinear_T"]["table"]) {
    const JomaComponent c{.mu = number(row["mu"])};
    CAPTURE(c.mu);
    CHECK(correction_q(c) == Approx(number(row["Q"])).epsilon(kRelative));
    for (const auto& [epsilon, time] : row["T"].items()) {
      CHECK(convergence_time(c, std::stod(epsilon)) == Approx(number(time)).epsilon(kRelative));
    }
    for (const auto& [epsilon, time] : row["T_asym"].items()) {
      CHECK(asymptotic_convergence_time(c, std::stod(epsilon)) ==
            Approx(number(time)).epsilon(kRelative));
    }
  }
}

TEST_CASE("convergence_time: any start", "[theory][joma]") {
  for (const auto row : reference_values("joma")["reduced"]["nonlinear_T_init"]["table"]) {
    const JomaComponent c{.mu = number(row["mu"]), .start = number(row["v0"])};
    CAPTURE(c.mu, c.start);
    CHECK(c.delta0() == Approx(number(row["delta0"])).epsilon(1e-14));
    if (row.contains("Q")) CHECK(correction_q(c) == Approx(number(row["Q"])).epsilon(kRelative));
    for (const auto& [epsilon, time] : row["T"].items()) {
      CHECK(convergence_time(c, std::stod(epsilon)) == Approx(number(time)).epsilon(1e-12));
    }
  }
}

TEST_CASE("correction_q: small and large mu", "[theory][joma]") {
  const double small = 1e-3;
  CHECK(correction_q({.mu = small}) == Approx(0.75 * small * small).epsilon(1e-5));
  const double large = 25;
  const double root = std::sqrt(std::numbers::pi / 2);
  // sqrt(pi/2)/mu + 1/mu^2 + sqrt(pi/2)/mu^3 + 2/mu^4 + O(mu^-5)
  CHECK(correction_q({.mu = large}) == Approx(root / large + 1 / (large * large) +
                                              root / std::pow(large, 3) + 2 / std::pow(large, 4))
                                           .epsilon(1e-5));
  // A general exponent is a rescaling of v.
  CHECK(correction_q({.mu = 3, .gamma = 0.2}) ==
        Approx(correction_q({.mu = 3 * std::sqrt(0.4)})).epsilon(1e-13));
}

TEST_CASE("convergence_time_of_nats: reference trajectories", "[theory][joma]") {
  const auto reference = reference_values("joma")["reduced"]["nonlinear_traj"];
  for (const auto point : reference["points"]) {
    for (std::size_t l = 0; l < reference["mu"].size(); ++l) {
      const JomaComponent c{.mu = number(reference["mu"][l])};
      CHECK(convergence_time_of_nats(c, number(point["log_inv_delta"][l])) ==
            Approx(number(point["t"])).epsilon(1e-11));
    }
  }
}

TEST_CASE("convergence_time: solves its equation", "[theory][joma]") {
  const JomaComponent c{.mu = -1.7, .start = 0.4, .gamma = 0.3};
  const OdeResult flow = solve_ode(
      [&](double, const Eigen::VectorXd& x, Eigen::VectorXd& dxdt) {
        dxdt[0] = (c.mu - x[0]) * std::exp(c.gamma * x[0] * x[0]);
      },
      Eigen::VectorXd::Constant(1, c.start),
      std::vector<double>{0, 1.3},
      {.relative_tolerance = 1e-12, .absolute_tolerance = 1e-13});
  REQUIRE(flow.finished());
  CHECK(convergence_time(c, (c.mu - flow.state[0]) / (c.mu - c.start)) ==
        Approx(1.3).epsilon(1e-10));
}

TEST_CASE("salience_ratio: references, and the neglected term", "[theory][joma]") {
  for (const auto row : reference_values("joma")["reduced"]["thm4"]["rows"]) {
    const double ell = number(row["ell_k"]);
    const SalienceRatio r = salience_ratio(number(row["mu_j"]), number(row["mu_k"]), 0.5, ell);
    CHECK(r.lambda == Approx(number(row["Lambda_pred"])).epsilon(1e-12));
    const double error = std::abs(r.lambda - number(row["Lambda"]));
    CHECK(error < 1.5 * r.lambda_error + 1e-11);
    if (ell >= 10) CHECK(error < 5e-5);
    if (ell >= 15) CHECK(error < 5e-7);
    // Exact: at the time when k has ell nats, j has this many.
    const double time = convergence_time_of_nats({.mu = number(row["mu_k"])}, ell);
    CHECK(convergence_time_of_nats({.mu = number(row["mu_j"])}, number(row["ell_j"])) ==
          Approx(time).epsilon(1e-11));
  }
}

/// The nats gained by a time, by bisection.
double nats_at(double mu, double time) {
  double low = 0;
  double high = 1;
  while (convergence_time_of_nats({.mu = mu}, high) < time) high *= 2;
  while (high - low > 1e-15 * high) {
    const double middle = 0.5 * (low + high);
    if (middle <= low || middle >= high) break;
    (convergence_time_of_nats({.mu = mu}, middle) < time ? low : high) = middle;
  }
  return high;
}

TEST_CASE("salience_ratio: the bound of the neglected terms, any order of mu", "[theory][joma]") {
  for (const double mu_j : {0.5, 1.5, 1.7, 3.0, 6.0}) {
    for (const double mu_k : {0.4, 1.75, 3.5}) {
      for (const double ell : {2.0, 5.0, 12.0, 30.0}) {
        CAPTURE(mu_j, mu_k, ell);
        const SalienceRatio r = salience_ratio(mu_j, mu_k, 0.5, ell);
        const double exact = nats_at(mu_j, convergence_time_of_nats({.mu = mu_k}, ell)) / ell;
        const double limit = std::exp(0.5 * (mu_j * mu_j - mu_k * mu_k));
        const double error = std::abs(exact / limit - (1 + r.lambda));
        CHECK(error < 1.5 * r.lambda_error + 1e-11 * (1 + std::abs(r.lambda)));
      }
    }
  }
}

TEST_CASE("convergence: bad input is refused by name", "[theory][joma]") {
  CHECK_THROWS_WITH(convergence_time({.mu = 0}, 0.1), Contains("mu"));
  CHECK_THROWS_WITH(convergence_time({.mu = 1, .gamma = -1}, 0.1), Contains("gamma"));
  CHECK_THROWS_WITH(convergence_time({.mu = 1}, 0), Contains("epsilon"));
  CHECK_THROWS_WITH(convergence_time({.mu = 1}, 1), Contains("epsilon"));
  CHECK_THROWS_WITH(correction_q({.mu = 1, .start = 2}), Contains("start"));
  CHECK(convergence_time({.mu = 2, .start = 2}, 0.1) == 0);  // already there
}

TEST_CASE("integrated_nats: the quadrature's times, and which is ahead", "[theory][joma]") {
  for (const double mu : {-0.5, 2.0, 8.0}) {
    CAPTURE(mu);
    const JomaComponent c{.mu = mu, .start = 0.1};
    const OdeResult flow = integrated_nats({c}, 0, 5);
    REQUIRE(flow.status == OdeStatus::event);
    CHECK(flow.state[1] == Approx(convergence_time_of_nats(c, 5)).epsilon(1e-9));
  }
  const JomaComponent j{.mu = 1.5};
  const JomaComponent k{.mu = 1};
  const OdeResult both = integrated_nats({j, k}, 1, 3);
  CHECK(both.state[1] == Approx(3).epsilon(1e-9));
  CHECK(convergence_time_of_nats(j, both.state[0]) == Approx(both.state[2]).epsilon(1e-8));
}

}  // namespace joma_nonlinear_test
