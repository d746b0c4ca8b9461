#include <benchmark/benchmark.h>

#include "attica/core/parallel.hpp"
#include "attica/core/potts/ensembles.hpp"
#include "attica/sim/potts/sampler.hpp"

namespace {

using namespace attica;

/// A ring with chords: every site has three neighbours.
Eigen::MatrixXd degree_three(Eigen::Index sites) {
  Eigen::MatrixXd j = ring_couplings(sites);
  for (Eigen::Index i = 0; i < sites / 2; ++i) j(i, i + sites / 2) = j(i + sites / 2, i) = 1;
  return j;
}

/// Gibbs sweeps of 1000 chains; items are site updates. One thread, single precision.
void sweeps(benchmark::State& state, const Eigen::MatrixXd& couplings) {
  RandomStream stream({.seed = 1, .id = StreamId::model});
  const PottsModel model(
      couplings, zero_sum(gaussian_colour_couplings(state.range(1), stream)), 0.5);
  constexpr Eigen::Index kChains = 1000;
  PottsSampler sampler(model, {.chains = kChains}, {.seed = 1, .id = StreamId::sampler});
  const ThreadLimit limit(1);
  sampler.sweep(10);
  for (auto _ : state) sampler.sweep(1);
  state.SetItemsProcessed(state.iterations() * kChains * state.range(0));
}

void dense(benchmark::State& state) {
  RandomStream stream({.seed = 2, .id = StreamId::model});
  sweeps(state, gaussian_couplings(state.range(0), stream));
}
BENCHMARK(dense)
    ->Name("potts_gibbs")
    ->ArgNames({"L", "C"})
    ->Args({20, 20})
    ->Args({100, 4})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(dense)
    ->Name("growth/potts_gibbs/L")
    ->ArgNames({"L", "C"})
    ->ArgsProduct({{16, 32, 64, 128}, {8}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(dense)
    ->Name("growth/potts_gibbs/C")
    ->ArgNames({"L", "C"})
    ->ArgsProduct({{32}, {4, 8, 16, 32}})
    ->Unit(benchmark::kMillisecond);

void sparse(benchmark::State& state) { sweeps(state, degree_three(state.range(0))); }
BENCHMARK(sparse)
    ->Name("potts_gibbs")
    ->ArgNames({"L", "C", "degree"})
    ->Args({100, 4, 3})
    ->Unit(benchmark::kMillisecond);

}  // namespace
