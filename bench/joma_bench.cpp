/// @file
/// @brief Benchmarks of joint attention dynamics: locating bounces, convergence times,
/// SGD.

#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "attica/sim/joma_descent.hpp"
#include "attica/theory/joma_bounce.hpp"
#include "attica/theory/joma_nonlinear.hpp"

namespace {

using namespace attica;

void joma_bounce_minimum(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(bounce_summary({.mu = {1, 1.5, 2, 2.5, 3}, .gamma = 0.5}));
  }
}
BENCHMARK(joma_bounce_minimum)->Unit(benchmark::kMicrosecond);

void joma_convergence_times(benchmark::State& state) {
  constexpr int kValues = 200;
  for (auto _ : state) {
    double sum = 0;
    for (int k = 0; k < kValues; ++k) {
      sum += convergence_time({.mu = 0.01 * std::pow(3000.0, k / (kValues - 1.0))}, 1e-8);
    }
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * kValues);
}
BENCHMARK(joma_convergence_times)->Unit(benchmark::kMicrosecond);

void joma_erf_sgd(benchmark::State& state) {
  const JomaTokens tokens = JomaTokens::with_delta({0.2, 0.13, 0.06, 0.02, 0.02, -0.03});
  constexpr std::int64_t kSteps = 250;
  const std::vector<std::int64_t> steps = {kSteps};
  std::uint64_t replicate = 0;
  for (auto _ : state) {
    descend_erf(tokens,
                {},
                steps,
                {.seed = 1, .replicate = replicate++},
                [](std::size_t, const Eigen::VectorXd& v, const Eigen::VectorXd&) {
                  benchmark::DoNotOptimize(v.sum());
                });
  }
  state.SetItemsProcessed(state.iterations() * kSteps);
}
BENCHMARK(joma_erf_sgd)->Unit(benchmark::kMicrosecond);

}  // namespace
