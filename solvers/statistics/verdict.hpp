#pragma once
/// @file
/// @brief The words in which agreement is asked for and answered.

#include <string_view>

namespace attica {

enum class Verdict {
  agree,
  disagree,
  inconclusive,
  none,
  claims_hold,  ///< of a run: nothing was compared with a theory, and every claim holds
};

/// @brief "AGREE", "DISAGREE", "INCONCLUSIVE", "NONE" or "CLAIMS HOLD".
std::string_view describe(Verdict verdict);

/// Which class of replicates a study vouches for.
enum class Tails {
  guarded,  ///< nothing is known: the guard is on
  normal,   ///< near-symmetric replicates: plain Student t
};

}  // namespace attica
