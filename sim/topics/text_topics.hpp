#pragma once
/// @file
/// @brief What a network of real text is measured on: documents that it reads and others, and the
/// words that name topics.

#include "attica/core/text/corpus.hpp"
#include "attica/sim/topics/lda.hpp"

namespace attica {

struct TextTopicsOptions {
  LdaOptions lda;
  double share = 0.6;      ///< of its topic, that a topic word has at least
  Eigen::Index most = 10;  ///< words of each topic
};

/// @brief A text with its topics.
struct TextTopics {
  TextCorpus corpus;
  std::vector<std::vector<std::int32_t>> training;
  std::vector<std::vector<std::int32_t>> held_out;  ///< every tenth document
  TopicWords topics;                                ///< found in the training documents
};

/// @brief Splits a text and finds its topics by latent Dirichlet allocation. Without a tenth
/// document all are held out as well.
/// @throws Error (input) naming `model.share` for fewer than two topics, `model.file` if no
/// held-out document has two words of one topic, or of two: attention is measured between such
TextTopics text_topics(TextCorpus corpus, const TextTopicsOptions& options, std::uint64_t seed);

}  // namespace attica
