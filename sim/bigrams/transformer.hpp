#pragma once
/// @file
/// @brief A whole transformer layer on sparse contextual bigrams: embeddings of tokens and
/// positions, softmax attention, an MLP, with or without LayerNorm, trained online on
/// cross-entropy.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "attica/sim/bigrams/sampler.hpp"
#include "attica/sim/networks/optimiser.hpp"
#include "attica/sim/networks/population.hpp"
#include "attica/sim/networks/training.hpp"

namespace attica {

/// @brief The network and how it is trained.
struct BigramTransformerTask {
  int width = 32;           ///< D, of the stream
  int mlp_width = 64;       ///< hidden units
  int heads = 1;            ///< divides the width
  bool layer_norm = false;  ///< before attention and before the MLP
  networks::Activation activation = networks::Activation::relu;
  double decoder = 0;  ///< deviation of the decoder's start, over 1/sqrt(D)
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

/// @brief All sequences x_1..x_T, x_{T+1} of a model, with the next token of each: what the
/// training theory takes in place of a training's batches.
class BigramPopulation {
 public:
  static constexpr double kMostSequences = 2e4;  ///< N^(T+1)

  /// @throws Error (input) naming `model.context` if there are more sequences
  explicit BigramPopulation(const BigramModel& model);

  /// @brief Samples are pairs of a sequence and the token that follows.
  std::unique_ptr<networks::TransformerPopulation<double>> population(
      const networks::TransformerShape& shape) const;
  /// @brief The samples in one batch.
  networks::Batch all_samples() const;
  /// @brief Cross-entropy of a network, nats.
  double loss(networks::Transformer<float>& network) const;
  /// @brief Attention of the last token at the true positions, mean over sequences and heads, in a
  /// network of one layer.
  template <class T>
  double attention(networks::Transformer<T>& network) const;

 private:
  const BigramModel& model_;
  networks::Batch inputs_;
  Eigen::VectorXd shares_;  ///< of the inputs
  Eigen::MatrixXd laws_;    ///< of the next token, a column an input
};

/// Number of sequences x_1..x_T, x_{T+1}.
double bigram_sequences(const BigramModel& model);

networks::TransformerShape bigram_transformer_shape(const BigramModel& model,
                                                    const BigramTransformerTask& task);

/// @brief A network before its training. Tables of tokens and positions are normal with variance
/// 1/D, matrices with variance 1/inputs, the decoder and biases 0, so that a network begins at ln
/// N.
/// @param address of the random numbers; its id is replaced
networks::Transformer<float> bigram_transformer_start(const BigramModel& model,
                                                      const BigramTransformerTask& task,
                                                      const StreamAddress& address);

/// @brief Trains a network on x_1..x_T, x_{T+1} to predict the next token, loss at the last
/// position.
/// @param network where training starts
/// @param address of batches (minibatch, by step)
/// @param file keeps the state of a long run; empty: none
networks::TrainingResult train_bigram_transformer(networks::Transformer<float>& network,
                                                  const BigramModel& model,
                                                  const BigramTransformerTask& task,
                                                  const StreamAddress& address,
                                                  const std::filesystem::path& file,
                                                  const std::stop_token& stop,
                                                  const networks::KeptRecords& records);

/// @brief The same from a start of its own, measured on fresh sequences.
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
