#include <benchmark/benchmark.h>

#include "attica/sim/potts/factored_attention.hpp"

namespace {

using namespace attica;

/// One training step of factored attention: forward, backward and Adam, given the sequences. Items
/// are sequences. One thread, single precision.
void steps(benchmark::State& state,
           Eigen::Index sites,
           Eigen::Index colours,
           Eigen::Index batch,
           MaskedSites masked) {
  RandomStream stream({.seed = 1});
  FactoredNetwork<float> network(sites, colours);
  network.set(random_student(sites, colours, 0.1, stream));
  networks::Optimiser<float> optimiser(network.parameters(), {});
  Sequences data(batch, sites);
  std::vector<std::int32_t> masks;
  for (Eigen::Index n = 0; n < data.size(); ++n) {
    data.data()[n] = static_cast<std::uint8_t>(stream.below(static_cast<std::uint64_t>(colours)));
  }
  for (Eigen::Index n = 0; n < batch; ++n) {
    masks.push_back(static_cast<std::int32_t>(stream.below(static_cast<std::uint64_t>(sites))));
  }
  std::uint64_t step = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(masked == MaskedSites::all ? network.loss_and_gradient(data)
                                                        : network.loss_and_gradient(data, masks));
    optimiser.update(network.parameters(), network.gradient(), step++);
  }
  state.SetItemsProcessed(state.iterations() * batch);
}

void factored_step(benchmark::State& state, Eigen::Index batch, MaskedSites masked) {
  steps(state, 20, 20, batch, masked);
}
void growth(benchmark::State& state) {
  steps(state, state.range(0), state.range(1), state.range(2), MaskedSites::all);
}
BENCHMARK(growth)
    ->Name("growth/factored_step/L")
    ->ArgNames({"L", "C", "B"})
    ->ArgsProduct({{20, 40, 80, 160}, {20}, {64}})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(growth)
    ->Name("growth/factored_step/B")
    ->ArgNames({"L", "C", "B"})
    ->ArgsProduct({{20}, {20}, {64, 256, 1024}})
    ->Unit(benchmark::kMicrosecond);

// clang-format off
BENCHMARK_CAPTURE(factored_step, L:20/C:20/B:100/sites:all, 100, MaskedSites::all)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(factored_step, L:20/C:20/B:100/sites:one, 100, MaskedSites::one)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(factored_step, L:20/C:20/B:1000/sites:all, 1000, MaskedSites::all)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(factored_step, L:20/C:20/B:1000/sites:one, 1000, MaskedSites::one)->Unit(benchmark::kMicrosecond);
// clang-format on

}  // namespace
