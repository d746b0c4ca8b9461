// Sparse contextual bigrams, single precision, one thread unless said otherwise.
//
// bigrams_step: one SGD step, fresh sequences, hat gradients and update included; an iteration is a
// step. Peers: bench/peers/bigrams_step_torch.py (scatter formulation and dense one-hot
// formulation).
// bigrams_tokens: drawing the sequences of such a step alone; the floor.
// bigrams_surrogate: one step of the dense surrogate, columns in parallel on all threads.

#include <benchmark/benchmark.h>

#include <vector>

#include "attica/core/bigrams/instances.hpp"
#include "attica/sim/bigrams/sgd.hpp"
#include "attica/sim/bigrams/surrogate.hpp"

namespace {

using namespace attica;

BigramModel model(std::int64_t tokens, std::int64_t context) {
  RandomStream stream({.seed = 1, .id = StreamId::model});
  constexpr Eigen::Index kSparsity = 2;
  return {circulant_chain(tokens, 0.8),
          context,
          kSparsity,
          random_attention(tokens, context, kSparsity, AttentionWeights::uniform, stream)};
}

void bigrams_step(benchmark::State& state) {
  const BigramModel problem = model(state.range(0), state.range(1));
  const auto batch = static_cast<double>(state.range(2));
  BigramSgd<float> sgd(problem,
                       BigramAlgorithm::sgd_hat,
                       {1e-3, 1e-3},
                       batch,
                       stationary_value(problem),
                       {.seed = 1, .id = StreamId::minibatch});
  for (auto _ : state) sgd.step();
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(bigrams_step)
    ->ArgNames({"N", "T", "B"})
    ->Args({3, 5000, 64})
    ->Args({20, 5000, 64})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(bigrams_step)
    ->Name("growth/bigrams_step/T")
    ->ArgNames({"N", "T", "B"})
    ->ArgsProduct({{3}, {1000, 4000, 16000, 64000}, {16}})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(bigrams_step)
    ->Name("growth/bigrams_step/N")
    ->ArgNames({"N", "T", "B"})
    ->ArgsProduct({{4, 8, 16, 32, 64}, {5000}, {16}})
    ->Unit(benchmark::kMicrosecond);

void bigrams_tokens(benchmark::State& state) {
  const BigramModel problem = model(state.range(0), state.range(1));
  const BigramSampler sampler(problem);
  std::vector<Token> tokens(static_cast<std::size_t>(state.range(1)));
  RandomStream stream({.seed = 1, .id = StreamId::minibatch});
  for (auto _ : state) {
    for (std::int64_t b = 0; b < state.range(2); ++b) {
      benchmark::DoNotOptimize(sampler.draw(b % state.range(0), tokens, stream));
    }
  }
  const auto drawn = static_cast<double>(state.iterations() * state.range(1) * state.range(2));
  state.counters["ns_per_token"] =
      benchmark::Counter(drawn * 1e-9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(bigrams_tokens)
    ->ArgNames({"N", "T", "B"})
    ->Args({3, 5000, 64})
    ->Args({20, 5000, 64})
    ->Unit(benchmark::kMicrosecond);

void bigrams_surrogate(benchmark::State& state) {
  const BigramModel problem = model(state.range(0), state.range(1));
  DenseSurrogate run(problem,
                     {1e-3, 1e-3},
                     4096,
                     stationary_value(problem),
                     {.seed = 1, .id = StreamId::surrogate});
  for (auto _ : state) run.step();
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(bigrams_surrogate)
    ->ArgNames({"N", "T"})
    ->Args({500, 100000})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(bigrams_surrogate)
    ->Name("growth/bigrams_surrogate/T")
    ->ArgNames({"N", "T"})
    ->ArgsProduct({{20}, {2000, 8000, 32000}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(bigrams_surrogate)
    ->Name("growth/bigrams_surrogate/N")
    ->ArgNames({"N", "T"})
    ->ArgsProduct({{10, 40, 160}, {2000}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
