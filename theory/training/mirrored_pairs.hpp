#pragma once
/// @file
/// @brief First and next order by runs on mirrored perturbations of the population: any optimiser.
///
/// A run is told apart from descent on the population by the weights of its batches alone, counts/B
/// in place of p. Runs on p + kappa c and p - kappa c, c = counts/B - p, have a number's
///
///     even = ((f+ + f-)/2 - f_0) / kappa^2,   odd = (f+ - f-) / (2 kappa),
///
/// whose means over c are the shift of first order and 0, both up to kappa^2 times the next order:
/// two amplitudes estimate it. The mean of odd^2 is the variance of first order. At kappa = 1 the
/// run is the real one.
///
/// Adam divides by the root of a mean square in which batches count at order 0. Its path on the
/// population takes g^2 + Sigma_ii/B for g^2, and a run at kappa adds (1 - kappa^2) Sigma_ii/B. Of
/// what batches change the larger part is in order 0 then (`resummed`).

#include "attica/theory/training/first_order.hpp"

namespace attica {

/// @brief What pairs say of one number at one step.
struct PairEstimate {
  double order_0 = 0;
  double order_0_error = 0;  ///< adam: of Sigma_ii by random combinations
  double resummed = 0;       ///< adam: part of order_0 that is due to batches
  double shift = 0, shift_error = 0;
  double variance = 0;
  double next = 0, next_error = 0;
};

struct PairRecord {
  PairEstimate loss, train_loss, batch_loss;
  std::vector<PairEstimate> observed;
  bool finite = true;    ///< all runs so far
  bool clipped = false;  ///< some batch's gradient was clipped where the population's is not
};

/// @brief A record for every recorded step that the population's path has reached.
std::vector<PairRecord> mirrored_pairs(const PopulationModel& model,
                                       const TrainingPlan& plan,
                                       const std::vector<Observable>& observables,
                                       const TheoryMethod& method);

}  // namespace attica
