#pragma once
/// @file
/// @brief Counter-based random streams: Philox4x64-10 (Salmon et al. 2011) with our own transforms.
///
/// A stream is addressed, not seeded: key = (master seed, stream id), counter = (draw, step,
/// replicate, point). Any stream can be opened at any time by any thread and gives the same
/// numbers, so results do not depend on the order of the work. The transforms to uniform and normal
/// numbers are ours because those of the standard library differ between implementations.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "attica/core/stream_ids.hpp"

namespace attica {

/// Which stream: all fields are free 64-bit numbers.
struct StreamAddress {
  std::uint64_t seed = 0;  ///< master seed of the run
  StreamId id = StreamId::data;
  std::uint64_t point = 0;      ///< index of the sweep point
  std::uint64_t replicate = 0;  ///< index of the replicate
  std::uint64_t step = 0;       ///< training step, or 0
};

/// @brief A sequence of random numbers. Values drawn depend only on the address and on the calls
/// made before.
///
/// 64-bit words come in the order of the counter's draw field, four words a draw. `uniform` and
/// `below` use one word (below: more in rare rejections); normals come in batches of 32 from 32
/// words (Box-Muller pairs), so `normal()` called n times equals `fill_normal` of n values.
class RandomStream {
 public:
  explicit RandomStream(const StreamAddress& address);

  /// @brief The next 64 random bits.
  std::uint64_t bits();
  /// @brief Uniform on (0, 1): (k + 1/2) 2^-53 with k uniform on 0..2^53-1; never 0, never 1.
  double uniform();
  /// @brief Standard normal.
  double normal();
  /// @brief Uniform integer on 0..n-1 without bias (Lemire 2019, arXiv:1805.10941).
  /// @param n number of values, n >= 1
  std::uint64_t below(std::uint64_t n);

  /// @brief out[i] = bits()
  void fill_bits(std::span<std::uint64_t> out);
  /// @brief out[i] = uniform()
  void fill_uniform(std::span<double> out);
  /// @brief out[i] = normal()
  void fill_normal(std::span<double> out);
  /// @brief Single-precision normals: the double ones, rounded.
  void fill_normal(std::span<float> out);

 private:
  static constexpr std::size_t kBatch = 32;
  void refill_words();
  void refill_normals();

  std::array<std::uint64_t, 2> key_;
  std::array<std::uint64_t, 4> counter_;
  std::array<std::uint64_t, kBatch> words_{};
  alignas(64) std::array<double, kBatch> normals_{};
  std::size_t next_word_ = kBatch;
  std::size_t next_normal_ = kBatch;
};

/// @brief Many random bits at a time, for inner loops in which a word of RandomStream is too dear:
/// Philox4x32-10 on 32-bit words in vector lanes.
///
/// Two words of the stream are its key and the upper half of its counter; the lower half runs. Out
/// of every eight blocks come first their lower 64 bits, then their upper ones.
class BulkBits {
 public:
  explicit BulkBits(RandomStream& stream);
  /// @param out a multiple of 16 words
  void fill(std::span<std::uint64_t> out);

 private:
  std::uint64_t key_;
  std::uint64_t stream_;  ///< upper half of the counter
  std::uint64_t block_ = 0;
};

/// @brief Many independent bits, each 1 with the same probability, for inner loops.
///
/// Bit s of a word: whether a random number is below the probability. Their binary digits are
/// compared from the front, one digit of 64 numbers to a word, so that eight words of digits decide
/// nearly all of them; the few others take a word of the stream each.
class BulkBernoulli {
 public:
  static constexpr std::size_t kWords = 8;  ///< drawn together
  using Words = std::array<std::uint64_t, kWords>;

  /// @param probability from 0 to 1, taken in units of 2^-64
  BulkBernoulli(RandomStream& stream, double probability);
  Words draw();

 private:
  BulkBits bits_;
  RandomStream* stream_;
  std::uint64_t probability_;
  bool certain_;
};

/// @brief One Philox4x64-10 block, for known-answer tests.
std::array<std::uint64_t, 4> philox_block(const std::array<std::uint64_t, 4>& counter,
                                          const std::array<std::uint64_t, 2>& key);

}  // namespace attica
