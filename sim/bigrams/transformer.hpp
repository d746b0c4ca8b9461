#pragma once
/// @file
/// @brief A whole transformer layer on sparse contextual bigrams: embeddings of tokens and
/// positions, softmax attention, an MLP, with or without LayerNorm, trained online on
/// cross-entropy.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <vector>

#include "attica/sim/bigrams/sampler.hpp"
#include "attica/sim/networks/optimiser.hpp"
#include "attica/sim/networks/training.hpp"

namespace attica {

/// @brief The network and how it is trained.
struct BigramTransformerTask {
  int width = 32;           ///< D, of the stream
  int mlp_width = 64;       ///< hidden units
  int heads = 1;            ///< divides the width
  bool layer_norm = false;  ///< before attention and before the MLP
  networks::OptimiserOptions optimiser = {};
  std::int64_t batch = 64;                ///< fresh sequences a step
  std::vector<std::uint64_t> steps = {};  ///< recorded; the last one is the length
  std::int64_t test_sequences = 10000;    ///< fresh ones, the same at every recorded step
};

/// Test sequences that a network is shown at once.
inline constexpr std::size_t kBigramTestPiece = 1000;

/// @brief What is seen of a network at a recorded step, means over the test sequences.
struct BigramTransformerRecord {
  std::uint64_t step = 0;
  double loss = 0;         ///< cross-entropy of the tokens that follow, in nats
  double excess_loss = 0;  ///< divergence of the network's law from the true one, >= 0
  double bayes_loss = 0;   ///< cross-entropy of the true law on the same tokens
  double overlap = 0;  ///< attention of the last token at the true positions, of the head with most
  double unigram_loss = 0;  ///< cross-entropy of the stationary law on the same tokens
};

/// @brief Trains a network on x_1..x_T, x_{T+1} to predict the next token, loss at the last
/// position.
///
/// Tables of tokens and positions start normal with variance 1/D, matrices with variance 1/inputs,
/// the decoder and biases at 0, so that a network begins at ln N.
/// @param address of starts (initialisation), batches (minibatch, by step) and tests (test_data)
/// @param file keeps the state of a long run; empty: none
networks::TrainingResult train_bigram_transformer(
    const BigramModel& model,
    const BigramTransformerTask& task,
    const StreamAddress& address,
    const std::filesystem::path& file,
    const std::stop_token& stop,
    const std::function<void(const BigramTransformerRecord&)>& look);

}  // namespace attica
