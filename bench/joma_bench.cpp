/// @file
/// @brief Benchmarks of joint attention dynamics: locating bounces, convergence times,
/// SGD,
/// a step of attention and MLP, sequences of latent trees.

#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "attica/core/joma/model.hpp"
#include "attica/sim/joma/descent.hpp"
#include "attica/sim/joma/latent_tree_sampler.hpp"
#include "attica/theory/joma/bounce.hpp"
#include "attica/theory/joma/nonlinear.hpp"

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
                [](std::size_t, const ErfReached& at) { benchmark::DoNotOptimize(at.v.sum()); });
  }
  state.SetItemsProcessed(state.iterations() * kSteps);
}
BENCHMARK(joma_erf_sgd)->Unit(benchmark::kMicrosecond);

/// One full-batch step of softmax attention and its MLP: 20 tokens, 20 classes, cross-entropy.
void joma_step(benchmark::State& state) {
  constexpr int kSize = 20;
  constexpr double kRate = 0.1;
  JomaSamples samples{.contexts = Eigen::MatrixXd(kSize, kSize),
                      .queries = std::vector<int>(kSize, 0),
                      .labels = {},
                      .weights = Eigen::VectorXd::Constant(kSize, 1.0 / kSize)};
  RandomStream stream({.seed = 1});
  for (double& x : samples.contexts.reshaped()) x = stream.uniform();
  for (int n = 0; n < kSize; ++n) {
    samples.contexts.row(n) /= samples.contexts.row(n).sum();
    samples.labels.push_back(n);
  }
  const JomaModel model(
      {.attention = JomaAttention::softmax, .loss = JomaLoss::cross_entropy, .temperature = 0.5},
      std::move(samples));
  JomaState start{Eigen::MatrixXd::Zero(kSize, kSize),
                  Eigen::MatrixXd::Zero(kSize, 1),
                  Eigen::MatrixXd::Zero(1, kSize)};
  JomaDescent descent(model, std::move(start), kRate, 0, {.seed = 1});
  for (auto _ : state) descent.step();
  benchmark::DoNotOptimize(descent.state().v.sum());
}
BENCHMARK(joma_step)->Unit(benchmark::kMicrosecond);

/// A thousand sequences of a latent tree with 256 leaves.
void tree_sample(benchmark::State& state) {
  constexpr int kDepth = 8;
  constexpr int kSequences = 1000;
  const LatentTreeSampler sampler(bit_tree(kDepth, 4, 0.9, 0.1, 0.9));
  RandomStream stream({.seed = 1});
  TreeSequences sequences(sampler, stream);
  std::vector<int> leaves;
  for (auto _ : state) {
    int active = 0;
    for (int i = 0; i < kSequences; ++i) {
      sequences.draw(leaves);
      active += leaves.front();
    }
    benchmark::DoNotOptimize(active);
  }
  state.SetItemsProcessed(state.iterations() * kSequences);
}
BENCHMARK(tree_sample)->Unit(benchmark::kMicrosecond);

}  // namespace
