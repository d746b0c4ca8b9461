#pragma once
/// @file
/// @brief The transformers that studies of initialisation configure, for both sides.

#include "attica/sim/init/blocks.hpp"
#include "attica/studies/kit.hpp"
#include "attica/theory/init/propagation.hpp"

namespace attica {

/// @brief An experiment on networks, one point for every β.
class NetworkExperiment : public PointwiseExperiment {
 public:
  /// @throws Error (input) for heads that do not divide d, and for a half block that leaves nothing
  explicit NetworkExperiment(const Configuration& c);
  void require_simulable() const override;
  std::size_t points() const override { return theory_.size(); }

 protected:
  double flops(std::size_t point) const override;
  int blocks() const { return networks_.front().blocks; }
  Point at(std::size_t point) const { return {{"beta", theory_[point].beta}}; }
  const InitialTransformer& theory_at(std::size_t point) const { return theory_[point]; }
  const BlockNetwork& network_at(std::size_t point) const { return networks_[point]; }

 private:
  std::vector<InitialTransformer> theory_;
  std::vector<BlockNetwork> networks_;
};

}  // namespace attica
