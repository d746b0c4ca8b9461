/// All sequences of a bigram model as a transformer reads them: against the law's entropies and the
/// batches of a training.

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "attica/core/bigrams/instances.hpp"
#include "attica/sim/bigrams/transformer.hpp"
#include "attica/theory/bigrams/estimators.hpp"

namespace bigram_population_test {

using namespace attica;

TEST_CASE("BigramPopulation: entropies are those of the law, losses those of the batch of all",
          "[studies][bigrams]") {
  RandomStream stream({.seed = 5, .id = StreamId::model});
  const BigramModel model(
      cyclic_chain(3, 0.7, 1.5), 3, 2, random_attention(3, 3, 2, AttentionWeights::random, stream));
  const BigramTransformerTask task{.width = 6, .mlp_width = 5, .heads = 2, .layer_norm = true};
  networks::Transformer<float> network = bigram_transformer_start(model, task, {.seed = 3});
  const BigramPopulation sequences(model);
  const auto population = sequences.population(bigram_transformer_shape(model, task));
  // Four independent tokens, and the next one.
  const Eigen::ArrayXd p = population->weights();
  CHECK(-(p * p.log()).sum() ==
        Approx(4 * unigram_log_loss(model) + bayes_log_loss(model)).epsilon(1e-12));

  // A network that looks at nothing and knows the frequencies.
  auto bias = network.parameters().matrix("b_dec").map();
  for (Eigen::Index k = 0; k < 3; ++k) {
    bias(k, 0) = static_cast<float>(std::log(model.stationary()[k]));
  }
  CHECK(sequences.loss(network) == Approx(unigram_log_loss(model)).epsilon(1e-6));
  // Without queries attention is the same everywhere.
  network.parameters().initialise("W_Q", {.scale = 0}, {});
  CHECK(sequences.attention(network) == Approx(2.0 / 4).epsilon(1e-6));

  network.parameters().initialise("W_dec", {.scale = 1}, {.seed = 4});
  network.parameters().initialise("W_Q", {.scale = 1}, {.seed = 4});
  const double loss = sequences.loss(network);
  CHECK(network.loss(sequences.all_samples()) == Approx(loss).epsilon(1e-5));
  Eigen::VectorXd losses;
  population->pass(networks::trained_values(network.parameters()), losses);
  CHECK(population->weights().dot(losses) == Approx(loss).epsilon(1e-5));
}

TEST_CASE("BigramPopulation: its law is that of the batches", "[studies][bigrams]") {
  RandomStream stream({.seed = 5, .id = StreamId::model});
  const BigramModel model(
      cyclic_chain(3, 0.7, 2.5), 3, 2, random_attention(3, 3, 2, AttentionWeights::random, stream));
  // One large step from a decoder at 0: its bias moves by the mean of what a batch shows.
  BigramTransformerTask task{.width = 4, .mlp_width = 4, .batch = 40000, .steps = {1}};
  task.optimiser = {.kind = networks::OptimiserKind::sgd, .learning_rate = 1};
  networks::Transformer<float> network = bigram_transformer_start(model, task, {.seed = 3});
  const BigramPopulation sequences(model);
  networks::Transformer<float> whole = bigram_transformer_start(model, task, {.seed = 3});
  whole.loss_and_gradient(sequences.all_samples());
  double largest = 0;
  const auto end = train_bigram_transformer(
      network,
      model,
      task,
      {.seed = 6},
      {},
      {},
      {.measure =
           [&](std::uint64_t) {
             const networks::Transformer<float> start =
                 bigram_transformer_start(model, task, {.seed = 3});
             for (std::size_t k = 0; k < whole.gradient().size(); ++k) {
               const double moved =
                   start.parameters().values()[k] - network.parameters().values()[k];
               largest = std::max(largest, std::abs(moved - whole.gradient()[k]));
             }
             return std::vector<double>{};
           },
       .tell = [](std::uint64_t, const std::vector<double>&) {}});
  CHECK(end.status == networks::TrainingStatus::finished);
  CHECK(largest < 0.02);  // four standard deviations of a number of order 1
}

}  // namespace bigram_population_test
