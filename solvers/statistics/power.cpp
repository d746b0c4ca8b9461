#include "attica/solvers/statistics/power.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "attica/solvers/gauss_legendre.hpp"
#include "attica/solvers/statistics/distributions.hpp"

namespace attica {
namespace {

constexpr std::size_t kPowerNodes = 64;
constexpr double kNegligible = 1e-15;  // probability left out at each end of the distribution of s

// A quantile of chi-square over nu; beyond GSL's reach by Wilson and Hilferty (1931), whose error
// does not matter for the ends of an integral.
Interval spread_range(double nu) {
  constexpr double kLarge = 1000;
  if (nu < kLarge) {
    return {std::sqrt(chi_square_lower_quantile(kNegligible, nu) / nu),
            std::sqrt(chi_square_quantile(kNegligible, nu) / nu)};
  }
  const double centre = 1 - 2 / (9 * nu);
  const double reach = normal_quantile(kNegligible) * std::sqrt(2 / (9 * nu));
  return {std::pow(centre - reach, 1.5), std::pow(centre + reach, 1.5)};
}

// Quadrature over v = s / sigma with its density, that of sqrt(X / nu): 2 nu v f_chi2(nu v^2).
std::vector<QuadratureNode> spread_nodes(double nu, const Interval& range) {
  std::vector<QuadratureNode> nodes = gauss_legendre(kPowerNodes, range);
  for (auto& [v, weight] : nodes) weight *= 2 * nu * v * chi_square_density(nu * v * v, nu);
  return nodes;
}

/// The nodes over all of v; points of a run have the same nu, as a rule.
const std::vector<QuadratureNode>& all_spread_nodes(double nu) {
  static thread_local double known = 0;
  static thread_local std::vector<QuadratureNode> nodes;
  if (nu != known) {
    nodes = spread_nodes(nu, spread_range(nu));
    known = nu;
  }
  return nodes;
}

double disagree_power(std::size_t n,
                      const PowerProblem& problem,
                      const CriticalValue& u,
                      const std::vector<QuadratureNode>& nodes) {
  const double root_n = std::sqrt(static_cast<double>(n));
  const double above = problem.margin + u.guard * problem.guard.lower - problem.delta;
  const double below = problem.margin + u.guard * problem.guard.upper + problem.delta;
  double power = 0;
  for (const QuadratureNode& node : nodes) {
    power += node.weight * (normal_tail(above * root_n / problem.sigma + u.t * node.x) +
                            normal_tail(below * root_n / problem.sigma + u.t * node.x));
  }
  return power;
}

/// The gap beyond margin and guard, in standard errors, that is found with the given power; the
/// points of a run have the same, as a rule.
double standard_gap(double t, const std::vector<QuadratureNode>& nodes, double nu, double power) {
  static thread_local std::array<double, 4> known{};  // nu, t, power and the gap
  if (known[0] == nu && known[1] == t && known[2] == power) return known[3];
  const auto found = [&](double gap) {
    double sum = 0;
    for (const QuadratureNode& node : nodes) sum += node.weight * normal_tail(t * node.x - gap);
    return sum >= power;
  };
  double low = 0;
  double high = 1;
  while (!found(high)) high *= 2;
  constexpr double kPrecision = 1e-10;
  while (high - low > kPrecision * high) {
    const double middle = 0.5 * (low + high);
    (found(middle) ? high : low) = middle;
  }
  known = {nu, t, power, high};
  return high;
}

}  // namespace

double agree_power(std::size_t n, const PowerProblem& problem) {
  const auto nu = static_cast<double>(n - 1);
  const double root_n = std::sqrt(static_cast<double>(n));
  const CriticalValue t = critical_value(n, kAgreeLevel);
  // The mean must lie between -lower + t s/sqrt(n) and upper - t s/sqrt(n).
  const double upper = problem.margin - t.guard * problem.guard.upper;
  const double lower = problem.margin - t.guard * problem.guard.lower;
  Interval range = spread_range(nu);
  range.high = std::min(range.high, 0.5 * (upper + lower) * root_n / (t.t * problem.sigma));
  if (range.high <= range.low) return 0;
  double power = 0;
  for (const QuadratureNode& node : spread_nodes(nu, range)) {
    const double allowance = t.t * node.x;
    const double high = (upper - problem.delta) * root_n / problem.sigma - allowance;
    const double low = (-lower - problem.delta) * root_n / problem.sigma + allowance;
    power += node.weight * (normal_tail(low) - normal_tail(high));
  }
  return power;
}

double disagree_power(std::size_t n, const PowerProblem& problem, std::size_t family) {
  const auto nu = static_cast<double>(n - 1);
  const CriticalValue u = critical_value(n, 0.5 * kDisagreeLevel / static_cast<double>(family));
  return disagree_power(n, problem, u, all_spread_nodes(nu));
}

double detectable_gap(std::size_t n, PowerProblem problem, std::size_t family, double power) {
  const auto nu = static_cast<double>(n - 1);
  const CriticalValue u = critical_value(n, 0.5 * kDisagreeLevel / static_cast<double>(family));
  const std::vector<QuadratureNode>& nodes = all_spread_nodes(nu);
  auto found = [&](double delta) {
    auto at = [&](double signed_delta) {
      problem.delta = signed_delta;
      return disagree_power(n, problem, u, nodes);
    };
    const double above = at(delta);
    if (!(above >= power)) return false;
    // Without a guard, or with one that is the same on both sides, so is the power.
    return problem.guard.upper == problem.guard.lower || at(-delta) >= power;
  };
  double step = std::max(problem.sigma / std::sqrt(static_cast<double>(n)),
                         std::numeric_limits<double>::denorm_min());
  // The power rises with |delta|: what is found stays found beyond, and what is not is not before.
  Interval known = {problem.margin, std::numeric_limits<double>::infinity()};
  const double guess = problem.margin +
                       u.guard * std::max(problem.guard.upper, problem.guard.lower) +
                       standard_gap(u.t, nodes, nu, power) * step;
  constexpr double kNear = 1e-8;  // wider than the guess is exact; what it says is tried
  if (std::isfinite(guess)) {
    if (found(guess * (1 + kNear))) known.high = guess * (1 + kNear);
    if (!found(guess * (1 - kNear))) known.low = guess * (1 - kNear);
  }
  const auto found_at = [&](double delta) {
    if (delta >= known.high) return true;
    if (delta <= known.low) return false;
    const bool yes = found(delta);
    (yes ? known.high : known.low) = delta;
    return yes;
  };
  double low = problem.margin;
  double high = low + step;
  while (!found_at(high)) {
    low = high;
    step *= 2;
    high += step;
  }
  constexpr double kPrecision = 1e-4;  // of the gap: it is printed with a few digits
  while (high - low > kPrecision * high) {
    const double middle = low + 0.5 * (high - low);
    if (middle <= low || middle >= high) break;  // neighbours, among the smallest numbers
    (found_at(middle) ? high : low) = middle;
  }
  return high;
}

std::optional<std::size_t> least_replicates(const std::function<double(std::size_t)>& power,
                                            double target,
                                            std::size_t first) {
  constexpr std::size_t kMost = 10'000'000;
  std::size_t low = first;
  if (power(low) >= target) return low;
  std::size_t high = low;
  do {
    if (high == kMost) return std::nullopt;
    low = high;
    high = std::min(2 * high, kMost);
  } while (power(high) < target);
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (power(middle) >= target ? high : low) = middle;
  }
  return high;
}

}  // namespace attica
