#pragma once
/// @file
/// @brief The words in which agreement is asked for and answered.

#include <string_view>

namespace attica {

enum class Verdict { agree, disagree, inconclusive, none };

/// @brief "AGREE", "DISAGREE", "INCONCLUSIVE" or "NONE".
std::string_view describe(Verdict verdict);

/// Which class of replicates a study vouches for.
enum class Tails {
  guarded,  ///< nothing is known: the guard is on
  normal,   ///< near-symmetric replicates: plain Student t
};

}  // namespace attica
