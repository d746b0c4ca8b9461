#pragma once
/// @file
/// @brief What a network is trained on in one step, and the order in which stored samples are
/// visited.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "attica/core/random.hpp"
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

/// @brief The order in which M stored samples are visited, batch by batch: a fresh random
/// permutation every epoch.
///
/// The indices of a step are a function of the address and the step alone, so training can resume
/// anywhere. An epoch has floor(M / B) batches; the M mod B samples left over differ from epoch to
/// epoch.
class StoredOrder {
 public:
  /// @param samples M >= 1
  /// @param batch   B, 1..M
  /// @param address its `step` is replaced by the epoch
  StoredOrder(std::size_t samples, std::size_t batch, const StreamAddress& address);

  std::uint64_t steps_per_epoch() const { return permutation_.size() / batch_; }
  /// @brief The B sample indices of a step; valid until the next call.
  std::span<const std::uint32_t> indices(std::uint64_t step);

 private:
  std::size_t batch_;
  StreamAddress address_;
  std::uint64_t epoch_;
  std::vector<std::uint32_t> permutation_;
};

}  // namespace attica::networks
