#pragma once
/// @file
/// @brief Gradient flow of linear attention on regression in context: the flow itself and what is
/// known of it in closed form. Time is learning rate times steps for L = (1/2) E (y - f)²; errors
/// are mean squares, 2L.
/// @source Zhang, Singh, Latham, Saxe 2025, arXiv:2501.16265; closed forms derived here

#include <Eigen/Core>
#include <functional>
#include <span>
#include <vector>

#include "attica/core/icl/key_query.hpp"

namespace attica {

/// @brief The mean square error along gradient flow, at times >= 0, rising. Steps of a learning
/// rate η follow, to order η, the flow of L + (η/4) |∇L|² (Barrett, Dherin 2021, arXiv:2009.11162).
/// @param eta η >= 0; 0: gradient flow
/// @throws Error (numerical) if the flow cannot be integrated
std::vector<double> flow_mse(const KeyQueryTask& task,
                             const KeyQueryShape& shape,
                             const Eigen::VectorXd& weights,
                             std::span<const double> times,
                             double eta = 0);

/// @brief The same in closed form for merged keys and queries, Λ a multiple of the identity and a
/// start U_h = u_h 1/√D, any number of heads.
/// @throws Error (input) naming spectrum for another Λ
double white_mse(const KeyQueryTask& task,
                 const KeyQueryShape& shape,
                 const Eigen::VectorXd& weights,
                 double time);

/// @brief Half of the way that the error falls, over what it falls along the direction Λ² alone:
/// 1/2 for equal eigenvalues; from 1 on half-way is not on that direction.
double drop_share(const KeyQueryTask& task);

/// @brief Merged, any Λ, small start: the time at which the error is half-way down,
/// ln((4S*/p² - 1) s/(1-s))/(2σ) with σ = |Λ²|_F and s = 1 - √(1 - drop_share): the logistic growth
/// along Λ², exact for equal eigenvalues. Else late, by less than 0.4 (drop_share - 1/2)/(2σ) up to
/// a share of 0.8, as other directions have begun to fall.
/// @param eta step: growth by 1 + ησ a step in place of e^{ησ}; 0: gradient flow
/// @return infinity for a start without a component that grows, or a share of 1 or more
double drop_time(const KeyQueryTask& task,
                 const KeyQueryShape& shape,
                 const Eigen::VectorXd& weights,
                 double eta = 0);

/// @brief Separate, rank 1, aligned start of scale v0: modes learn one by one, each by itself.
/// @throws Error (input) naming init_scale unless 0 < v0 < (λ_i/a_i)^{1/3} for every mode
class AlignedFlow {
 public:
  AlignedFlow(KeyQueryTask task, double scale);
  /// @brief v_i(t).
  double weight(Eigen::Index mode, double time) const;
  double mse(double time) const;
  /// @brief When the error passes half-way between plateaus m - 1 and m, m = 1..D.
  double step_time(Eigen::Index modes) const;

 private:
  KeyQueryTask task_;
  double scale_;
};

}  // namespace attica
