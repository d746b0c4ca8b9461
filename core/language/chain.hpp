#pragma once
/// @file
/// @brief Markov chains estimated from a text: its clones with interactions of at most n
/// neighbouring symbols.
///
/// With c the symbols before a,
///     p_m(a | c_1..c_{m-1}) = (N(c a) + kappa p_{m-1}(a | c_2..c_{m-1})) / (N(c) + kappa),
/// p_0 = 1/C: frequencies of m-tuples that back off to those of shorter ones, so that nothing is
/// impossible. A window s_1..s_L of the clone of order n has probability prod_k p(s_k | the n-1
/// symbols before it, fewer at the left end): the law of largest entropy with the text's
/// frequencies of n neighbours. n = 1 is independent symbols.

#include <Eigen/Core>
#include <cstddef>
#include <memory>
#include <vector>

#include "attica/core/language/text.hpp"

namespace attica {

/// @brief Conditional frequencies p_1 .. p_n of a text.
class TupleFrequencies {
 public:
  static constexpr double kBackOff = 2;            ///< kappa
  static constexpr double kMostEntries = 1 << 24;  ///< of a table, C^n

  /// @throws Error (input, `order`) unless 1 <= order and C^order <= kMostEntries
  TupleFrequencies(const std::vector<Symbol>& sequence, Eigen::Index symbols, int order);

  Eigen::Index symbols() const { return symbols_; }
  int order() const { return static_cast<int>(tables_.size()); }
  /// @brief p_m of every symbol after the m-1 symbols whose number in base C is `context`.
  const double* row(int m, std::size_t context) const {
    return tables_[static_cast<std::size_t>(m - 1)].data() +
           context * static_cast<std::size_t>(symbols_);
  }

 private:
  Eigen::Index symbols_;
  std::vector<std::vector<double>> tables_;  ///< [m-1]: C^m entries, the last symbol fastest
};

/// @brief The clone of order n.
class MarkovClone {
 public:
  /// @throws Error (input, `order`) unless 1 <= order <= frequencies->order()
  MarkovClone(std::shared_ptr<const TupleFrequencies> frequencies, int order);

  const TupleFrequencies& frequencies() const { return *frequencies_; }
  Eigen::Index symbols() const { return frequencies_->symbols(); }
  int order() const { return order_; }

  /// @brief p(. | the symbols before site k of the window), C numbers.
  const double* next(const Symbol* window, Eigen::Index k) const;
  /// @brief p(. | all other sites of a window of L), C numbers: the product over the next n sites.
  void conditional(const Symbol* window, Eigen::Index sites, Eigen::Index site, double* p) const;

 private:
  std::shared_ptr<const TupleFrequencies> frequencies_;
  int order_;
};

}  // namespace attica
