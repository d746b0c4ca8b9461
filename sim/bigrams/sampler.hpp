#pragma once
/// @file
/// @brief Sequences of sparse contextual bigrams in O(T + Q + N) each.

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

#include "attica/core/bigrams/model.hpp"
#include "attica/core/random.hpp"

namespace attica {

/// A token's number; up to 65535 tokens.
using Token = std::uint16_t;

/// @brief Independent draws from a discrete law, many at a time.
///
/// If all N tokens are equally likely, a cell of 16 random bits gives d of them, N^d <= 2^16: the
/// digits of floor(cell N^d / 2^16) to base N, by d products. The cells whose product ends below
/// 2^16 mod N^d are redrawn, so that the law is exact (Brackett-Rozinsky and Lemire 2024,
/// arXiv:2408.06213).
///
/// Otherwise a cell gives one token, or two if there are no more than three: the number of borders
/// floor(2^16 F(n)) of their law at or below it, counted without branches. Only where a cell holds
/// a border are more bits drawn: the law is exact to 2^-53. Laws of more than 64 tokens are
/// inverted one by one.
class TokenLaw {
 public:
  /// @param law probabilities > 0 that sum to 1
  explicit TokenLaw(const Eigen::VectorXd& law);

  void fill(std::span<Token> tokens, RandomStream& stream) const;
  Token draw(RandomStream& stream) const { return single_.at(stream.uniform()); }

 private:
  using Cell = std::uint16_t;
  struct Inversion {
    Inversion() = default;
    explicit Inversion(const Eigen::VectorXd& law);
    Token at(double u) const;

    std::vector<double> cumulative = {};  ///< F(0) .. F(N-2)
    std::vector<Cell> borders = {};       ///< floor(2^16 F(n))
  };
  struct Block;
  void fill_uniform(std::span<Token> tokens, RandomStream& stream) const;
  void fill_counting(std::span<Token> tokens, RandomStream& stream) const;
  void fill_pairs(std::span<Token> tokens, RandomStream& stream) const;
  /// Draws those cells again whose products end below reject_; whole units of them.
  void redraw(std::span<Cell> cells, RandomStream& stream) const;

  Cell uniform_ = 0;   ///< N if all tokens are equally likely
  int digits_ = 1;     ///< tokens out of one cell
  Cell outcomes_ = 0;  ///< N^d, modulo 2^16
  Cell reject_ = 0;    ///< cells whose product ends below it are redrawn
  Inversion single_;
  Inversion pairs_ = {};  ///< of N times the one token and the other; empty: cells give one
};

/// @brief Draws sequences of a model.
class BigramSampler {
 public:
  explicit BigramSampler(const BigramModel& model);

  /// @brief A batch's numbers of samples with each last token.
  void draw_counts(std::int64_t batch, std::span<std::int64_t> counts, RandomStream& stream) const;
  /// @brief As many samples as `next` holds: x_1..x_T of one after the other, and the token after
  /// each.
  void draw(Eigen::Index last,
            std::span<Token> tokens,
            std::span<Token> next,
            RandomStream& stream) const;
  /// @brief x_1..x_T, and the next token given the last one.
  Token draw(Eigen::Index last, std::span<Token> tokens, RandomStream& stream) const;

 private:
  TokenLaw stationary_;
  std::vector<std::vector<Eigen::Index>> positions_;  ///< of every last token
  std::vector<TokenLaw> choice_;                      ///< of a position
  std::vector<TokenLaw> next_;                        ///< columns of P
};

}  // namespace attica
