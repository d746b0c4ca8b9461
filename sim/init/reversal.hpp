#pragma once
/// @file
/// @brief Training of the transformers of blocks.hpp on a task that every token must be moved for:
/// to return a sequence of letters in reverse order.

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <optional>

#include "attica/core/random.hpp"
#include "attica/sim/init/blocks.hpp"

namespace attica {

/// What is trained, and how: Adam on fresh sequences of letters, uniform and independent.
///
/// Blocks are those of `network` with LayerNorm: as its scale is no matter, skip strengths a and m
/// are W_V/a and W_2/m. Letters and positions have normal vectors, which share a direction: two
/// tokens overlap by p on average, and by (1 + p)/2 where letters are equal. The decoder starts
/// small.
struct ReversalTask {
  BlockNetwork network;  ///< T = length of a sequence
  int letters = 16;
  Eigen::Index batch = 32;  ///< sequences of a step
  double eta = 0.001;
  std::uint64_t length = 800;  ///< steps
};

/// What is left of the loss of guessing, ln(letters), on fresh sequences.
struct ReversalRecord {
  double distance = 0;   ///< 1 - mean cosine of a sequence's tokens after the last block, at step 0
  double left_half = 0;  ///< at half the steps
  double left = 0;       ///< at the end
};

/// @brief One training; none if it was asked to stop, or diverged.
std::optional<ReversalRecord> train_reversal(const ReversalTask& task,
                                             StreamAddress address,
                                             const std::function<bool()>& stop = {});

}  // namespace attica
