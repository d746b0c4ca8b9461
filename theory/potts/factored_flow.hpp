#pragma once
/// @file
/// @brief How factored attention learns a Potts model by gradient flow on the population loss, and
/// how fast the excess loss falls with the number of samples.
///
/// Flow: dA/dt = -dl/dA, dV/dt = -dl/dV with l the mean loss per masked site, expectations by
/// enumeration; time = learning rate x steps of SGD, up to O(learning rate / batch). It conserves
/// |A|^2 - |V|^2 and the column sums of V.
///
/// From a small start the flow is linear. With Gamma_ij[a, c] = P(s_i = a, s_j = c) - P(s_j = c)/C
/// for i != j, reshaped to (L^2) x (C^2) and decomposed as sum_k sigma_k u_k v_k^T, the overlaps
/// a_k = <u_k, A>, b_k = <v_k, V> follow a_k(t) = a_k(0) cosh(sigma_k t/L) + b_k(0) sinh(sigma_k
/// t/L).
///
/// Setting: R. Rende, F. Gerace, A. Laio, S. Goldt 2024 (arXiv:2304.07235).

#include <Eigen/Core>
#include <span>
#include <vector>

#include "attica/core/potts/model.hpp"
#include "attica/solvers/ode.hpp"

namespace attica {

/// @brief A population seen with one site masked: sequences that differ in that site alone share a
/// context, and with it the student's conditionals. Of all C^L states that leaves C^(L-1) a site.
class MaskedContexts {
 public:
  /// @throws Error (input, `sequences`) for a colour that is not below `colours`
  MaskedContexts(const WeightedSequences& population, Eigen::Index colours);

  /// @brief The derivative of factored_loss by A (zero diagonal) and V.
  FactoredAttention gradient(const FactoredAttention& student) const;
  /// @brief E[ln p(s_i | rest) - ln q(s_i | rest)], mean over sites, p the truth's conditionals and
  /// q the student's: the excess loss of the student if the population is that of the truth.
  double excess_loss(const FactoredAttention& truth, const FactoredAttention& student) const;

 private:
  struct Site {
    Sequences contexts;       ///< n x L; the masked site's own entry means nothing
    Eigen::MatrixXd weights;  ///< P(context, s_i = a)/L, @shape{C x n}
  };
  /// @shape{C x n}
  Eigen::MatrixXd log_conditionals(const FactoredAttention& student, Eigen::Index site) const;

  Eigen::Index colours_;
  std::vector<Site> sites_;
};

struct [[nodiscard]] FactoredFlow {
  std::vector<FactoredAttention> students;  ///< at the times reached
  OdeResult solution;                       ///< how the integration ended
};

/// @param population states with their probabilities
/// @param times      ascending, the first one is that of `start`
FactoredFlow factored_flow(const FactoredAttention& start,
                           const WeightedSequences& population,
                           std::span<const double> times);

/// @brief The linear early stage.
struct EarlyGrowth {
  double singular_value = 0;       ///< sigma_1, the largest
  Eigen::MatrixXd attention_mode;  ///< u_1, @shape{L x L}
  Eigen::MatrixXd value_mode;      ///< v_1, @shape{C x C}
};
EarlyGrowth early_growth(const WeightedSequences& population, Eigen::Index colours);

/// @brief The sign of a singular pair is free: takes the one for which the overlap of `start` grows
/// to positive values.
void orient(EarlyGrowth& growth, const FactoredAttention& start);

/// @brief <u_1, A(t)> by the cosh law.
double early_overlap(const EarlyGrowth& growth, const FactoredAttention& start, double time);
/// @brief <u_1, A> of a student.
double leading_overlap(const EarlyGrowth& growth, const FactoredAttention& student);

/// @brief E[excess loss] of the maximum-pseudo-likelihood estimate is `trace` / (2M) + O(M^(-3/2)).
struct LearningTail {
  double trace = 0;       ///< tr(H^+ K), averaged over sites as the loss is
  Eigen::Index rank = 0;  ///< identifiable parameters
  /// Smallest non-zero eigenvalue of H: near the truth gradient flow forgets the least visible
  /// direction of the couplings as exp(-least_curvature t). Factored attention only.
  double least_curvature = 0;
};

/// @brief Factored attention on data of the model itself: H the Hessian of the population loss at
/// the truth, K the covariance of one sequence's gradient, H^+ on the range of H.
/// @param population states of the model with their probabilities
LearningTail factored_tail(const PottsModel& model, const WeightedSequences& population);

/// @brief A free coupling matrix for every ordered pair of sites: each site is a well-specified
/// regression with d = (C-1)(1 + (L-1)(C-1)) parameters, so that the trace is d.
LearningTail general_tail(Eigen::Index sites, Eigen::Index colours);

/// @brief How unevenly sequences inform free coupling matrices: E q²/(E q)² of q = gᵀK⁻¹g, g the
/// gradient of one sequence at a site, K its covariance; the largest of the sites. 1 where all
/// inform alike; large where rare ones do, and with it the order after the leading one in 1/M.
/// Infinite where some direction is not seen within rounding.
/// @param population states of the model with their probabilities
double general_spread(const PottsModel& model, const WeightedSequences& population);

}  // namespace attica
