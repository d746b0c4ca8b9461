#include "attica/solvers/statistics/planning.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attica/core/error.hpp"
#include "attica/solvers/statistics/distributions.hpp"
#include "attica/solvers/statistics/power.hpp"

namespace attica {
namespace {

constexpr std::size_t kFewestPilot = 8;
constexpr std::size_t kFewestGuarded = 30;
constexpr std::size_t kFewestPooled = 20;
constexpr double kGuardedUncertainty = 1.5;  // upper end of a guarded plan
constexpr double kRangeTail = 0.1;           // 80 % range of the spread

// Probability that the mean falls outside on one side: both sides share it if the difference is 0.
double beta(double delta, const PlanGoal& goal) {
  const double miss = 1 - point_power(goal);
  return delta == 0 ? miss / 2 : miss;
}

std::optional<std::size_t> replicates(const PilotPoint& point, const PlanGoal& goal) {
  return point.tails == Tails::guarded
             ? guarded_replicates(point.sample, point.margin, point.delta, goal)
             : stein_replicates(point.sample.n, point.sample.sd, point.margin, point.delta, goal);
}

// The same pilot had its standard deviation been another.
PilotPoint with_sd(PilotPoint point, double sd) {
  point.sample.sd = sd;
  return point;
}

}  // namespace

double point_power(const PlanGoal& goal) {
  require(goal.points >= 1, "points", static_cast<double>(goal.points), "at least one");
  require(goal.power > 0 && goal.power < 1, "power", goal.power, "0 < power < 1");
  const auto points = static_cast<double>(goal.points);
  return goal.shared ? 1 - (1 - goal.power) / points : std::pow(goal.power, 1 / points);
}

std::optional<std::size_t> planned_replicates(
    double margin, double delta, double sigma, const PlanGoal& goal, std::size_t fewest) {
  if (std::abs(delta) >= margin) return std::nullopt;
  const PowerProblem problem{.margin = margin, .delta = delta, .sigma = sigma};
  return least_replicates(
      [&](std::size_t n) { return agree_power(n, problem); }, point_power(goal), fewest);
}

std::optional<std::size_t> stein_replicates(
    std::size_t pilot_n, double pilot_sd, double margin, double delta, const PlanGoal& goal) {
  const double room = margin - std::abs(delta);
  if (room <= 0) return std::nullopt;
  const auto nu = static_cast<double>(pilot_n - 1);
  const double t = student_quantile(kAgreeLevel, nu) + student_quantile(beta(delta, goal), nu);
  const double n = std::ceil(std::pow(pilot_sd * t / room, 2));
  return std::max(pilot_n, static_cast<std::size_t>(n));
}

Interval stein_interval(const SampleSummary& pilot, double mean, std::size_t n, double alpha) {
  const double h = student_quantile(alpha, static_cast<double>(pilot.n - 1)) * pilot.sd /
                   std::sqrt(static_cast<double>(n));
  return {mean - h, mean + h};
}

std::optional<std::size_t> guarded_replicates(const SampleSummary& pilot,
                                              double margin,
                                              double delta,
                                              const PlanGoal& goal) {
  const double room = margin - std::abs(delta);
  if (room <= 0) return std::nullopt;
  const double z = normal_quantile(beta(delta, goal));
  const std::size_t fewest = std::max(pilot.pooled ? kFewestPooled : kFewestGuarded, pilot.n);
  auto fits = [&](std::size_t n) {
    const GuardScale scale = guard_scale(pilot, Tails::guarded, n);
    const CriticalValue critical = critical_value(n, kAgreeLevel);
    const double guard = critical.guard * std::max(scale.upper, scale.lower);
    return (critical.t + z) * pilot.sd / std::sqrt(static_cast<double>(n)) + guard <= room;
  };
  return least_replicates([&](std::size_t n) { return fits(n) ? 1.0 : 0.0; }, 1, fewest);
}

Plan plan_run(std::span<const PilotPoint> pilot, PlanGoal goal, std::size_t threads) {
  require(threads >= 1, "threads", static_cast<double>(threads), "at least one");
  goal.points = std::max<std::size_t>(1, pilot.size());
  Plan plan;
  PlannedRange most;
  for (const PilotPoint& point : pilot) {
    const SampleSummary& sample = point.sample;
    require(sample.n >= kFewestPilot && sample.failed == 0,
            "replicates",
            static_cast<double>(sample.n),
            "a pilot of 8 or more replicates, none of them failed");
    require(std::isfinite(point.margin) && point.margin > 0,
            "margin",
            point.margin,
            "a finite number > 0");
    const auto n = replicates(point, goal);
    plan.replicates.push_back(n);
    if (!n) continue;
    // 80 % range of the true standard deviation given the pilot's.
    const auto nu = static_cast<double>(sample.n - 1);
    auto limit = [&](double tail) {
      const double sd = sample.sd * std::sqrt(nu / chi_square_quantile(tail, nu));
      return static_cast<double>(replicates(with_sd(point, sd), goal).value_or(*n));
    };
    most.expected = std::max(most.expected, static_cast<double>(*n));
    most.low = std::max(most.low, limit(kRangeTail));
    most.high = std::max(most.high,
                         point.tails == Tails::guarded
                             ? std::ceil(kGuardedUncertainty * static_cast<double>(*n))
                             : limit(1 - kRangeTail));
  }
  const bool decided = std::ranges::all_of(plan.replicates, [](auto n) { return n.has_value(); });
  if (!decided || pilot.empty()) return plan;
  plan.run_replicates = most;
  auto time = [&](double n) {
    return std::accumulate(pilot.begin(),
                           pilot.end(),
                           0.0,
                           [&](double sum, const PilotPoint& p) { return sum + n * p.seconds; }) /
           static_cast<double>(threads);
  };
  plan.seconds = PlannedRange{time(most.expected), time(most.low), time(most.high)};
  return plan;
}

}  // namespace attica
