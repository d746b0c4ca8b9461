#pragma once
/// @file
/// @brief Gradient flow on the population, theta' = -g(theta): the limit of small learning rates,
/// large batches and many samples, at time t = eta times steps.

#include "attica/theory/training/first_order.hpp"

namespace attica {

struct TrainingFlowRecord {
  double time = 0;
  Eigen::VectorXd theta;
  Moment loss;                   ///< order_0 and numerical_error only
  std::vector<Moment> observed;  ///< likewise
};

/// @brief theta and the numbers asked for at ascending times, from time 0 on. The numerical error
/// is the change from a tolerance a hundred times as wide.
/// @param decay lambda: the flow of the loss with the penalty lambda |theta|^2/2; reported without
/// @throws Error (input) naming `start`, `times` or `decay`; (numerical) if a time is not reached
std::vector<TrainingFlowRecord> training_flow(const PopulationModel& model,
                                              const Eigen::VectorXd& start,
                                              const std::vector<double>& times,
                                              const std::vector<Observable>& observables = {},
                                              double decay = 0);

}  // namespace attica
