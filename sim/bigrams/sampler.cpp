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

constexpr Index kMostTwofold = 3;         // tokens of which a cell gives two
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

TokenLaw::TokenLaw(const Eigen::VectorXd& law) : single_(law) {
  require(law.size() <= static_cast<Index>(kCells) - 1,
          "tokens",
          static_cast<double>(law.size()),
          "at most 65535 tokens");
  if (law.size() <= kMostTwofold) pairs_ = Inversion((law * law.transpose()).reshaped());
  constexpr double kEqual = 1e-15;
  if (law.maxCoeff() - law.minCoeff() > kEqual) return;
  uniform_ = static_cast<Cell>(law.size());
  // As many tokens out of a cell as leave at most one in 128 to be redrawn.
  constexpr std::uint32_t kMostRejected = kCells / 128;
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

void TokenLaw::fill(std::span<Token> tokens, RandomStream& stream) const {
  if (uniform_ > 0) {
    fill_uniform(tokens, stream);
  } else if (!pairs_.borders.empty()) {
    fill_pairs(tokens, stream);
  } else if (single_.borders.size() < kMostCounted) {
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
  const auto take_digit = [&](Cell* __restrict cell, Token* __restrict digit) {
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
        if (tokens.size() >= kUnit) {
          take_digit(&rest[first], tokens.data());
          tokens = tokens.subspan(kUnit);
        } else {
          std::array<Token, kUnit> last;  // NOLINT(*-member-init): filled just below
          take_digit(&rest[first], last.data());
          std::copy_n(last.begin(), tokens.size(), tokens.begin());
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

namespace {

/// How many of the borders, Count of them unless that is 0, are at or below each cell.
/// @param undecided not 0 where a cell holds a border
/// @return whether one does
template <std::size_t Count>
bool count_borders(const Cells& cell,
                   std::size_t cells,
                   std::span<const std::uint16_t> borders,
                   Cells& token,
                   Cells& undecided) {
  constexpr std::size_t kCount = kRegisterBytes / sizeof(std::uint16_t);
#if defined(__AVX512BW__)
  if constexpr (Count > 0) {
    static_assert(Count < kCount);
    // The last border passed is looked up: the only one that the cell may hold.
    std::array<__m512i, Count> border;
    std::array<std::uint16_t, kCount> last{borders[0]};
    for (std::size_t n = 0; n < Count; ++n) {
      border[n] = _mm512_set1_epi16(static_cast<std::int16_t>(borders[n]));
      last[n + 1] = borders[n];
    }
    const __m512i passed_last = _mm512_loadu_si512(last.data());
    __mmask32 any = 0;
    for (std::size_t at = 0; at < cells; at += kCount) {
      const __m512i drawn = _mm512_loadu_si512(&cell[at]);
      __m512i passed = _mm512_setzero_si512();
      for (const __m512i& b : border) {
        const __mmask32 holds = _mm512_cmpge_epu16_mask(drawn, b);
        passed = _mm512_mask_sub_epi16(passed, holds, passed, _mm512_set1_epi16(-1));
      }
      const __mmask32 equal =
          _mm512_cmpeq_epi16_mask(drawn, _mm512_permutexvar_epi16(passed, passed_last));
      any |= equal;
      _mm512_storeu_si512(&token[at], passed);
      _mm512_storeu_si512(&undecided[at], _mm512_movm_epi16(equal));
    }
    return any != 0;
  }
#endif
  CellLanes all = {};
  for (std::size_t at = 0; at < cells; at += kCount) {
    CellLanes drawn;
    CellLanes passed = {};
    CellLanes equal = {};
    std::memcpy(&drawn, &cell[at], kRegisterBytes);
    for (std::size_t n = 0; n < (Count > 0 ? Count : borders.size()); ++n) {
      passed -= reinterpret_cast<CellLanes>(drawn >= borders[n]);  // what holds is -1
      equal |= reinterpret_cast<CellLanes>(drawn == borders[n]);
    }
    all |= equal;
    std::memcpy(&token[at], &passed, kRegisterBytes);
    std::memcpy(&undecided[at], &equal, kRegisterBytes);
  }
  std::uint16_t any = 0;
  for (std::size_t lane = 0; lane < kCount; ++lane) any |= all[lane];
  return any != 0;
}

}  // namespace

TokenLaw::Inversion::Inversion(const Eigen::VectorXd& law) {
  double sum = 0;
  for (Index n = 0; n + 1 < law.size(); ++n) {
    sum += law[n];
    cumulative.push_back(std::min(sum, 1.0));
    borders.push_back(
        static_cast<Cell>(std::min(std::floor(cumulative.back() * kCells), kCells - 1.0)));
  }
}

Token TokenLaw::Inversion::at(double u) const {
  // Few borders are counted sooner than searched: no branch hangs on chance.
  constexpr std::size_t kFew = 8;
  if (cumulative.size() <= kFew) {
    int passed = 0;
    for (const double border : cumulative) passed += border <= u ? 1 : 0;
    return static_cast<Token>(passed);
  }
  return static_cast<Token>(std::upper_bound(cumulative.begin(), cumulative.end(), u) -
                            cumulative.begin());
}

/// A block of cells and what they give.
struct TokenLaw::Block {
  Cells cell;   // NOLINT(*-member-init): filled before use
  Cells token;  // NOLINT(*-member-init)

  void draw(std::size_t cells, const Inversion& law, BulkBits& bits, RandomStream& stream) {
    Cells undecided;  // NOLINT(*-member-init): filled just below
    draw_cells(std::span(cell).first(cells), bits);
    const auto count = [&] {
      switch (law.borders.size()) {
        case 3:
          return count_borders<3>(cell, cells, law.borders, token, undecided);
        case 8:
          return count_borders<8>(cell, cells, law.borders, token, undecided);
        default:
          return count_borders<0>(cell, cells, law.borders, token, undecided);
      }
    };
    if (!count()) return;
    // Hardly any: looked for 64 at a time.
    for (std::size_t first = 0; first < cells; first += kUnit) {
      std::uint16_t any = 0;
      for (std::size_t i = first; i < first + kUnit; ++i) any |= undecided[i];
      if (any == 0) continue;
      for (std::size_t i = first; i < first + kUnit; ++i) {
        if (undecided[i] != 0) token[i] = law.at((cell[i] + stream.uniform()) / kCells);
      }
    }
  }
};

void TokenLaw::fill_counting(std::span<Token> tokens, RandomStream& stream) const {
  BulkBits bits(stream);
  Block block;
  while (!tokens.empty()) {
    const std::size_t cells = cells_for(tokens.size());
    block.draw(cells, single_, bits, stream);
    const std::size_t now = std::min(cells, tokens.size());
    std::copy_n(block.token.begin(), now, tokens.begin());
    tokens = tokens.subspan(now);
  }
}

void TokenLaw::fill_pairs(std::span<Token> tokens, RandomStream& stream) const {
  const auto size = static_cast<Cell>(single_.borders.size() + 1);
  const auto reciprocal = static_cast<Cell>(kCells / size + 1);
  BulkBits bits(stream);
  Block block;
  Cells first;  // NOLINT(*-member-init): filled before use
  while (!tokens.empty()) {
    const std::size_t cells = cells_for((tokens.size() + 1) / 2);
    block.draw(cells, pairs_, bits, stream);
    for (std::size_t i = 0; i < cells; ++i) {
      first[i] = static_cast<Token>(std::uint32_t{block.token[i]} * reciprocal >> 16U);
    }
    for (std::size_t i = 0; i < cells; ++i) {
      block.token[i] = static_cast<Token>(block.token[i] - size * first[i]);
    }
    for (const Cells* half : {&first, &block.token}) {
      const std::size_t now = std::min(cells, tokens.size());
      std::copy_n(half->begin(), now, tokens.begin());
      tokens = tokens.subspan(now);
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
