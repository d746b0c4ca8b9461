#pragma once
/// @file
/// @brief Gradient flow of a one-layer attention network in its exact reduced state, with integrals
/// along it.

#include <Eigen/Core>
#include <functional>
#include <span>
#include <vector>

#include "attica/core/joma/model.hpp"
#include "attica/solvers/ode.hpp"

namespace attica {

/// The flow at the output times that were reached.
struct JomaFlow {
  OdeResult solution;
  std::vector<JomaState> states;
  Eigen::MatrixXd integrals;  ///< of the integrand over time; @shape{values x times}
};

/// @brief theta' = F(theta), F the negative gradient of the population loss. Not for ReLU at tight
/// tolerance: its kink makes step control stall.
/// @param integrand what is integrated along, e.g. JomaModel::softmax_defect_rate; empty: nothing
/// @param step 0: the flow. Otherwise the flow that gradient descent with that step follows, up to
/// an error of order step^(orders + 1) at a fixed time
/// @param orders of the step that are kept, 1 or 2: theta' = F(theta - (step/2) F(theta)), or
/// theta' = (3 F(theta - (step/3) F(theta - (2 step/3) F(theta))) - F(theta)) / 2. Their expansions
/// are those of the logarithm of one step, F - (h/2) F'F + h^2 (F''FF/12 + F'F'F/3) - ... (modified
/// equation of Euler's method; Hairer, Lubich and Wanner, Geometric Numerical Integration, IX.1)
JomaFlow joma_flow(const JomaModel& model,
                   const JomaState& start,
                   std::span<const double> times,
                   const std::function<Eigen::VectorXd(const JomaState&)>& integrand = {},
                   double step = 0,
                   int orders = 1);

}  // namespace attica
