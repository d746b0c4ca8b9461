#include <benchmark/benchmark.h>

#include <Eigen/Core>

#include "attica/sim/icl/ridge.hpp"
#include "attica/sim/icl/sequences.hpp"

namespace {

using namespace attica;
using Eigen::Index;
using Eigen::MatrixXd;

ContextSequences sequences(Index d, double tau) {
  RandomStream stream({.seed = 1});
  const MatrixXd pool = sphere_pool(d, d, stream);
  const auto count = static_cast<Index>(tau * static_cast<double>(d * d));
  return draw_sequences(pool, {.length = 2.0 * static_cast<double>(d), .rho = 0.1}, count, stream);
}

void report(benchmark::State& state, double flops) {
  state.counters["flops"] = benchmark::Counter(flops * static_cast<double>(state.iterations()),
                                               benchmark::Counter::kIsRate);
}

/// What a product of square matrices of the same size reaches: the peak that the others are
/// compared with.
void context_peak(benchmark::State& state) {
  const Index d = state.range(0);
  const Index side = d * (d + 1);
  const MatrixXd a = MatrixXd::Random(side, side);
  const MatrixXd b = MatrixXd::Random(side, side);
  MatrixXd c(side, side);
  for (auto _ : state) {
    c.noalias() = a * b;
    benchmark::DoNotOptimize(c.data());
  }
  const auto n = static_cast<double>(side);
  report(state, 2 * n * n * n);
}
BENCHMARK(context_peak)->ArgName("d")->Arg(20)->Arg(32)->Unit(benchmark::kMillisecond);

/// Gram matrix of linear attention's features over all sequences, or of the sequences where these
/// are fewer, from their factors.
void context_gram(benchmark::State& state) {
  const Index d = state.range(0);
  const double tau = static_cast<double>(state.range(1)) / 10;
  const ContextSequences drawn = sequences(d, tau);
  for (auto _ : state) {
    const ContextRidge ridge(drawn);
    benchmark::DoNotOptimize(&ridge);
  }
  const auto features = static_cast<double>(drawn.features.rows());
  const auto samples = static_cast<double>(drawn.features.cols());
  const double factors = 4 * static_cast<double>(d) * samples * samples;
  report(state, samples < features ? factors : samples * features * features);
}
BENCHMARK(context_gram)
    ->ArgNames({"d", "tau10"})
    ->Args({20, 5})
    ->Args({20, 20})
    ->Args({32, 5})
    ->Args({32, 20})
    ->Unit(benchmark::kMillisecond);

/// Weights at one penalty from the Gram matrix: a Cholesky factorisation.
void context_fit(benchmark::State& state) {
  const Index d = state.range(0);
  const ContextSequences drawn = sequences(d, 2);
  const ContextRidge ridge(drawn);
  for (auto _ : state) benchmark::DoNotOptimize(ridge.fit(0.1));
  const auto side = static_cast<double>(drawn.features.rows());
  report(state, side * side * side / 3);
}
BENCHMARK(context_fit)->ArgName("d")->Arg(20)->Arg(32)->Unit(benchmark::kMillisecond);

}  // namespace
