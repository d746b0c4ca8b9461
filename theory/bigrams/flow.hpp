#pragma once
/// @file
/// @brief Gradient flow of the one-layer linear transformer on sparse contextual bigrams.
///
/// From the standard start the flow of the hat gradients closes in four numbers: signals α_V, α_A
/// and squared remainders d_V, d_A (core/bigrams/model.hpp). With n̄ = 1/T + α_A² K_Q + d_A and
/// K_V = α_V² K_P + d_V, per unit of time (one step),
///
///     α_V' = η_V [1/T + K_Q α_A - n̄ α_V],   d_V' = -2 η_V n̄ d_V,
///     α_A' = η_A [K_P α_V - K_V α_A],        d_A' = -2 η_A K_V d_A,
///     L - L* = ½ { K_P [K_Q (1 - α_V α_A)² + (1-α_V)²/T] + α_V² K_P d_A + d_V n̄ }.
///
/// It starts slowly, driven by 1/T alone (boosting), saturates on the valley α_V α_A = 1 and creeps
/// along it to (1, 1) within a time of order T. Setting: Ren, Wang, Lee 2024 (arXiv:2410.23438);
/// reduction and closed forms: docs/bigrams.md.

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

#include "attica/core/bigrams/model.hpp"
#include "attica/solvers/ode.hpp"

namespace attica {

/// @brief L - L* at these signals on the constraint set Vμ = μ, 1ᵀA = 1ᵀ.
double reduced_excess_loss(const BigramConstants& c, const BigramSignals& s);

/// A solved flow: the states at the times reached and how it ended.
struct [[nodiscard]] BigramCurve {
  OdeStatus status = OdeStatus::finished;
  std::vector<BigramSignals> signals;
};

/// @brief The reduced flow from `start` at time 0.
/// @param times strictly increasing, the first >= 0
BigramCurve reduced_flow(const BigramConstants& c,
                         const BigramRates& rates,
                         const BigramSignals& start,
                         std::span<const double> times);

/// @brief The four numbers under whole steps from `start`: the equations above with differences for
/// derivatives, but factors (1 - η_V n̄)² of d_V and (1 - η_A K_V)² of d_A.
/// @param steps rising
std::vector<BigramSignals> reduced_descent(const BigramConstants& c,
                                           const BigramRates& rates,
                                           BigramSignals start,
                                           std::span<const std::int64_t> steps);

/// @brief The flow of all N² + TN entries of V and A with the hat gradients of the population.
/// @param value, attention the start, on the constraint set or not
/// @return signals at the times; T N of a few thousand is the practical limit
BigramCurve full_flow(const BigramModel& model,
                      const BigramRates& rates,
                      const Eigen::MatrixXd& value,
                      const Eigen::MatrixXd& attention,
                      std::span<const double> times);

/// @brief Gradient descent: whole steps of all entries along the hat gradients of the population.
/// @param value, attention the start, as for full_flow
/// @param steps rising
/// @return where the network stands after each of them
std::vector<BigramState> full_descent(const BigramModel& model,
                                      const BigramRates& rates,
                                      Eigen::MatrixXd value,
                                      Eigen::MatrixXd attention,
                                      std::span<const std::int64_t> steps);

/// Descent with softmax attention: where the network stands at the steps, and its last attention.
struct SoftmaxDescent {
  std::vector<BigramState> states;
  Eigen::MatrixXd attention;  ///< @shape{T x N}
};

/// @brief Descent with softmax attention from V = μ1ᵀ and uniform attention; see
/// softmax_descent_step.
/// @param steps rising
SoftmaxDescent softmax_descent(const BigramModel& model,
                               double eta_v,
                               double eta_w,
                               std::span<const std::int64_t> steps);

}  // namespace attica
