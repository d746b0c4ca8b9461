// One training step (forward, backward, Adam; float, one thread) on data already in memory. The
// peers of the same names are in bench/peers/transformer_step_torch.py and lm_step_torch.py.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "attica/sim/networks/optimiser.hpp"
#include "attica/sim/networks/transformer.hpp"

namespace {

using namespace attica;
using namespace attica::networks;

std::vector<std::int32_t> random_tokens(std::size_t count, int vocabulary) {
  RandomStream stream({.seed = 1});
  std::vector<std::int32_t> tokens(count);
  for (auto& token : tokens) {
    token = static_cast<std::int32_t>(stream.below(static_cast<std::uint64_t>(vocabulary)));
  }
  return tokens;
}

void train(benchmark::State& state,
           const TransformerShape& shape,
           const Batch& batch,
           std::size_t items) {
  Transformer<float> net(shape);
  constexpr double scale = 0.02;
  net.parameters().initialise("W_E", {.scale = scale}, {.id = StreamId::initialisation});
  for (int l = 0; l < shape.layers; ++l) {
    for (const char* name : {"W_Q", "W_K", "W_V", "W_O", "W_1", "W_2"}) {
      net.parameters().initialise(
          fmt::format("layer{}.{}", l, name), {.scale = scale}, {.id = StreamId::initialisation});
    }
  }
  net.parameters().initialise("W_dec", {.scale = scale}, {.id = StreamId::initialisation});
  Optimiser<float> adam(net.parameters(), {.kind = OptimiserKind::adam});
  std::uint64_t step = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(net.loss_and_gradient(batch, {.id = StreamId::dropout, .step = step}));
    adam.update(net.parameters(), net.gradient(), step++);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(items));
}

/// A pre-norm transformer with MLP, one masked site per sequence.
void transformer_step(benchmark::State& state,
                      int length,
                      int colours,
                      int width,
                      int layers,
                      int heads,
                      int mlp,
                      int sequences) {
  const TransformerShape shape{.vocabulary = colours + 1,
                               .outputs = colours,
                               .length = length,
                               .width = width,
                               .layers = layers,
                               .heads = heads,
                               .mlp_width = mlp,
                               .normalisation = Normalisation::pre};
  Batch batch{.tokens = random_tokens(static_cast<std::size_t>(length * sequences), colours)};
  set_equal_lengths(batch, length);
  RandomStream stream({.id = StreamId::minibatch});
  for (int b = 0; b < sequences; ++b) {
    const int site =
        b * length + static_cast<int>(stream.below(static_cast<std::uint64_t>(length)));
    batch.sites.push_back(site);
    batch.targets.push_back(batch.tokens[static_cast<std::size_t>(site)]);
    batch.tokens[static_cast<std::size_t>(site)] = colours;
  }
  train(state, shape, batch, static_cast<std::size_t>(sequences));
}

/// A post-norm causal language model with a free decoder, loss at every position.
void lm_step(benchmark::State& state,
             int width,
             int layers,
             int length,
             int sequences,
             int vocabulary,
             double dropout) {
  const TransformerShape shape{.vocabulary = vocabulary,
                               .outputs = vocabulary,
                               .length = length,
                               .width = width,
                               .layers = layers,
                               .mlp_width = width,
                               .embedding_scale = std::sqrt(static_cast<double>(width)),
                               .position = PositionCode::sinusoidal,
                               .mask = AttentionMask::causal,
                               .attention_bias = true,
                               .normalisation = Normalisation::post,
                               .dropout = dropout};
  const auto tokens = static_cast<std::size_t>(length * sequences);
  Batch batch{.tokens = random_tokens(tokens, vocabulary)};
  set_equal_lengths(batch, length);
  set_all_sites(batch);
  batch.targets = random_tokens(tokens, vocabulary);
  train(state, shape, batch, tokens);
}

void register_transformer(int width, int heads, int mlp) {
  constexpr int length = 20, colours = 20, layers = 3, sequences = 128;
  benchmark::RegisterBenchmark(
      fmt::format("transformer_step/L:{}/C:{}/D:{}/layers:{}/heads:{}/mlp:{}/B:{}",
                  length,
                  colours,
                  width,
                  layers,
                  heads,
                  mlp,
                  sequences)
          .c_str(),
      transformer_step,
      length,
      colours,
      width,
      layers,
      heads,
      mlp,
      sequences)
      ->Unit(benchmark::kMillisecond);
}

void register_lm(int dropout_percent) {
  constexpr int width = 64, layers = 1, length = 35, sequences = 20, vocabulary = 2000;
  constexpr double percent = 0.01;
  std::string name = fmt::format(
      "lm_step/D:{}/layers:{}/T:{}/B:{}/V:{}", width, layers, length, sequences, vocabulary);
  if (dropout_percent > 0) name += fmt::format("/dropout_percent:{}", dropout_percent);
  benchmark::RegisterBenchmark(name.c_str(),
                               lm_step,
                               width,
                               layers,
                               length,
                               sequences,
                               vocabulary,
                               percent * dropout_percent)
      ->Unit(benchmark::kMillisecond);
}

// NOLINTBEGIN(readability-magic-numbers): the sizes are the benchmarks' names
const bool registered = [] {
  register_transformer(128, 4, 512);
  register_transformer(20, 1, 80);
  register_lm(0);
  register_lm(20);
  return true;
}();
// NOLINTEND(readability-magic-numbers)

}  // namespace
