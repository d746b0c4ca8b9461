#pragma once
/// @file
/// @brief The transformer that studies of initialisation configure, for both sides.

#include "attica/sim/init/blocks.hpp"
#include "attica/studies/kit.hpp"
#include "attica/theory/init/propagation.hpp"

namespace attica {

/// @brief What both sides are told, at one β. @throws Error (input) for heads that do not divide d
InitialTransformer initial_transformer_of(const Configuration& c, double beta);
BlockNetwork block_network_of(const Configuration& c, double beta);

/// @brief An experiment on networks, one point for every β.
class NetworkExperiment : public PointwiseExperiment {
 public:
  explicit NetworkExperiment(const Configuration& c);
  void require_simulable() const override;
  std::size_t points() const override { return betas_.size(); }

 protected:
  double flops(std::size_t point) const override;
  int blocks() const { return blocks_; }
  const std::vector<double>& betas() const { return betas_; }
  const InitialTransformer& theory_at(std::size_t point) const { return theory_[point]; }
  const BlockNetwork& network_at(std::size_t point) const { return networks_[point]; }

 private:
  std::vector<double> betas_;
  std::vector<InitialTransformer> theory_;
  std::vector<BlockNetwork> networks_;
  int blocks_;
};

}  // namespace attica
