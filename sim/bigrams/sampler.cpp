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
  const auto take_digit = [&](Cell* cell, Token* digit) {
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

/// Borders of a law as registers.
template <std::size_t Count>
struct Borders {
  std::array<CellLanes, Count> at;

  explicit Borders(const std::vector<std::uint16_t>& borders) {
    for (std::size_t n = 0; n < Count; ++n) at[n] = CellLanes{} + borders[n];
  }
};
/// Of any number.
template <>
struct Borders<0> {
  const std::vector<std::uint16_t>& at;

  explicit Borders(const std::vector<std::uint16_t>& borders) : at(borders) {}
};

/// The tokens of these cells: how many borders are at or below each.
/// @return whether a cell holds a border
template <std::size_t Count>
bool count_borders(std::span<const std::uint16_t> cells,
                   const Borders<Count>& borders,
                   std::span<Token> tokens) {
  constexpr std::size_t kCount = kRegisterBytes / sizeof(Token);
  CellLanes undecided = {};
  const auto count = [&](std::size_t first) {
    CellLanes drawn;
    std::memcpy(&drawn, &cells[first], kRegisterBytes);
    CellLanes passed = {};  // a comparison that holds is -1
    for (const auto& border : borders.at) {
      passed -= reinterpret_cast<CellLanes>(drawn >= border);
      undecided |= reinterpret_cast<CellLanes>(drawn == border);
    }
    return passed;
  };
  std::size_t i = 0;
  for (; i + kCount <= tokens.size(); i += kCount) {
    const CellLanes passed = count(i);
    std::memcpy(&tokens[i], &passed, kRegisterBytes);
  }
  if (i < tokens.size()) {
    const CellLanes passed = count(i);
    std::memcpy(&tokens[i], &passed, (tokens.size() - i) * sizeof(Token));
  }
  std::uint16_t any = 0;
  for (std::size_t lane = 0; lane < kCount; ++lane) any |= undecided[lane];
  return any != 0;
}

}  // namespace

void TokenLaw::fill_counting(std::span<Token> tokens, RandomStream& stream) const {
  switch (borders_.size()) {
    case 1:
      return fill_between(Borders<1>(borders_), tokens, stream);
    case 2:
      return fill_between(Borders<2>(borders_), tokens, stream);
    default:
      return fill_between(Borders<0>(borders_), tokens, stream);
  }
}

template <class Borders>
void TokenLaw::fill_between(const Borders& borders,
                            std::span<Token> tokens,
                            RandomStream& stream) const {
  BulkBits bits(stream);
  Cells cell;  // NOLINT(*-member-init): filled before use
  while (!tokens.empty()) {
    const std::size_t cells = cells_for(tokens.size());
    const std::span<Token> stretch = tokens.first(std::min(cells, tokens.size()));
    tokens = tokens.subspan(stretch.size());
    draw_cells(std::span(cell).first(cells), bits);
    if (!count_borders(cell, borders, stretch)) continue;
    // One stretch in some sixty for each border.
    for (std::size_t i = 0; i < stretch.size(); ++i) {
      if (!std::ranges::binary_search(borders_, cell[i])) continue;
      stretch[i] = invert((cell[i] + stream.uniform()) / kCells);
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
