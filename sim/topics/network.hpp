#pragma once
/// @file
/// @brief The one-layer transformer, reading documents as bags of tokens.
///
/// F(y) = W_dec W_V W_E A(.|y) + b_dec with A(k|y) proportional to c_k exp(scale · w_k·q_y), c the
/// shares of the shown tokens, w_k and q_y columns of W_K W_E and W_Q W_E: exactly the transformer
/// without positions and residual, at the cost of distinct instead of all tokens. One-hot tokens
/// have W_E = 1, and without a decoder W_dec = 1.

#include <Eigen/Core>
#include <cstdint>
#include <functional>

#include "attica/sim/networks/optimiser.hpp"
#include "attica/sim/networks/shape.hpp"
#include "attica/sim/networks/training.hpp"
#include "attica/sim/topics/documents.hpp"

namespace attica {

/// Starting values of W_K and W_Q.
enum class AttentionStart {
  zero,      ///< both 0: attention stays uniform
  identity,  ///< both ε I
  split,     ///< W_K = ε (I; 0), W_Q = ε (0; I)
  gaussian,  ///< entries N(0, ε²/d_a)
  uniform,   ///< entries uniform on (0, ε)
};

/// What turns the output of attention into one number a token.
enum class TopicDecoder {
  identity,  ///< itself: width = tokens
  tied,      ///< W_Eᵀ
  free,      ///< its own matrix W_dec
};

/// @brief The network's sizes and fixed choices.
struct TopicNetworkShape {
  Eigen::Index tokens = 0;  ///< D
  Eigen::Index width = 0;   ///< d, with a trained embedding W_E; 0: one-hot tokens, d = D
  Eigen::Index inner = 0;   ///< d_a, rows of W_K and W_Q; 0: uniform attention without them
  double scale = 1;         ///< of the scores
  TopicDecoder decoder = TopicDecoder::identity;
  bool bias = false;  ///< b_dec
  networks::Loss loss = networks::Loss::squared;
};

/// @brief Parameters W_V (d x d) and, where the shape has them, W_K and W_Q (d_a x d), W_E (d x D),
/// W_dec (D x d), b_dec; loss and gradient.
class TopicNetwork {
 public:
  /// @throws Error (input) for an identity decoder with width other than tokens
  explicit TopicNetwork(const TopicNetworkShape& shape);

  const TopicNetworkShape& shape() const { return shape_; }
  networks::Parameters<double>& parameters() { return parameters_; }
  const networks::Parameters<double>& parameters() const { return parameters_; }
  std::span<const double> gradient() const {
    return {gradient_.data(), static_cast<std::size_t>(gradient_.size())};
  }

  Eigen::MatrixXd value() const { return parameters_.matrix("W_V").map(); }
  void set_value(const Eigen::MatrixXd& value) { parameters_.matrix("W_V").map() = value; }
  /// The score matrix, row key, column query; 0 without attention.
  Eigen::MatrixXd scores() const;
  /// Gradient by the score matrix of the last loss_and_gradient.
  const Eigen::MatrixXd& score_gradient() const { return score_gradient_; }

  void start_attention(AttentionStart start, double epsilon, const StreamAddress& address);
  /// W_E and W_dec, where there are any: entries N(0, 1/d).
  void start_embedding(const StreamAddress& address);

  double loss(const TopicBatch& batch);
  /// @brief The loss at given scores.
  double loss(const TopicBatch& batch, const Eigen::MatrixXd& scores) {
    return forward(batch, &scores, false);
  }
  /// Frozen blocks get no gradient; that of the scores is computed if W_K or W_Q is trained.
  double loss_and_gradient(const TopicBatch& batch);
  /// @brief The same at given scores, with gradients by W_V and the scores.
  double loss_and_gradient(const TopicBatch& batch, const Eigen::MatrixXd& scores);

 private:
  double forward(const TopicBatch& batch, const Eigen::MatrixXd* scores, bool backward);
  void score_backward(const TopicBatch& batch);
  void chain(bool attention);
  /// The linear map from attention to outputs, W_dec W_V W_E.
  void set_map();
  networks::MatrixView<double> gradient_of(const char* name);
  bool trained(const char* name) const { return !parameters_.block(name).frozen; }

  TopicNetworkShape shape_;
  networks::Parameters<double> parameters_;
  Eigen::VectorXd gradient_;
  Eigen::MatrixXd map_, map_gradient_;
  // Columns are queries, or documents under uniform attention.
  Eigen::MatrixXd attention_, outputs_, upstream_, attention_gradient_, score_gradient_;
  Eigen::VectorXd weights_;
};

/// @brief How much the loss of a batch falls against the gradient, per length and |gradient|: 1, if
/// that is the gradient. A central difference of the loss alone.
double descent_slope(TopicNetwork& network, const TopicBatch& batch);

/// The inner dimension a start needs, or has if nothing else is said: the width, twice that for
/// `split`, 0 for `zero`.
Eigen::Index inner_dimension(AttentionStart start, Eigen::Index width);

/// @brief Average attention over pairs of word positions (same word, other word of the topic, other
/// topic), times the number of positions, in documents with these shares of shown tokens.
Eigen::Vector3d measured_attention(const TopicVocabulary& vocabulary,
                                   const Eigen::MatrixXd& scores,
                                   const Eigen::MatrixXd& shares);

/// @brief A training run.
struct TopicTraining {
  networks::OptimiserOptions optimiser;
  std::vector<std::uint64_t> recorded;
  double value_penalty = 0;      ///< λ of + λ (|W_V|² + |W_E|² + |W_dec|²)
  double attention_penalty = 0;  ///< λ of + λ (|W_K|² + |W_Q|²)
  bool train_value = true;
  bool train_attention = true;
};

/// @brief Trains on the batch of every step; calls `observe` at the recorded steps.
networks::TrainingResult train_topics(
    TopicNetwork& network,
    const TopicTraining& training,
    const std::function<const TopicBatch&(std::uint64_t step)>& batch,
    const std::function<void(std::uint64_t step, const TopicNetwork&)>& observe,
    const std::function<bool()>& stop = {});

}  // namespace attica
