#pragma once
/// @file
/// @brief The entropy bounce: attention p = softmax(gamma v^2) while the MLP weights converge,
///     v' = (mu - v) o rate,   rate = exp(gamma v^2), softmax(gamma v^2) or 1.
///
/// Attention first concentrates on the most salient components and then spreads again as the slower
/// ones catch up: H(t) falls from ln M to a minimum below its end H(softmax(gamma mu^2)). For
/// exponential and softmax rates, v(0) = 0 and mu without zeros and not all of one size, the
/// minimum always exists: at late times only the slowest component moves, it has the least
/// attention, and its growth raises H. The depth vanishes quickly as gamma -> 0. With a uniform
/// rate H falls monotonically. Source: Tian et al. 2023 (arXiv:2310.00535), section 4 and Fig. 4.

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "attica/solvers/ode.hpp"

namespace attica {

enum class BounceKind {
  exponential,  ///< exponential attention
  softmax,      ///< softmax attention: the orbits of `exponential` at another pace
  none,         ///< no attention
};

/// @brief The problem of one gamma.
struct Bounce {
  std::vector<double> mu;          ///< fixed points; finite
  std::vector<double> start = {};  ///< v(0) of each component; empty: 0
  double gamma = 0.5;              ///< >= 0
  BounceKind kind = BounceKind::exponential;
};

/// @brief Throws Error (input) naming `model.mu`, `model.v0` or `gamma`.
void validate(const Bounce& bounce);

/// @brief v(0), an entry for each component.
Eigen::VectorXd bounce_start(const Bounce& bounce);

/// @brief H of softmax(gamma v^2), nats.
double bounce_entropy(const Eigen::VectorXd& v, double gamma);

/// Solution at the output times that were reached.
struct BounceCurve {
  OdeStatus status = OdeStatus::finished;
  std::vector<Eigen::VectorXd> values;
  std::vector<double> entropy;
};

/// @brief v and H at times >= 0, strictly increasing. Integrated in u_j = ln|delta_j(0)/delta_j|,
/// u_j' = rate_j, which is never stiff, by a clock in which every component takes its turn.
BounceCurve bounce_curve(const Bounce& bounce, std::span<const double> times);

/// Descent with whole steps, and how well it is known.
struct BounceSteps {
  OdeStatus status = OdeStatus::finished;
  std::vector<double> entropy;  ///< after the steps that were reached
  std::vector<double> order;    ///< what the order η² changed there: more than what is left out
};

/// @brief H after steps of descent v + η v'(v), to second order in the learning rate: the flow of
/// the modified equation, v' = f - (η/2) f'f + η² (f'f'f/3 + f''(f, f)/12).
/// @param steps >= 0, strictly increasing
/// @source Hairer, Lubich and Wanner, Geometric Numerical Integration (2006), section IX.1
BounceSteps bounce_steps(const Bounce& bounce, double eta, std::span<const std::int64_t> steps);

/// @brief v at those times (the first 0), integrated in v itself with its Jacobian by a stiff
/// solver: the independent route, to about 1e-9. Where gamma mu^2 is beyond 36 a rounding error of
/// mu - v is fast, and the status may say that steps became too small.
OdeResult bounce_direct(const Bounce& bounce, std::span<const double> times);

/// The deepest interior minimum of H.
struct BounceMinimum {
  double time = 0;
  double entropy = 0;
  Eigen::VectorXd v;
};

struct BounceSummary {
  OdeStatus status = OdeStatus::event;  ///< event: integrated until every component has converged
  double start_entropy = 0;
  double final_entropy = 0;
  std::optional<BounceMinimum> minimum;  ///< empty: H is monotone, or never below its end

  double depth() const { return minimum ? final_entropy - minimum->entropy : 0; }
};

/// @brief Finds the minimum as a sign change of dH/dt,
///     dH/dt = -sum_j p_j (theta_j - <theta>) theta_j',   theta = gamma v^2.
BounceSummary bounce_summary(const Bounce& bounce);

}  // namespace attica
