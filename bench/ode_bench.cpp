#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "attica/solvers/ode.hpp"

namespace {

using namespace attica;
using Eigen::VectorXd;

struct Decoupled {
  static constexpr Eigen::Index kSize = 1000;
  static constexpr int kTimes = 50;
  VectorXd mu{kSize};
  std::vector<double> times{0};

  Decoupled() {
    for (Eigen::Index i = 0; i < kSize; ++i) {
      mu[i] = 0.01 * std::pow(300.0, static_cast<double>(i) / static_cast<double>(kSize - 1));
    }
    for (int k = 0; k < kTimes; ++k) times.push_back(1e-2 * std::pow(1e3, k / double(kTimes - 1)));
  }

  OdeResult solve(OdeMethod method, double tolerance) const {
    const OdeRhs rhs = [this](double, const VectorXd& v, VectorXd& dvdt) {
      dvdt.array() = (mu.array() - v.array()) * (0.5 * v.array().square()).exp();
    };
    return solve_ode(
        rhs,
        VectorXd::Zero(kSize),
        times,
        {.method = method, .relative_tolerance = tolerance, .absolute_tolerance = 0.1 * tolerance});
  }
};

/// v' = (mu - v) exp(v^2/2), 1000 decoupled equations, mu log-spaced on 0.01..3, v(0) = 0, 50
/// log-spaced output times to t = 10. The argument is -log10 of the relative tolerance; true_error
/// is the largest error over all components and output times.
void ode_decoupled(benchmark::State& state) {
  const Decoupled problem;
  const double tolerance = std::pow(10.0, -static_cast<double>(state.range(0)));
  OdeResult result;
  for (auto _ : state) {
    result = problem.solve(OdeMethod::dopri5, tolerance);
    benchmark::DoNotOptimize(result.states.data());
  }
  constexpr double kReference = 1e-13;
  const OdeResult exact = problem.solve(OdeMethod::fehlberg78, kReference);
  state.counters["true_error"] = (result.states - exact.states).cwiseAbs().maxCoeff();
  state.counters["steps"] = static_cast<double>(result.accepted_steps + result.rejected_steps);
}
BENCHMARK(ode_decoupled)->ArgName("digits")->DenseRange(7, 10)->Unit(benchmark::kMillisecond);

}  // namespace
