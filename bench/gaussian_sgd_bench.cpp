#include <benchmark/benchmark.h>

#include "attica/core/gauss/ensembles.hpp"
#include "attica/sim/gauss/sgd.hpp"

namespace {

using namespace attica;

/// Online SGD of the linear attention matrix: all sites, fresh Gaussian batches included. Time per
/// step.
void sgd_online(benchmark::State& state) {
  const GaussianMlm problem(ar1_covariance(state.range(0), 0.6));
  RandomStream samples({.seed = 1});
  RandomStream masks({.seed = 1, .id = StreamId::minibatch});
  LinearAttentionSgd sgd(problem.sites(),
                         {.eta = 1e-3, .batch = state.range(1)},
                         gaussian_source(problem, samples),
                         masks);
  constexpr std::int64_t kSteps = 64;
  for (auto _ : state) sgd.advance(sgd.step() + kSteps);
  state.SetItemsProcessed(state.iterations() * kSteps);
  state.counters["us_per_step"] =
      benchmark::Counter(static_cast<double>(state.iterations() * kSteps) * 1e-6,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(sgd_online)
    ->ArgNames({"L", "B"})
    ->Args({200, 1})
    ->Args({200, 64})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(sgd_online)
    ->Name("growth/sgd_online/L")
    ->ArgNames({"L", "B"})
    ->ArgsProduct({{100, 200, 400, 800}, {1}})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
