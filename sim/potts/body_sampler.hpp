#pragma once
/// @file
/// @brief Gibbs sampling of the p-body Potts model: independent chains, sites in order.

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "attica/core/potts/body_model.hpp"
#include "attica/core/random.hpp"

namespace attica {

/// @brief K chains. Every site is drawn from its conditional, O(edges of the site times C) each.
/// Results depend on the address and the sweeps made, not on how they are split.
class BodySampler {
 public:
  /// @brief Starts every chain from independent uniform colours. The model must outlive the
  /// sampler.
  /// @param chains  K >= 1
  /// @param address its `step` is replaced by the chain's number
  /// @throws Error (input, `chains`)
  BodySampler(const BodyModel& model, Eigen::Index chains, const StreamAddress& address);

  void sweep(std::int64_t count);

  /// @brief One state a row, in the order of the chains.
  const Sequences& states() const { return states_; }
  /// @brief beta times the energy of these states.
  Eigen::VectorXd reduced_energies() const;

 private:
  const BodyModel& model_;
  Sequences states_;
  std::vector<RandomStream> streams_;
};

}  // namespace attica
