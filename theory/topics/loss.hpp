#pragma once
/// @file
/// @brief The population loss of the one-layer network on infinite documents, as a function of
/// twelve numbers, and what follows: optima, landscapes of attention, average attention.
///
/// The network shows F = W_V A(.|y) at a position that shows token y, A being the column softmax of
/// a score matrix (row key, column query) over the shown tokens. With invariant W_V and scores the
/// loss over documents of the subset prior is a sum over three classes of queries: [MASK], a word
/// of the document's topics, a word outside them.
/// @source Y. Li, Y. Li, A. Risteski, ICML 2023, arXiv:2303.04245, Theorem 3; the reduction is ours

#include "attica/core/topics/model.hpp"

namespace attica {

/// Derivatives by the six coordinates of each matrix (not divided by the sizes of the classes).
struct ReducedGradient {
  Commutant value = Commutant::Zero();
  Commutant score = Commutant::Zero();
};

/// @brief The population loss at W_V and score matrix. With `own` = 1/N every key's weight is
/// multiplied by 1 - own and the query's own token gets `own` more: about half of the O(1/N) bias
/// of finite documents.
/// @throws Error (input) unless the model has infinite documents of the subset prior
double reduced_loss(const TopicModel& model,
                    TopicLoss loss,
                    const Commutant& value,
                    const Commutant& score,
                    ReducedGradient* gradient = nullptr,
                    double own = 0);

/// @brief Mean loss of documents of N tokens, averaged over the selected ones of each, above that
/// of infinite documents, to order 1/N: the query's own token, the tokens that are selected beside
/// it, and mean and variance of attention over N - 1 independent keys.
/// @param length N >= 1
/// @throws Error (input) as reduced_loss, or naming `length`
/// @source ours
double length_gap(const TopicModel& model,
                  TopicLoss loss,
                  const Commutant& value,
                  const Commutant& score,
                  double length);

/// @brief Throws Error (input) naming `prior` or `length` unless the population theory applies:
/// infinite documents of the subset prior.
void require_population(const TopicModel& model);

/// @brief Least squared loss of any predictor that knows the topic set and the shown token.
double bayes_floor(const TopicModel& model);

/// @brief The minimiser of cross-entropy + λ |W|² with uniform attention.
/// @throws Error (input) unless λ > 0 (there is none without penalty), (numerical) if the search
/// does not converge
Commutant cross_entropy_optimum(const TopicModel& model, double lambda);

/// @brief The minimiser under uniform attention, of either loss + λ |W|²: where the first stage
/// ends.
Commutant first_stage_optimum(const TopicModel& model, TopicLoss loss, double lambda);

/// @brief Attention weights of a word query relative to words of other topics: e to the difference
/// of scores.
struct RelativeAttention {
  double same_word = 1;   ///< a
  double same_topic = 1;  ///< s, other words of the topic
  double mask = 1;        ///< m, of the mask as a key
  double mask_query = 1;  ///< m', of the mask as key of a mask query, relative to words
};
/// The score matrix with these weights.
Commutant scores(const RelativeAttention& relative);
RelativeAttention relative_attention(const Commutant& score);
/// ω = (a + (v-1) s)/v, the average weight of the own topic.
double topic_attention(const TopicModel& model, const RelativeAttention& relative);

/// @brief W_V of Theorem 3: c/v on the blocks of topics, or c on the diagonal.
Commutant block_value(const TopicModel& model, double c);
Commutant diagonal_value(double c);

/// @brief Where attention minimises the loss at fixed W_V.
struct AttentionOptimum {
  RelativeAttention relative;
  double omega = 1;
  double loss = 0;
  bool at_edge = false;  ///< a weight ran to the end of its range, e^-20 or e^20
};
/// @brief The minimum over a = s (W_V with d = s depends on ω alone) or over both weights.
AttentionOptimum attention_optimum(const TopicModel& model, TopicLoss loss, const Commutant& value);

/// @brief Attention averaged over pairs of word positions, times the number of positions; 1 where
/// attention is uniform. NaN for an empty class.
struct AverageAttention {
  double same_word = 1;
  double same_topic = 1;
  double other_topic = 1;
};
AverageAttention average_attention(const TopicModel& model, const RelativeAttention& relative);

}  // namespace attica
