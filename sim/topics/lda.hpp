#pragma once
/// @file
/// @brief Latent Dirichlet allocation by collapsed Gibbs sampling.
/// @source T. L. Griffiths, M. Steyvers, PNAS 101 (suppl. 1), 5228 (2004)

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "attica/core/random.hpp"

namespace attica {

/// @brief Documents as word numbers 0..words-1.
struct WordDocuments {
  std::vector<std::vector<std::int32_t>> documents;
  Eigen::Index words = 0;

  Eigen::Index tokens() const;
};

struct LdaOptions {
  Eigen::Index topics = 20;    ///< K
  double alpha = 0.1;          ///< of the documents' topic weights
  double beta = 0.01;          ///< of the topics' word weights
  std::int64_t sweeps = 200;   ///< over all tokens
  std::int64_t averaged = 50;  ///< the estimate averages over the last so many sweeps ...
  std::int64_t every = 10;     ///< ... taking every so many-th
  std::int64_t restarts = 1;   ///< keeps the chain of best final log_joint
};

/// @brief The state of a chain: a topic for every token, and the counts.
class LdaChain {
 public:
  /// @brief Topics uniformly at random.
  /// @throws Error (input) for options out of their domain, or words that are not 0..words-1
  LdaChain(const WordDocuments& corpus, const LdaOptions& options, RandomStream& stream);

  /// @brief Sets all assignments, for tests.
  void assign(const std::vector<std::vector<std::int32_t>>& topics);

  /// @brief Draws every token's topic once, in order.
  void sweep(RandomStream& stream);
  /// @brief p(z_i = k | all others), proportional to
  /// (n_dk + α)(n_kw + β)/(n_k + Wβ) with counts that leave token i out.
  Eigen::VectorXd conditional(std::size_t document, std::size_t position);
  /// @brief log p(words, topics), weights integrated out.
  double log_joint() const;
  /// @brief exp of minus the mean log probability of a token given the estimated weights of its
  /// document's topics and of the topics' words.
  double perplexity() const;
  /// @brief φ_kw = (n_kw + β)/(n_k + Wβ); @shape{K x words}
  Eigen::MatrixXd topics() const;

 private:
  void count(std::size_t document, std::int32_t word, std::int32_t topic, float by);

  const WordDocuments& corpus_;
  LdaOptions options_;
  std::vector<std::vector<std::int32_t>> assigned_;
  Eigen::ArrayXXf document_topic_;  ///< K x documents
  Eigen::ArrayXXf topic_word_;      ///< K x words
  Eigen::ArrayXf topic_;            ///< K
  Eigen::ArrayXf inverse_;          ///< 1/(n_k + Wβ)
};

/// @brief The estimate of the best of several chains.
struct LdaResult {
  Eigen::MatrixXd topics;  ///< φ, K x words, rows sum to 1
  double log_joint = 0;    ///< of the chain's end
};
/// @param address its `step` is replaced by the number of the restart
LdaResult fit_lda(const WordDocuments& corpus,
                  const LdaOptions& options,
                  const StreamAddress& address);

/// @brief Words that name a topic.
struct TopicWords {
  std::vector<std::int32_t> words;   ///< word numbers
  std::vector<std::int32_t> topics;  ///< the topic of each
};
/// @brief Of the words whose largest share φ_kw/Σ_j φ_jw is at least `share`, the `most` with the
/// largest φ of each topic; topics with fewer than two are dropped.
TopicWords topic_words(const Eigen::MatrixXd& topics, double share, Eigen::Index most);

}  // namespace attica
