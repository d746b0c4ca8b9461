#pragma once
/// @file
/// @brief A text that no sum of pairs explains, for the tests of sim/language.

#include <cstddef>
#include <memory>
#include <vector>

#include "attica/core/language/chain.hpp"
#include "attica/core/random.hpp"

namespace attica::testing {

inline constexpr Eigen::Index kSymbols = 4;
inline constexpr Eigen::Index kSites = 5;

/// The chain of that order of a text in which the next symbol depends on the product of the two
/// before it.
inline MarkovClone product_chain(int order) {
  RandomStream stream({.seed = 11, .id = StreamId::self_test});
  std::vector<Symbol> sequence;
  for (std::size_t k = 0; k < 4000; ++k) {
    const std::size_t back = k < 2 ? 0 : sequence[k - 1] * sequence[k - 2];
    sequence.push_back(
        static_cast<Symbol>((back + (stream.uniform() < 0.8 ? 0 : stream.below(4))) % kSymbols));
  }
  return {std::make_shared<const TupleFrequencies>(sequence, kSymbols, 3), order};
}

}  // namespace attica::testing
