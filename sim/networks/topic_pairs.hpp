#pragma once
/// @file
/// @brief Do pairs of words of one topic differ from other pairs? Permutation tests, and controls
/// that hold the words' co-occurrence fixed.

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "attica/core/random.hpp"

namespace attica {

/// @brief A number for every ordered pair of words, with a weight; 0 leaves the pair out. The
/// diagonal is not looked at.
struct PairValues {
  Eigen::MatrixXd values;
  Eigen::MatrixXd weights;
};

/// @brief Weighted mean over pairs of one topic against pairs of two topics.
struct TopicContrast {
  double same = 0;
  double other = 0;
  /// One-sided p of same - other under random exchange of the words' topics, class sizes kept:
  /// (1 + permutations with at least that difference)/(1 + permutations).
  double p = 1;
};
TopicContrast topic_contrast(const PairValues& values,
                             const std::vector<std::int32_t>& topics,
                             std::int64_t permutations,
                             RandomStream& stream);

/// @brief The pairs with weight, now all equal, beside those that co-occur most, in documents.
struct CooccurrenceControl {
  double top = 0;           ///< mean over as many pairs as share a topic, of highest co-occurrence
  double top_other = 0;     ///< mean over those of them that do not share a topic
  double overlap = 0;       ///< share of them that do
  double matched = 0;       ///< same - other within tenths of log(1 + co-occurrence), weighted
  double coefficient = 0;   ///< of sharing a topic, least squares beside log(1 + co-occurrence)
  double cooccurrence = 0;  ///< that of log(1 + co-occurrence)
};
/// @param cooccurrence symmetric; number of documents that contain both words
CooccurrenceControl cooccurrence_control(const PairValues& values,
                                         const std::vector<std::int32_t>& topics,
                                         const Eigen::MatrixXd& cooccurrence);

/// @brief Number of documents that contain both of two words of the list; diagonal 0.
Eigen::MatrixXd document_cooccurrence(const std::vector<std::vector<std::int32_t>>& documents,
                                      const std::vector<std::int32_t>& words);

}  // namespace attica
