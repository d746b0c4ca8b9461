#pragma once
/// @file
/// @brief Batches in which sequences that repeat are evaluated once.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>

#include "attica/sim/networks/batch.hpp"

namespace attica::networks {

/// @brief Fills a batch with sequences that are read at their last position. One that occurs again
/// with the same target adds to the weight of the first: the same loss and gradient for less work.
class DistinctSequences {
 public:
  /// @param batch cleared; outlives this
  /// @param share weight of an occurrence
  DistinctSequences(Batch& batch, double share);
  /// @param tokens at least one
  void add(std::span<const std::int32_t> tokens, std::int32_t target);

 private:
  Batch& batch_;
  double share_;
  std::string key_;  ///< bytes of tokens and target
  std::unordered_map<std::string, std::size_t> places_;
};

}  // namespace attica::networks
