#pragma once
/// @file
/// @brief A one-layer transformer trained by masked language modelling on documents of words, and
/// what its embeddings and attention say about topic words; and a corpus with known topics.

#include <functional>
#include <memory>
#include <string>

#include "attica/sim/networks/topic_pairs.hpp"
#include "attica/sim/networks/training.hpp"
#include "attica/sim/networks/transformer.hpp"
#include "attica/sim/topics/lda.hpp"

namespace attica {

struct TextTraining {
  int width = 64;
  int layers = 1;    ///< more than one have residual connections
  int heads = 1;     ///< of each layer
  bool tied = true;  ///< the decoder is the embedding
  double learning_rate = 3e-3;
  std::int64_t batch = 16;
  std::int64_t steps = 1000;
  double mask_rate = 0.15;
  double keep_rate = 0.1;
  double random_rate = 0.1;
};

/// @brief The network: token 0 is the mask, word w is token w + 1. No positions; no
/// residual in a single layer.
networks::TransformerShape text_shape(Eigen::Index words, const TextTraining& training);

/// @brief A fresh network, W_E ~ N(0, 0.1²), other matrices N(0, 1/width).
std::unique_ptr<networks::Transformer<float>> text_network(Eigen::Index words,
                                                           const TextTraining& training,
                                                           const StreamAddress& address);

/// @brief Trains by Adam on random documents, masked afresh in every step.
networks::TrainingResult train_text(networks::Transformer<float>& network,
                                    const std::vector<std::vector<std::int32_t>>& documents,
                                    const TextTraining& training,
                                    const StreamAddress& address,
                                    const std::function<bool()>& stop);

/// @brief Cosines and inner products of the embeddings of the listed words.
PairValues embedding_cosines(const networks::Transformer<float>& network,
                             const std::vector<std::int32_t>& words);
PairValues embedding_products(const networks::Transformer<float>& network,
                              const std::vector<std::int32_t>& words);

/// @brief Attention between positions that hold listed words, times the number of positions, on
/// documents as they are. Row query, column key.
struct TextAttention {
  Eigen::MatrixXd sum;    ///< over pairs of positions
  Eigen::MatrixXd count;  ///< of them

  /// The mean of each pair of words, all that were seen weighing the same.
  PairValues by_words() const;
  /// The same, weighing as often as they were seen.
  PairValues by_positions() const;
  /// Mean over pairs of different positions that hold equal words.
  double same_word() const;
};
/// @brief One for each head, those of the first layer first.
std::vector<TextAttention> text_attention(networks::Transformer<float>& network,
                                          const std::vector<std::vector<std::int32_t>>& documents,
                                          const std::vector<std::int32_t>& words);
/// The mean over heads.
TextAttention mean_attention(const std::vector<TextAttention>& heads);

/// @brief A text of documents drawn from `topics` topics with Dirichlet weights; each word's name
/// begins with the letters of its topic. Words of a topic are equally frequent.
std::string planted_text(Eigen::Index topics,
                         Eigen::Index words_per_topic,
                         Eigen::Index documents,
                         Eigen::Index length,
                         double concentration,
                         RandomStream& stream);
/// The topic that a planted word names.
std::string planted_topic(const std::string& word);

/// @brief Share of topic words whose planted topic is the most frequent one of their topic.
double topic_purity(const TopicWords& chosen, const std::vector<std::string>& vocabulary);

}  // namespace attica
