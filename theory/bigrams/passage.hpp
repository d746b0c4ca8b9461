#pragma once
/// @file
/// @brief First passage: how many steps training in stages takes until the error after rounding is
/// below a target, by the mean fields of recursion.hpp and l1.hpp.
///
/// The mean field is one run without fluctuations. What runs at finite batch differ in is the
/// amplitude of the boosted signal, which is averaged over; after transfer nothing is boosted, and
/// fluctuations of the growth that remains delay the mean passage by a share of order 1/B, about
/// r Var(n)/2 for an error that falls like e^{-rn} (docs/bigrams.md).

#include <Eigen/Core>
#include <cstdint>

#include "attica/theory/bigrams/l1.hpp"

namespace attica {

/// Training and its target.
struct PassageTask {
  BigramRates rates = {};
  double batch = 1;
  double lambda = 0;            ///< l1 of stage 2, >= 0
  double theta = 0.5;           ///< stage 1 ends at K_V = θ² K_P
  double threshold = 0;         ///< entries below it are zeroed once, before stage 2
  double epsilon = 0;           ///< the target, > 0
  std::int64_t most_steps = 0;  ///< of stage 2
  double value_noise = 1;       ///< share of V's noise that counts, see L1MeanField::rounded
};

/// @brief Steps, not whole, after which the error of this mean field is below ε: ln(error) is taken
/// as linear between steps. 0 if it is at the start. NaN if it is not within `most_steps`, or if
/// rounding then finds the support with a probability below 99 %: until it does, the error is not
/// that of the mean field.
double passage_steps(L1MeanField field, const PassageTask& task);

/// @brief The same from the standard start, both stages, averaged over boosted_amplitudes.
/// @throws Error (numerical) as boosted_recursion
double passage_from_scratch(const BigramModel& model, const PassageTask& task);

/// @brief The same from this V and uniform A, stage 2 alone.
double passage_after_transfer(const BigramModel& model,
                              const PassageTask& task,
                              const Eigen::MatrixXd& value);

}  // namespace attica
