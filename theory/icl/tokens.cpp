#include "attica/theory/icl/tokens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/solvers/ode.hpp"

namespace attica {
namespace {

/// e^x E1(x), also where E1 underflows. @param x > 0
double scaled_e1(double x) {
  constexpr double kSeries = 1;
  if (x < kSeries) return -std::exp(x) * std::expint(-x);
  // Continued fraction 1/(x+1-1/(x+3-4/(x+5-...))), by Lentz's method.
  constexpr int kTerms = 1000;
  constexpr double kRounding = 1e-16;
  double b = x + 1;
  double c = 1e300;
  double d = 1 / b;
  double value = d;
  for (int k = 1; k <= kTerms; ++k) {
    const double a = -static_cast<double>(k) * k;
    b += 2;
    d = 1 / (a * d + b);
    c = b + a / c;
    value *= c * d;
    if (std::abs(c * d - 1) < kRounding) break;
  }
  return value;
}

void check(const TokenDynamics& dynamics, double start) {
  require(dynamics.tokens >= 2, "tokens", static_cast<double>(dynamics.tokens), "tokens >= 2");
  require(dynamics.beta >= 0 && std::isfinite(dynamics.beta),
          "beta",
          dynamics.beta,
          "0 <= beta < infinity");
  const double lowest = -1 / static_cast<double>(dynamics.tokens - 1);
  require(start > lowest && start < 1,
          "overlap",
          start,
          fmt::format("-1/(n-1) = {:.6g} < overlap < 1", lowest));
}

}  // namespace

double overlap_rate(const TokenDynamics& dynamics, double rho) {
  const auto n = static_cast<double>(dynamics.tokens);
  const double shape = (1 - rho) * ((n - 1) * rho + 1);
  if (dynamics.normalisation == AttentionNormalisation::mean) {
    return 2 / n * std::exp(dynamics.beta * rho) * shape;
  }
  const double weight = std::exp(-dynamics.beta * (1 - rho));
  return 2 * shape * weight / (1 + (n - 1) * weight);
}

std::vector<double> overlap_curve(const TokenDynamics& dynamics,
                                  double start,
                                  std::span<const double> times) {
  check(dynamics, start);
  std::vector<double> grid = {0};
  for (const double t : times) {
    if (t > grid.back()) grid.push_back(t);
  }
  std::vector<double> values = {start};
  if (grid.size() > 1) {
    const OdeResult solved = solve_ode(
        [&](double, const Eigen::VectorXd& x, Eigen::VectorXd& dxdt) {
          dxdt(0) = overlap_rate(dynamics, std::min(x(0), 1.0));
        },
        Eigen::VectorXd::Constant(1, start),
        grid,
        {.method = OdeMethod::fehlberg78,
         .relative_tolerance = 1e-12,
         .absolute_tolerance = 1e-13});
    if (!solved.finished()) throw Error(ErrorKind::numerical, "token overlap: " + describe(solved));
    values.assign(solved.states.data(), solved.states.data() + solved.states.cols());
  }
  std::vector<double> curve;
  for (const double t : times) {
    const auto at = std::lower_bound(grid.begin(), grid.end(), t);
    curve.push_back(values.at(static_cast<std::size_t>(at - grid.begin())));
  }
  return curve;
}

double clustering_time(const TokenDynamics& dynamics, double start, double delta) {
  check(dynamics, start);
  require(delta > 0 && delta < 1 - start, "delta", delta, "0 < delta < 1 - overlap");
  constexpr double kLargest = 700;
  const double beta = dynamics.beta;
  const double high = beta * (1 - start);
  require(high <= kLargest, "beta", beta, "beta (1 - overlap) <= 700: the time overflows");
  const auto n = static_cast<double>(dynamics.tokens);
  const double w0 = start + 1 / (n - 1);
  const double w1 = 1 - delta + 1 / (n - 1);
  const double ell = std::log((1 - start) / delta) + std::log(w1 / w0);
  if (beta == 0) return ell / 2;
  // e^{βn/(n-1)} E1(βw0) = e^{β(1-ρ0)} [e^{βw0} E1(βw0)], and likewise at w1 with δ.
  const double wells = std::expint(high) - std::expint(beta * delta) +
                       std::exp(high) * scaled_e1(beta * w0) -
                       std::exp(beta * delta) * scaled_e1(beta * w1);
  if (dynamics.normalisation == AttentionNormalisation::mean) return std::exp(-beta) * wells / 2;
  return ((n - 1) * ell + wells) / (2 * n);
}

double overlap_variance(const TokenDynamics& dynamics, double rho) {
  const auto n = static_cast<double>(dynamics.tokens);
  const double gain = overlap_rate(dynamics, rho) / overlap_rate(dynamics, 0);
  return 2 / (n * (n - 1)) * gain * gain;
}

}  // namespace attica
