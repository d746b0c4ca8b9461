#include "attica/core/random.hpp"

#include <Random123/philox.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include <Eigen/Core>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>

#include "attica/core/register.hpp"

namespace attica {
namespace {

constexpr std::size_t kWordsPerBlock = 4;
constexpr double kUniformUnit = 0x1.0p-53;

/// Maps 64 bits to (0, 1): the midpoints of 2^53 equal cells.
double to_uniform(std::uint64_t word) {
  constexpr int kDroppedBits = 11;
  return (static_cast<double>(word >> kDroppedBits) + 0.5) * kUniformUnit;
}

/// Box-Muller in fixed batches, so that every value takes the same vectorised path wherever it
/// stands. Angle 2 pi u with u = quarter + rest: the top two bits choose the quadrant, sine and
/// cosine of (pi/2)(rest) in [-pi/4, pi/4] come from their Taylor polynomials (truncation below
/// 1e-17).
template <std::size_t Count>
void box_muller(RandomStream& stream, double* out) {
  constexpr std::size_t kPairs = Count / 2;
  constexpr int kQuadrantShift = 62;
  using Half = Eigen::Array<double, kPairs, 1>;
  std::array<std::uint64_t, Count> words;  // radius, angle, radius, ...
  stream.fill_bits(words);
  Half radius_uniform;
  Half quarter_turns;  // angle / (pi/2), in [-1/2, 1/2]
  for (std::size_t i = 0; i < kPairs; ++i) {
    radius_uniform[static_cast<Eigen::Index>(i)] = to_uniform(words[2 * i]);
    quarter_turns[static_cast<Eigen::Index>(i)] = to_uniform(words[2 * i + 1] << 2) - 0.5;
  }
  const Half radius = (-2.0 * radius_uniform.log()).sqrt();
  const Half t = quarter_turns * (std::numbers::pi / 2);
  const Half t2 = t.square();
  // clang-format off
  const Half sine = t * (1.0 + t2 * (-1.0 / 6 + t2 * (1.0 / 120 + t2 * (-1.0 / 5040 + t2 * (1.0 / 362880
      + t2 * (-1.0 / 39916800 + t2 * (1.0 / 6227020800.0 + t2 * (-1.0 / 1307674368000.0))))))));
  const Half cosine = 1.0 + t2 * (-1.0 / 2 + t2 * (1.0 / 24 + t2 * (-1.0 / 720 + t2 * (1.0 / 40320
      + t2 * (-1.0 / 3628800 + t2 * (1.0 / 479001600.0 + t2 * (-1.0 / 87178291200.0
      + t2 * (1.0 / 20922789888000.0))))))));
  // clang-format on
  for (std::size_t i = 0; i < kPairs; ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    const std::uint64_t quadrant = words[2 * i + 1] >> kQuadrantShift;
    const bool swap = (quadrant & 1U) != 0;
    const double signed_radius = (quadrant & 2U) != 0 ? -radius[k] : radius[k];
    out[2 * i] = signed_radius * (swap ? -sine[k] : cosine[k]);
    out[2 * i + 1] = signed_radius * (swap ? cosine[k] : sine[k]);
  }
}

/// In this file by itself, so that calls are put inline and overlap.
inline std::array<std::uint64_t, 4> inline_block(const std::array<std::uint64_t, 4>& counter,
                                                 const std::array<std::uint64_t, 2>& key) {
  const r123::Philox4x64::ctr_type c = {{counter[0], counter[1], counter[2], counter[3]}};
  const r123::Philox4x64::key_type k = {{key[0], key[1]}};
  const auto block = r123::Philox4x64{}(c, k);
  return {block[0], block[1], block[2], block[3]};
}

/// 64-bit lanes (GCC and Clang vector extensions: any processor).
constexpr std::size_t kLanes = 8;
typedef std::uint64_t Lanes __attribute__((vector_size(kLanes * sizeof(std::uint64_t))));

#if defined(__AVX512DQ__)
/// The 128-bit products, from those of 32-bit halves: a processor's own instruction for the lower
/// 64 bits can take three times as long as one of these.
struct Product {
  Lanes upper;
  Lanes lower;
};
inline Product product(Lanes a, std::uint64_t b) {
  constexpr int kHalf = 32;
  constexpr std::uint64_t kLow = 0xFFFFFFFFU;
  const auto lower_halves = [](Lanes x, std::uint64_t y) {
    return reinterpret_cast<Lanes>(_mm512_mul_epu32(
        reinterpret_cast<__m512i>(x), _mm512_set1_epi64(static_cast<std::int64_t>(y))));
  };
  const Lanes high = a >> kHalf;
  const Lanes first = lower_halves(a, b);
  const Lanes second = lower_halves(high, b) + (first >> kHalf);
  const Lanes third = lower_halves(a, b >> kHalf) + (second & kLow);
  const Lanes last = lower_halves(high, b >> kHalf);
  return {last + (second >> kHalf) + (third >> kHalf), (third << kHalf) | (first & kLow)};
}

/// The blocks of eight lanes one after the other.
inline void store_blocks(const std::array<Lanes, kWordsPerBlock>& words, std::uint64_t* out) {
  typedef std::uint64_t Block
      __attribute__((vector_size(32), aligned(alignof(std::uint64_t)), may_alias));
  const auto put = [&](std::size_t block, Block of_block) {
    *reinterpret_cast<Block*>(out + block * kWordsPerBlock) = of_block;
  };
  const auto put_four = [&](std::size_t first, Lanes a, Lanes b) {  // first, + 2, + 4, + 6
    const Lanes low = __builtin_shufflevector(a, b, 0, 1, 8, 9, 2, 3, 10, 11);
    const Lanes high = __builtin_shufflevector(a, b, 4, 5, 12, 13, 6, 7, 14, 15);
    put(first, __builtin_shufflevector(low, low, 0, 1, 2, 3));
    put(first + 2, __builtin_shufflevector(low, low, 4, 5, 6, 7));
    put(first + 4, __builtin_shufflevector(high, high, 0, 1, 2, 3));
    put(first + 6, __builtin_shufflevector(high, high, 4, 5, 6, 7));
  };
  const auto& [w0, w1, w2, w3] = words;
  put_four(0,
           __builtin_shufflevector(w0, w1, 0, 8, 2, 10, 4, 12, 6, 14),
           __builtin_shufflevector(w2, w3, 0, 8, 2, 10, 4, 12, 6, 14));
  put_four(1,
           __builtin_shufflevector(w0, w1, 1, 9, 3, 11, 5, 13, 7, 15),
           __builtin_shufflevector(w2, w3, 1, 9, 3, 11, 5, 13, 7, 15));
}

/// Groups * kLanes consecutive blocks, one a lane: what inline_block gives, in a third of its time
/// where 64-bit lanes are multiplied in one instruction. Groups do not wait for each other.
template <std::size_t Groups>
void philox_blocks(const std::array<std::uint64_t, 4>& counter,
                   const std::array<std::uint64_t, 2>& key,
                   std::uint64_t* out) {
  constexpr int kRounds = 10;
  std::array<std::array<Lanes, kWordsPerBlock>, Groups> groups;
  for (std::size_t g = 0; g < Groups; ++g) {
    groups[g] = {Lanes{0, 1, 2, 3, 4, 5, 6, 7} + (counter[0] + g * kLanes),
                 Lanes{} + counter[1],
                 Lanes{} + counter[2],
                 Lanes{} + counter[3]};
  }
  auto [k0, k1] = key;
  for (int round = 0; round < kRounds; ++round) {
    for (auto& c : groups) {
      const Product p0 = product(c[0], PHILOX_M4x64_0);
      const Product p1 = product(c[2], PHILOX_M4x64_1);
      c = {p1.upper ^ c[1] ^ k0, p1.lower, p0.upper ^ c[3] ^ k1, p0.lower};
    }
    k0 += PHILOX_W64_0;
    k1 += PHILOX_W64_1;
  }
  for (const auto& c : groups) {
    store_blocks(c, out);
    out += kWordsPerBlock * kLanes;
  }
}
#endif

}  // namespace

std::array<std::uint64_t, 4> philox_block(const std::array<std::uint64_t, 4>& counter,
                                          const std::array<std::uint64_t, 2>& key) {
  return inline_block(counter, key);
}

RandomStream::RandomStream(const StreamAddress& address)
    : key_{address.seed, static_cast<std::uint64_t>(address.id)},
      counter_{0, address.step, address.replicate, address.point} {}

void RandomStream::refill_words() {
#if defined(__AVX512DQ__)
  static_assert(kBatch == kWordsPerBlock * kLanes);
  philox_blocks<1>(counter_, key_, words_.data());
#else
  // Independent blocks: the compiler interleaves them to hide the multiplier's latency.
  for (std::size_t b = 0; b < kBatch / kWordsPerBlock; ++b) {
    const auto block = inline_block({counter_[0] + b, counter_[1], counter_[2], counter_[3]}, key_);
    for (std::size_t i = 0; i < kWordsPerBlock; ++i) words_[b * kWordsPerBlock + i] = block[i];
  }
#endif
  counter_[0] += kBatch / kWordsPerBlock;
  next_word_ = 0;
}

std::uint64_t RandomStream::bits() {
  if (next_word_ == kBatch) refill_words();
  return words_[next_word_++];
}

void RandomStream::fill_bits(std::span<std::uint64_t> out) {
  std::size_t i = 0;
#if defined(__AVX512DQ__)
  constexpr std::size_t kGroups = 2;
  for (; i < out.size() && next_word_ != kBatch; ++i) out[i] = bits();
  for (; i + kGroups * kBatch <= out.size(); i += kGroups * kBatch) {
    philox_blocks<kGroups>(counter_, key_, &out[i]);
    counter_[0] += kGroups * kLanes;
  }
#endif
  for (; i < out.size(); ++i) out[i] = bits();
}

BulkBits::BulkBits(RandomStream& stream) : key_(stream.bits()), stream_(stream.bits()) {}

namespace {

// 64-bit lanes in one register, whose products of 32-bit numbers are one instruction. What a lane
// has above 32 bits does not count.
typedef std::uint64_t Register __attribute__((vector_size(kRegisterBytes)));
constexpr std::size_t kRegisterLanes = kRegisterBytes / sizeof(std::uint64_t);

inline Register product(Register a, std::uint32_t b) {
#if defined(__AVX512BW__)
  return reinterpret_cast<Register>(
      _mm512_mul_epu32(reinterpret_cast<__m512i>(a), _mm512_set1_epi64(b)));
#elif defined(__AVX2__)
  return reinterpret_cast<Register>(
      _mm256_mul_epu32(reinterpret_cast<__m256i>(a), _mm256_set1_epi64x(b)));
#elif defined(__SSE2__)
  return reinterpret_cast<Register>(
      _mm_mul_epu32(reinterpret_cast<__m128i>(a), _mm_set1_epi64x(b)));
#else
  constexpr std::uint64_t kLow = 0xFFFFFFFFU;
  return (a & kLow) * std::uint64_t{b};
#endif
}

/// The upper half of each lane in place of its lower one; above that anything. Moved on a unit of
/// the processor that does not multiply.
inline Register upper_half(Register a) {
#if defined(__AVX512BW__)
  return reinterpret_cast<Register>(
      _mm512_shuffle_epi32(reinterpret_cast<__m512i>(a), _MM_PERM_DDBB));
#elif defined(__AVX2__)
  constexpr int kOddTwice = 0b11110101;
  return reinterpret_cast<Register>(_mm256_shuffle_epi32(reinterpret_cast<__m256i>(a), kOddTwice));
#else
  constexpr int kHalf = 32;
  return a >> kHalf;
#endif
}

/// 2 Groups kLanes words from this block on. Groups do not wait for each other's products.
template <std::size_t Groups>
void philox_lanes(std::uint64_t key,
                  std::uint64_t stream,
                  std::uint64_t block,
                  std::uint64_t* out) {
  constexpr int kHalf = 32;
  constexpr int kRounds = 10;
  constexpr std::uint64_t kLow = 0xFFFFFFFFU;
  constexpr std::size_t kRegisters = Groups * kLanes / kRegisterLanes;
  std::array<std::array<Register, 4>, kRegisters> c;
  for (std::size_t g = 0; g < kRegisters; ++g) {
    Register counter = Register{} + (block + g * kRegisterLanes);
    for (std::size_t i = 0; i < kRegisterLanes; ++i) counter[i] += i;
    c[g] = {counter, counter >> kHalf, Register{} + stream, Register{} + (stream >> kHalf)};
  }
  auto k0 = static_cast<std::uint32_t>(key);
  auto k1 = static_cast<std::uint32_t>(key >> kHalf);
  for (int round = 0; round < kRounds; ++round) {
    for (auto& [c0, c1, c2, c3] : c) {
      const Register p0 = product(c0, PHILOX_M4x32_0);
      const Register p1 = product(c2, PHILOX_M4x32_1);
      c0 = upper_half(p1) ^ c1 ^ std::uint64_t{k0};
      c2 = upper_half(p0) ^ c3 ^ std::uint64_t{k1};
      c1 = p1;
      c3 = p0;
    }
    k0 += PHILOX_W32_0;
    k1 += PHILOX_W32_1;
  }
  for (std::size_t g = 0; g < kRegisters; ++g) {
    const auto& [c0, c1, c2, c3] = c[g];
    const Register low = (c0 & kLow) | (c1 << kHalf);
    const Register high = (c2 & kLow) | (c3 << kHalf);
    const std::size_t first = g * kRegisterLanes;
    std::uint64_t* to = out + first / kLanes * 2 * kLanes + first % kLanes;
    std::memcpy(to, &low, sizeof(low));
    std::memcpy(to + kLanes, &high, sizeof(high));
  }
}

}  // namespace

void BulkBits::fill(std::span<std::uint64_t> out) {
  constexpr std::size_t kGroups = 4;
  assert(out.size() % (2 * kLanes) == 0);
  std::size_t at = 0;
  for (; at + kGroups * 2 * kLanes <= out.size(); at += kGroups * 2 * kLanes) {
    philox_lanes<kGroups>(key_, stream_, block_, &out[at]);
    block_ += kGroups * kLanes;
  }
  for (; at < out.size(); at += 2 * kLanes, block_ += kLanes) {
    philox_lanes<1>(key_, stream_, block_, &out[at]);
  }
}

BulkBernoulli::BulkBernoulli(RandomStream& stream, double probability)
    : bits_(stream),
      stream_(&stream),
      probability_(probability < 1 ? static_cast<std::uint64_t>(std::ldexp(probability, 64)) : 0),
      certain_(probability >= 1) {
  assert(probability >= 0 && probability <= 1);
}

BulkBernoulli::Words BulkBernoulli::draw() {
  constexpr std::size_t kDigits = 8;  // that are compared for all numbers
  constexpr int kWordBits = 64;
  Words less{};
  if (certain_) less.fill(~std::uint64_t{0});
  if (probability_ == 0) return less;
  alignas(64) std::array<std::uint64_t, kDigits * kWords> digits;  // NOLINT(*-member-init)
  bits_.fill(digits);
  Words undecided;
  undecided.fill(~std::uint64_t{0});
  for (std::size_t d = 0; d < kDigits; ++d) {
    const std::uint64_t digit = 0 - (probability_ >> (kWordBits - 1 - d) & 1U);
    for (std::size_t i = 0; i < kWords; ++i) {
      const std::uint64_t drawn = digits[d * kWords + i];
      less[i] |= undecided[i] & ~drawn & digit;
      undecided[i] &= ~(drawn ^ digit);
    }
  }
  const std::uint64_t rest = probability_ << kDigits;
  for (std::size_t i = 0; i < kWords; ++i) {
    for (std::uint64_t left = undecided[i]; left != 0; left &= left - 1) {
      if (stream_->bits() < rest) less[i] |= left & (0 - left);
    }
  }
  return less;
}

double RandomStream::uniform() { return to_uniform(bits()); }

std::uint64_t RandomStream::below(std::uint64_t n) {
  assert(n >= 1);
  __extension__ using Wide = unsigned __int128;
  constexpr int kWordBits = 64;
  Wide product = static_cast<Wide>(bits()) * n;
  if (static_cast<std::uint64_t>(product) < n) {
    const std::uint64_t threshold = (0 - n) % n;
    while (static_cast<std::uint64_t>(product) < threshold) {
      product = static_cast<Wide>(bits()) * n;
    }
  }
  return static_cast<std::uint64_t>(product >> kWordBits);
}

void RandomStream::refill_normals() {
  box_muller<kBatch>(*this, normals_.data());
  next_normal_ = 0;
}

double RandomStream::normal() {
  if (next_normal_ == kBatch) refill_normals();
  return normals_[next_normal_++];
}

void RandomStream::fill_uniform(std::span<double> out) {
  std::array<std::uint64_t, 4 * kBatch> words;
  while (!out.empty()) {
    const std::size_t now = std::min(out.size(), words.size());
    fill_bits(std::span(words).first(now));
    for (std::size_t i = 0; i < now; ++i) out[i] = to_uniform(words[i]);
    out = out.subspan(now);
  }
}

void RandomStream::fill_normal(std::span<double> out) {
  constexpr std::size_t kBulk = 4 * kBatch;
  std::size_t i = 0;
  for (; i < out.size() && next_normal_ != kBatch; ++i) out[i] = normal();
  for (; i + kBulk <= out.size(); i += kBulk) box_muller<kBulk>(*this, &out[i]);
  for (; i < out.size(); ++i) out[i] = normal();
}

void RandomStream::fill_normal(std::span<float> out) {
  std::array<double, 4 * kBatch> normals;  // NOLINT(*-member-init): filled just below
  while (!out.empty()) {
    const std::size_t now = std::min(out.size(), normals.size());
    fill_normal(std::span(normals).first(now));
    for (std::size_t i = 0; i < now; ++i) out[i] = static_cast<float>(normals[i]);
    out = out.subspan(now);
  }
}

}  // namespace attica
