#pragma once
/// @file
/// @brief The one-layer transformer on one-hot tokens, reading documents as bags of tokens.
///
/// F(y) = W_V A(.|y) with A(k|y) proportional to c_k exp(scale · w_k·q_y), c the shares of the
/// shown tokens, w_k and q_y columns of W_K and W_Q: exactly the transformer without positions,
/// residual and biases, at the cost of distinct instead of all tokens.

#include <Eigen/Core>
#include <cstdint>
#include <functional>

#include "attica/sim/networks/optimiser.hpp"
#include "attica/sim/networks/shape.hpp"
#include "attica/sim/networks/training.hpp"
#include "attica/sim/topic_documents.hpp"

namespace attica {

/// Starting values of W_K and W_Q.
enum class AttentionStart {
  zero,      ///< both 0: attention stays uniform
  identity,  ///< both ε I
  split,     ///< W_K = ε (I; 0), W_Q = ε (0; I)
  gaussian,  ///< entries N(0, ε²/d_a)
  uniform,   ///< entries uniform on (0, ε)
};

/// @brief The network's sizes and fixed choices.
struct TopicNetworkShape {
  Eigen::Index tokens = 0;  ///< D
  Eigen::Index inner = 0;   ///< d_a, rows of W_K and W_Q; 0: uniform attention without them
  double scale = 1;         ///< of the scores
  networks::Loss loss = networks::Loss::squared;
};

/// @brief Parameters W_V (D x D) and, with attention, W_K and W_Q (d_a x D); loss and gradient.
class TopicNetwork {
 public:
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

  TopicNetworkShape shape_;
  networks::Parameters<double> parameters_;
  Eigen::VectorXd gradient_;
  // Columns are queries, or documents under uniform attention.
  Eigen::MatrixXd attention_, outputs_, upstream_, attention_gradient_, score_gradient_;
  Eigen::VectorXd weights_;
};

/// The inner dimension a start needs: D, 2D for `split`, 0 for `zero`.
Eigen::Index inner_dimension(AttentionStart start, Eigen::Index tokens);

/// @brief Average attention over pairs of word positions (same word, other word of the topic, other
/// topic), times the number of positions, in documents with these shares of shown tokens.
Eigen::Vector3d measured_attention(const TopicVocabulary& vocabulary,
                                   const Eigen::MatrixXd& scores,
                                   const Eigen::MatrixXd& shares);

/// @brief A training run.
struct TopicTraining {
  networks::OptimiserOptions optimiser;
  std::vector<std::uint64_t> recorded;
  double value_penalty = 0;      ///< λ of + λ |W_V|²
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
