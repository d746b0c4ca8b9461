#pragma once
/// @file
/// @brief What a network is trained on in one step.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attica/sim/networks/shape.hpp"

namespace attica::networks {

/// @brief Sequences, one behind the other, and the sites where the loss is taken.
///
/// Sequence b holds the rows offsets[b] .. offsets[b+1]-1 of `tokens`; lengths may differ and
/// nothing is padded. loss = sum_s weights[s] l(logits at row sites[s], targets[s]).
struct Batch {
  std::vector<std::int32_t> tokens = {};  ///< as shown to the network (masked, corrupted)
  std::vector<std::int32_t> offsets =
      {};  ///< sequences + 1 entries, the first 0, the last tokens.size()
  std::vector<std::int32_t> sites = {};    ///< rows, strictly ascending
  std::vector<std::int32_t> targets = {};  ///< one class per site
  std::vector<double> weights = {};        ///< one per site; empty: 1 / number of sites each

  std::size_t sequences() const { return offsets.empty() ? 0 : offsets.size() - 1; }
};

/// @brief Sets `offsets` for tokens.size() / length sequences of equal length.
void set_equal_lengths(Batch& batch, int length);

/// @brief Sets `sites` to all rows, e.g. to look at attention from every query.
void set_all_sites(Batch& batch);

/// @brief The sequences first..end-1 of a batch, each with its sites, targets and weights; where
/// the batch has no weights, its parts have none either: 1 / number of their own sites each.
Batch part_of(const Batch& batch, std::size_t first, std::size_t end);

/// @brief Where parts of a batch end that have about equally many sequences and about 800 rows at
/// most, whose activations stay in the cache; the last end is the number of sequences.
std::vector<std::size_t> parts(const Batch& batch);

/// @brief Throws Error (input) naming the field if the batch does not fit the shape.
void validate(const Batch& batch, const TransformerShape& shape);

}  // namespace attica::networks
