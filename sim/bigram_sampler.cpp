#include "attica/sim/bigram_sampler.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::Index;

namespace {

constexpr std::size_t kMostCounted = 64;  // tokens whose borders are counted one by one
constexpr double kCells = 65536;
constexpr std::size_t kPerWord = sizeof(std::uint64_t) / sizeof(Token);

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
        static_cast<std::uint16_t>(std::min(std::floor(cumulative_.back() * kCells), kCells - 1)));
  }
  constexpr double kEqual = 1e-15;
  if (law.maxCoeff() - law.minCoeff() <= kEqual) {
    uniform_ = static_cast<std::uint32_t>(law.size());
    // F(n) = (n+1)/N to the last digit, as the whole-number arithmetic of `fill` has it.
    for (std::size_t n = 0; n < cumulative_.size(); ++n) {
      cumulative_[n] = static_cast<double>(n + 1) / static_cast<double>(law.size());
    }
  }
}

Token TokenLaw::invert(double u) const {
  return static_cast<Token>(std::upper_bound(cumulative_.begin(), cumulative_.end(), u) -
                            cumulative_.begin());
}

void TokenLaw::fill(std::span<Token> tokens, RandomStream& stream) const {
  if (uniform_ == 0 && cumulative_.size() >= kMostCounted) {
    for (Token& token : tokens) token = draw(stream);
    return;
  }
  constexpr std::size_t kBlock = 256;  // tokens at a time, in registers and first-level cache
  std::array<std::uint64_t, kBlock / kPerWord> words{};
  std::array<std::uint16_t, kBlock> cells{};
  std::array<std::uint16_t, kBlock> token{};
  std::array<std::uint16_t, kBlock> undecided{};
  for (std::size_t start = 0; start < tokens.size(); start += kBlock) {
    const std::size_t size = std::min(kBlock, tokens.size() - start);
    stream.fill_bits(std::span(words).first((size + kPerWord - 1) / kPerWord));
    std::memcpy(cells.data(), words.data(), sizeof(words));
    if (uniform_ > 0) {
      // Cell c is [c, c+1) N/2^16 in units of tokens: decided unless a whole number lies inside.
      const std::uint32_t last = static_cast<std::uint32_t>(kCells) - uniform_;
      for (std::size_t i = 0; i < kBlock; ++i) {
        const std::uint32_t product = cells[i] * uniform_;
        token[i] = static_cast<std::uint16_t>(product >> 16U);
        undecided[i] = static_cast<std::uint16_t>((product & 0xFFFFU) > last);
      }
    } else {
      token.fill(0);
      undecided.fill(0);
      for (const std::uint16_t border : borders_) {
        for (std::size_t i = 0; i < kBlock; ++i) {
          token[i] = static_cast<std::uint16_t>(token[i] + (cells[i] >= border));
          undecided[i] = static_cast<std::uint16_t>(undecided[i] | (cells[i] == border));
        }
      }
    }
    std::copy_n(token.begin(), size, tokens.begin() + static_cast<std::ptrdiff_t>(start));
    std::uint16_t any = 0;
    for (std::size_t i = 0; i < kBlock; ++i) any = static_cast<std::uint16_t>(any | undecided[i]);
    for (std::size_t i = 0; any != 0 && i < size; ++i) {
      if (undecided[i] == 0) continue;
      tokens[start + i] = invert((static_cast<double>(cells[i]) + stream.uniform()) / kCells);
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

Token BigramSampler::draw(Index last, std::span<Token> tokens, RandomStream& stream) const {
  stationary_.fill(tokens, stream);
  const auto k = static_cast<std::size_t>(last);
  const Index position = positions_[k][choice_[k].draw(stream)];
  return next_[tokens[static_cast<std::size_t>(position)]].draw(stream);
}

}  // namespace attica
