#pragma once
/// @file
/// @brief All sequences of a small latent tree with their law, as a transformer reads them.

#include <Eigen/Core>
#include <memory>

#include "attica/sim/joma/deep.hpp"
#include "attica/sim/networks/population.hpp"

namespace attica {

/// @brief What the fresh samples of tree_task are drawn from.
class TreePopulation {
 public:
  /// @param sampler of the tree
  /// @param law P(leaves, k), leaf l being bit l of a sequence's number;
  ///            @shape{2^leaves x classes}
  TreePopulation(const LatentTreeSampler& sampler, Eigen::MatrixXd law);

  /// @brief Every sequence with each of its classes, weighted by their law, as a run reads them.
  const networks::Batch& labelled() const { return labelled_; }
  /// @brief Mean cross-entropy of a network, nats.
  double loss(networks::Transformer<float>& network) const;
  /// @brief Attention entropy of a layer in nats: mean over sequences, heads and positions.
  template <class T>
  double attention_entropy(networks::Transformer<T>& network, int layer) const;
  /// @brief The model of the training theory: a sample is a sequence with its class.
  std::unique_ptr<networks::TransformerPopulation<double>> model(
      const networks::TransformerShape& shape) const;

 private:
  Eigen::MatrixXd law_;
  networks::Batch inputs_;      ///< every sequence once, read at its last position
  networks::Batch everywhere_;  ///< the same, read at all positions
  networks::Batch labelled_;
};

}  // namespace attica
