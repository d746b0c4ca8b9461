#pragma once
/// @file
/// @brief Which order of interaction a predictor has: the share of its laws that pairs explain, the
/// blurred end state that its history is compared with, and times of its history.

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <vector>

#include "attica/sim/language/pairs.hpp"

namespace attica {

/// @brief How much of a predictor depends on its context, and how much of that is not pairs.
struct PairShare {
  double context = 0;    ///< K_1 = mean KL(q || best law of every site without context), nats
  double remainder = 0;  ///< K_2 = mean KL(q || best pairs)
  /// 1 for a predictor of order 2 or less.
  double share() const { return 1 - remainder / context; }
};

/// @brief Windows with a predictor's laws of their hidden symbols.
struct Described {
  MaskedWindows masked;
  Laws laws;
};

/// @brief Fits pairs and laws without context to one set of laws, and measures on another.
/// @param pairs where the fit starts; becomes the fit
/// @param batch examples of a step of the fit
PairShare pair_share(PairModel& pairs,
                     const Described& training,
                     const Described& test,
                     const PairFit& fit,
                     Eigen::Index batch,
                     const StreamAddress& address);

/// @brief Laws proportional to u^(1 - alpha) q^alpha: q blurred towards the law u of one symbol.
Laws blurred(const Laws& q, const Eigen::VectorXd& u, double alpha);

/// @brief The alpha in [0, 1] at which the blurred laws have the loss; 0 or 1 if none has.
double blur_of_loss(const Laws& q,
                    const Eigen::VectorXd& u,
                    const MaskedWindows& masked,
                    double loss);

/// @brief First record at which a curve has come within `share` of its way from the start to its
/// minimum.
std::size_t saturation(const std::vector<double>& curve, double share);

/// @brief First record at which `second` is below `first`; empty if there is none.
std::optional<std::size_t> crossing(const std::vector<double>& first,
                                    const std::vector<double>& second);

}  // namespace attica
