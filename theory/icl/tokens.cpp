#include "attica/theory/icl/tokens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "attica/core/error.hpp"
#include "attica/solvers/ode.hpp"

namespace attica {

using Eigen::VectorXd;

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

/// x' of the overlaps of a pair, of one of it with another token, and of two others: sums over all
/// that a token attends to.
void pair_rate(const TokenDynamics& dynamics, const VectorXd& x, VectorXd& dxdt) {
  const auto n = static_cast<double>(dynamics.tokens);
  const double a = x(0);
  const double b = x(1);
  const double c = x(2);
  const auto weight = [&](double overlap) { return std::exp(dynamics.beta * (overlap - 1)); };
  const double wa = weight(a);
  const double wb = weight(b);
  const double wc = weight(c);
  const bool mean = dynamics.normalisation == AttentionNormalisation::mean;
  const double all = n * std::exp(-dynamics.beta);
  const double of_pair = mean ? all : 1 + wa + (n - 2) * wb;
  const double of_other = mean ? all : 1 + 2 * wb + (n - 3) * wc;
  dxdt(0) = 2 * (wa * (1 - a * a) + (n - 2) * wb * b * (1 - a)) / of_pair;
  dxdt(1) = (wa * b * (1 - a) + wb * (1 - b * b) + (n - 3) * wb * (c - b * b)) / of_pair +
            (wb * (1 + a - 2 * b * b) + (n - 3) * wc * b * (1 - c)) / of_other;
  dxdt(2) = 2 * (2 * wb * b * (1 - c) + wc * (1 - c * c) + (n - 4) * wc * c * (1 - c)) / of_other;
}

double pair_mean(const TokenDynamics& dynamics, const VectorXd& x) {
  const auto n = static_cast<double>(dynamics.tokens);
  return (2 * x(0) + 4 * (n - 2) * x(1) + (n - 2) * (n - 3) * x(2)) / (n * (n - 1));
}

OdeResult solve_pair(const TokenDynamics& dynamics,
                     double overlap,
                     std::span<const double> grid,
                     const std::function<double(double, const VectorXd&)>& event = {}) {
  check(dynamics, 0);
  require(overlap > -1 && overlap < 1, "overlap", overlap, "-1 < overlap < 1");
  return solve_ode([&](double, const VectorXd& x, VectorXd& dxdt) { pair_rate(dynamics, x, dxdt); },
                   Eigen::Vector3d(overlap, 0, 0),
                   grid,
                   {.method = OdeMethod::fehlberg78,
                    .relative_tolerance = 1e-12,
                    .absolute_tolerance = 1e-13,
                    .event = event});
}

/// Of the second difference: truncation is some 1e-4 of it, rounding less.
constexpr double kPairStep = 0.02;

/// n(n-1)/4 times the second derivative.
double of_second(const TokenDynamics& dynamics, double below, double middle, double above) {
  const auto n = static_cast<double>(dynamics.tokens);
  return n * (n - 1) / 4 * (below + above - 2 * middle) / (kPairStep * kPairStep);
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

std::vector<double> pair_curve(const TokenDynamics& dynamics,
                               double overlap,
                               std::span<const double> times) {
  const bool starts = !times.empty() && times.front() == 0;
  std::vector<double> grid = {0};
  grid.insert(grid.end(), times.begin() + (starts ? 1 : 0), times.end());
  const OdeResult solved = solve_pair(dynamics, overlap, grid);
  if (!solved.finished()) throw Error(ErrorKind::numerical, "pair overlap: " + describe(solved));
  std::vector<double> curve;
  for (Eigen::Index k = starts ? 0 : 1; k < solved.states.cols(); ++k) {
    curve.push_back(pair_mean(dynamics, solved.states.col(k)));
  }
  return curve;
}

double pair_clustering_time(const TokenDynamics& dynamics, double overlap, double delta) {
  // No start is much slower than that at right angles.
  const std::array<double, 2> grid = {0, 100 * clustering_time(dynamics, 0, delta)};
  const OdeResult solved = solve_pair(dynamics, overlap, grid, [&](double, const VectorXd& x) {
    return pair_mean(dynamics, x) - 1 + delta;
  });
  if (solved.status != OdeStatus::event) {
    throw Error(ErrorKind::numerical, "pair clustering time: " + describe(solved));
  }
  return solved.time;
}

std::vector<double> overlap_shift(const TokenDynamics& dynamics, std::span<const double> times) {
  const std::vector<double> below = pair_curve(dynamics, -kPairStep, times);
  const std::vector<double> middle = pair_curve(dynamics, 0, times);
  const std::vector<double> above = pair_curve(dynamics, kPairStep, times);
  std::vector<double> shift;
  for (std::size_t k = 0; k < times.size(); ++k) {
    shift.push_back(of_second(dynamics, below[k], middle[k], above[k]));
  }
  return shift;
}

double clustering_shift(const TokenDynamics& dynamics, double delta) {
  const auto time = [&](double overlap) { return pair_clustering_time(dynamics, overlap, delta); };
  return of_second(dynamics, time(-kPairStep), time(0), time(kPairStep));
}

}  // namespace attica
