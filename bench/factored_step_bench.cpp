#include <benchmark/benchmark.h>

#include "attica/sim/factored_attention.hpp"

namespace {

using namespace attica;

/// One training step of factored attention: forward, backward and Adam, given the sequences. Items
/// are sequences. One thread, single precision.
void factored_step(benchmark::State& state, Eigen::Index batch, MaskedSites masked) {
  constexpr Eigen::Index kSites = 20;
  constexpr Eigen::Index kColours = 20;
  RandomStream stream({.seed = 1});
  FactoredNetwork<float> network(kSites, kColours);
  network.set(random_student(kSites, kColours, 0.1, stream));
  networks::Optimiser<float> optimiser(network.parameters(), {});
  Sequences data(batch, kSites);
  std::vector<std::int32_t> sites;
  for (Eigen::Index n = 0; n < data.size(); ++n) {
    data.data()[n] = static_cast<std::uint8_t>(stream.below(kColours));
  }
  for (Eigen::Index n = 0; n < batch; ++n) {
    sites.push_back(static_cast<std::int32_t>(stream.below(kSites)));
  }
  std::uint64_t step = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(masked == MaskedSites::all ? network.loss_and_gradient(data)
                                                        : network.loss_and_gradient(data, sites));
    optimiser.update(network.parameters(), network.gradient(), step++);
  }
  state.SetItemsProcessed(state.iterations() * batch);
}

// clang-format off
BENCHMARK_CAPTURE(factored_step, L:20/C:20/B:100/sites:all, 100, MaskedSites::all)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(factored_step, L:20/C:20/B:100/sites:one, 100, MaskedSites::one)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(factored_step, L:20/C:20/B:1000/sites:all, 1000, MaskedSites::all)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(factored_step, L:20/C:20/B:1000/sites:one, 1000, MaskedSites::one)->Unit(benchmark::kMicrosecond);
// clang-format on

}  // namespace
