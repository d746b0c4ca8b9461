#include "attica/sim/bigrams/sampler.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "attica/core/error.hpp"
#include "attica/core/register.hpp"

namespace attica {

using Eigen::Index;

namespace {

constexpr std::size_t kMostOfBytes = 3;   // borders that leave few cells of 8 bits undecided
constexpr std::size_t kMostCounted = 64;  // tokens whose borders are counted one by one
constexpr std::uint32_t kCells = 65536;
constexpr std::size_t kBlock = 512;  // most cells at a time, in first-level cache
constexpr std::size_t kUnit = 64;    // cells come in multiples of it: 16 words of bits
using Cells = std::array<std::uint16_t, kBlock>;

typedef std::uint16_t CellLanes __attribute__((vector_size(kRegisterBytes)));
static_assert(kUnit * sizeof(std::uint16_t) % kRegisterBytes == 0);

/// The cells to draw for so many more, in whole units.
std::size_t cells_for(std::size_t wanted) {
  return std::min(kBlock, (wanted + kUnit - 1) / kUnit * kUnit);
}

void draw_cells(std::span<std::uint16_t> cells, BulkBits& bits) {
  constexpr std::size_t kPerWord = sizeof(std::uint64_t) / sizeof(std::uint16_t);
  std::array<std::uint64_t, kBlock / kPerWord> words;  // NOLINT(*-member-init): filled just below
  bits.fill(std::span(words).first(cells.size() / kPerWord));
  std::memcpy(cells.data(), words.data(), cells.size_bytes());
}

/// Which of kUnit cells lie below the border, a bit each.
std::uint64_t below(const std::uint16_t* cells, std::uint16_t border) {
  std::uint64_t bits = 0;
#if defined(__AVX2__)
  // No unsigned comparison: a cell below the border is changed by the maximum with it.
  constexpr std::size_t kCount = 16;
  const __m256i least = _mm256_set1_epi16(static_cast<std::int16_t>(border));
  const auto not_below = [&](std::size_t first) {
    const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(cells + first));
    return _mm256_cmpeq_epi16(_mm256_max_epu16(x, least), x);
  };
  for (std::size_t i = 0; i < kUnit; i += 2 * kCount) {
    constexpr int kInOrder = 0b11011000;  // packing works on halves of registers
    const __m256i packed =
        _mm256_permute4x64_epi64(_mm256_packs_epi16(not_below(i), not_below(i + kCount)), kInOrder);
    bits |= std::uint64_t{~static_cast<std::uint32_t>(_mm256_movemask_epi8(packed))} << i;
  }
#else
  for (std::size_t i = 0; i < kUnit; ++i) bits |= std::uint64_t{cells[i] < border} << i;
#endif
  return bits;
}

}  // namespace

TokenLaw::TokenLaw(const Eigen::VectorXd& law) {
  require(law.size() <= static_cast<Index>(kCells) - 1,
          "tokens",
          static_cast<double>(law.size()),
          "at most 65535 tokens");
  double sum = 0;
  for (Index n = 0; n + 1 < law.size(); ++n) {
    sum += law[n];
    cumulative_.push_back(std::min(sum, 1.0));
    borders_.push_back(
        static_cast<Cell>(std::min(std::floor(cumulative_.back() * kCells), kCells - 1.0)));
  }
  constexpr double kEqual = 1e-15;
  if (law.maxCoeff() - law.minCoeff() > kEqual) return;
  uniform_ = static_cast<Cell>(law.size());
  // As many tokens out of a cell as leave at most one in 64 to be redrawn.
  constexpr std::uint32_t kMostRejected = kCells / 64;
  std::uint32_t outcomes = uniform_;
  outcomes_ = uniform_;
  reject_ = static_cast<Cell>(kCells % outcomes);
  for (int digits = 2; outcomes * uniform_ <= kCells && uniform_ > 1; ++digits) {
    outcomes *= uniform_;
    if (kCells % outcomes > kMostRejected) continue;
    digits_ = digits;
    outcomes_ = static_cast<Cell>(outcomes);
    reject_ = static_cast<Cell>(kCells % outcomes);
  }
}

Token TokenLaw::invert(double u) const {
  // Few borders are counted sooner than searched: no branch hangs on chance.
  constexpr std::size_t kFew = 8;
  if (cumulative_.size() <= kFew) {
    int passed = 0;
    for (const double border : cumulative_) passed += border <= u ? 1 : 0;
    return static_cast<Token>(passed);
  }
  return static_cast<Token>(std::upper_bound(cumulative_.begin(), cumulative_.end(), u) -
                            cumulative_.begin());
}

void TokenLaw::fill(std::span<Token> tokens, RandomStream& stream) const {
  if (uniform_ > 0) {
    fill_uniform(tokens, stream);
  } else if (cumulative_.size() <= kMostOfBytes) {
    fill_bytes(tokens, stream);
  } else if (cumulative_.size() < kMostCounted) {
    fill_counting(tokens, stream);
  } else {
    for (Token& token : tokens) token = draw(stream);
  }
}

void TokenLaw::fill_uniform(std::span<Token> tokens, RandomStream& stream) const {
  BulkBits bits(stream);
  const auto digits = static_cast<std::size_t>(digits_);
  Cells rest;  // NOLINT(*-member-init): filled before use
  // Takes the next digit of kUnit cells. The halves of the products one after the other: each is
  // one instruction on 16 bits.
  std::array<Token, kUnit> digit;  // NOLINT(*-member-init)
  const auto take_digit = [&](Cell* cell) {
    for (std::size_t i = 0; i < kUnit; ++i) {
      digit[i] = static_cast<Token>(std::uint32_t{cell[i]} * uniform_ >> 16U);
    }
    for (std::size_t i = 0; i < kUnit; ++i) {
      cell[i] = static_cast<Cell>(std::uint32_t{cell[i]} * uniform_);
    }
  };
  while (!tokens.empty()) {
    // Digit j of cell i goes to position j cells + i.
    const std::size_t cells = cells_for((tokens.size() + digits - 1) / digits);
    draw_cells(std::span(rest).first(cells), bits);
    redraw(std::span(rest).first(cells), stream);
    for (std::size_t j = 0; j < digits; ++j) {
      for (std::size_t first = 0; first < cells && !tokens.empty(); first += kUnit) {
        take_digit(&rest[first]);
        if (tokens.size() >= kUnit) {
          std::memcpy(tokens.data(), digit.data(), sizeof(digit));
          tokens = tokens.subspan(kUnit);
        } else {
          std::copy_n(digit.begin(), tokens.size(), tokens.begin());
          tokens = {};
        }
      }
    }
  }
}

void TokenLaw::redraw(std::span<Cell> cells, RandomStream& stream) const {
  constexpr int kAbove = 64 - 16;
  // A few in a thousand.
  std::array<Cell, kUnit> ends;  // NOLINT(*-member-init): filled before use
  for (std::size_t first = 0; first < cells.size(); first += kUnit) {
    const std::span<Cell> unit = cells.subspan(first, kUnit);
    for (std::size_t i = 0; i < kUnit; ++i) {
      ends[i] = static_cast<Cell>(std::uint32_t{unit[i]} * outcomes_);
    }
    for (std::uint64_t left = below(ends.data(), reject_); left != 0; left &= left - 1) {
      Cell& cell = unit[static_cast<std::size_t>(std::countr_zero(left))];
      do {
        cell = static_cast<Cell>(stream.bits() >> kAbove);
      } while (static_cast<Cell>(std::uint32_t{cell} * outcomes_) < reject_);
    }
  }
}

void TokenLaw::fill_counting(std::span<Token> tokens, RandomStream& stream) const {
  BulkBits bits(stream);
  Cells cell;       // NOLINT(*-member-init): filled before use
  Cells token;      // NOLINT(*-member-init)
  Cells undecided;  // NOLINT(*-member-init)
  while (!tokens.empty()) {
    const std::size_t cells = cells_for(tokens.size());
    const std::span<Token> stretch = tokens.first(std::min(cells, tokens.size()));
    tokens = tokens.subspan(stretch.size());
    draw_cells(std::span(cell).first(cells), bits);
    // All borders for a register of cells at a time. A comparison that holds is -1.
    for (std::size_t at = 0; at < cells; at += kRegisterBytes / sizeof(std::uint16_t)) {
      CellLanes drawn;
      CellLanes passed = {};
      CellLanes equal = {};
      std::memcpy(&drawn, cell.data() + at, kRegisterBytes);
      for (const Cell border : borders_) {
        passed -= reinterpret_cast<CellLanes>(drawn >= border);
        equal |= reinterpret_cast<CellLanes>(drawn == border);
      }
      std::memcpy(token.data() + at, &passed, kRegisterBytes);
      std::memcpy(undecided.data() + at, &equal, kRegisterBytes);
    }
    std::copy_n(token.begin(), stretch.size(), stretch.begin());
    // Hardly any: looked for 64 at a time.
    for (std::size_t look = 0; look < cells; look += kUnit) {
      std::uint16_t any = 0;
      for (std::size_t i = look; i < look + kUnit; ++i) any = std::max(any, undecided[i]);
      if (any == 0) continue;
      for (std::size_t i = look; i < std::min(look + kUnit, stretch.size()); ++i) {
        if (undecided[i] == 0) continue;
        stretch[i] = invert((cell[i] + stream.uniform()) / kCells);
      }
    }
  }
}

namespace {

constexpr std::size_t kByteBlock = 1024;  // cells of 8 bits at a time
using ByteCells = std::array<std::uint8_t, kByteBlock>;
typedef std::uint8_t ByteLanes __attribute__((vector_size(kRegisterBytes)));

/// Which of kUnit bytes are not 0, a bit each.
std::uint64_t not_zero(const std::uint8_t* bytes) {
#if defined(__AVX512BW__)
  const __m512i x = _mm512_loadu_si512(bytes);
  return _mm512_test_epi8_mask(x, x);
#elif defined(__AVX2__)
  const auto zero = [&](std::size_t first) {
    const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + first));
    return static_cast<std::uint32_t>(
        _mm256_movemask_epi8(_mm256_cmpeq_epi8(x, _mm256_setzero_si256())));
  };
  constexpr std::size_t kHalf = 32;
  return ~(zero(0) | std::uint64_t{zero(kHalf)} << kHalf);
#else
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < kUnit; ++i) bits |= std::uint64_t{bytes[i] != 0} << i;
  return bits;
#endif
}

/// The places in 0..cells-1 where a byte is not 0.
class Marked {
 public:
  Marked(const ByteCells& bytes, std::size_t cells) {
    // Two of a unit without asking: one is there at most times and no telling when, seldom more.
    constexpr std::uint64_t kSome = std::uint64_t{1} << 63U;  // spares the question whether any is
    for (std::size_t first = 0; first < cells; first += kUnit) {
      std::uint64_t left = not_zero(&bytes[first]);
      const auto add = [&](std::size_t place) {
        place_[place] = static_cast<std::uint16_t>(
            first + static_cast<std::size_t>(std::countr_zero(left | kSome)));
        left &= left - 1;
      };
      const std::size_t end = count_ + static_cast<std::size_t>(std::popcount(left));
      add(count_);
      add(count_ + 1);
      for (std::size_t i = count_ + 2; i < end; ++i) add(i);
      count_ = end;
    }
  }
  std::span<const std::uint16_t> places() const { return std::span(place_).first(count_); }

 private:
  static constexpr std::size_t kBeyond = 2;                // that are written for none
  std::array<std::uint16_t, kByteBlock + kBeyond> place_;  // NOLINT(*-member-init): up to count_
  std::size_t count_ = 0;
};

/// How many of Count borders each cell has passed, and the cells that hold a border.
template <std::size_t Count>
void count_passed(const ByteCells& cell,
                  std::size_t cells,
                  const std::vector<std::uint16_t>& borders,
                  ByteCells& token,
                  ByteCells& undecided) {
  constexpr int kAbove = 8;
  std::array<ByteLanes, Count> border;
  for (std::size_t n = 0; n < Count; ++n) {
    border[n] = ByteLanes{} + static_cast<std::uint8_t>(borders[n] >> kAbove);
  }
  for (std::size_t at = 0; at < cells; at += kRegisterBytes) {
    ByteLanes drawn;
    ByteLanes passed = {};
    ByteLanes equal = {};
    std::memcpy(&drawn, cell.data() + at, kRegisterBytes);
    for (const ByteLanes& b : border) {
      passed -= reinterpret_cast<ByteLanes>(drawn >= b);  // a comparison that holds is -1
      equal |= reinterpret_cast<ByteLanes>(drawn == b);
    }
    std::memcpy(token.data() + at, &passed, kRegisterBytes);
    std::memcpy(undecided.data() + at, &equal, kRegisterBytes);
  }
}

}  // namespace

void TokenLaw::fill_bytes(std::span<Token> tokens, RandomStream& stream) const {
  constexpr double kByteCells = 256;
  constexpr std::size_t kBulk = 2 * kUnit;  // bytes of the fewest words that are drawn
  BulkBits bits(stream);
  alignas(kRegisterBytes) ByteCells cell;       // NOLINT(*-member-init): filled before use
  alignas(kRegisterBytes) ByteCells token;      // NOLINT(*-member-init)
  alignas(kRegisterBytes) ByteCells undecided;  // NOLINT(*-member-init)
  std::array<std::uint64_t, kByteBlock / sizeof(std::uint64_t)> words;  // NOLINT(*-member-init)
  while (!tokens.empty()) {
    const std::span<Token> stretch = tokens.first(std::min(kByteBlock, tokens.size()));
    tokens = tokens.subspan(stretch.size());
    const std::size_t cells = (stretch.size() + kBulk - 1) / kBulk * kBulk;
    bits.fill(std::span(words).first(cells / sizeof(std::uint64_t)));
    std::memcpy(cell.data(), words.data(), cells);
    switch (borders_.size()) {
      case 1:
        count_passed<1>(cell, cells, borders_, token, undecided);
        break;
      case 2:
        count_passed<2>(cell, cells, borders_, token, undecided);
        break;
      default:
        count_passed<kMostOfBytes>(cell, cells, borders_, token, undecided);
    }
    std::copy_n(token.begin(), stretch.size(), stretch.begin());
    for (const std::uint16_t i : Marked(undecided, cells).places()) {
      if (i >= stretch.size()) break;
      stretch[i] = invert((cell[i] + stream.uniform()) / kByteCells);
    }
  }
}

BigramSampler::BigramSampler(const BigramModel& model) : stationary_(model.stationary()) {
  for (const SparseColumn& q : model.attention()) {
    positions_.push_back(q.positions);
    choice_.emplace_back(
        Eigen::Map<const Eigen::VectorXd>(q.weights.data(), static_cast<Index>(q.weights.size())));
  }
  for (Index n = 0; n < model.tokens(); ++n) next_.emplace_back(model.transition().col(n));
}

void BigramSampler::draw_counts(std::int64_t batch,
                                std::span<std::int64_t> counts,
                                RandomStream& stream) const {
  std::fill(counts.begin(), counts.end(), 0);
  for (std::int64_t b = 0; b < batch; ++b) ++counts[stationary_.draw(stream)];
}

void BigramSampler::draw(Index last,
                         std::span<Token> tokens,
                         std::span<Token> next,
                         RandomStream& stream) const {
  stationary_.fill(tokens, stream);
  const auto k = static_cast<std::size_t>(last);
  const std::size_t context = tokens.size() / next.size();
  for (Token& y : next) {
    const Index position = positions_[k][choice_[k].draw(stream)];
    y = next_[tokens[static_cast<std::size_t>(position)]].draw(stream);
    tokens = tokens.subspan(context);
  }
}

Token BigramSampler::draw(Index last, std::span<Token> tokens, RandomStream& stream) const {
  Token next = 0;
  draw(last, tokens, std::span(&next, 1), stream);
  return next;
}

}  // namespace attica
