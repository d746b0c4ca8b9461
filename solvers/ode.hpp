#pragma once
/// @file
/// @brief Initial value problems x' = f(t, x): the one ODE solver of attica, over Boost.Odeint's
/// steppers.
///
/// Step control, output and stopping are ours: a step whose right-hand side, state or error
/// estimate is not finite is never accepted, every solve ends after a bounded number of steps, and
/// how it ended is a value.

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>

namespace attica {

/// @brief The right-hand side: writes f(t, x) into `dxdt`, which has the size of x.
using OdeRhs = std::function<void(double t, const Eigen::VectorXd& x, Eigen::VectorXd& dxdt)>;

/// @brief Writes df_i/dx_j into `jacobian` and df/dt into `dfdt`. Both come zeroed, so that only
/// the non-zero entries need to be written.
using OdeJacobian = std::function<void(
    double t, const Eigen::VectorXd& x, Eigen::MatrixXd& jacobian, Eigen::VectorXd& dfdt)>;

enum class OdeMethod {
  dopri5,       ///< explicit, order 5(4) of Dormand and Prince; output by an interpolant of order 5
  fehlberg78,   ///< explicit, order 8(7) of Fehlberg; steps end on the output times. Its error
                ///< estimate vanishes when f does not depend on x: not for plain quadrature
  rosenbrock4,  ///< for stiff problems, order 4(3), L-stable (RODAS of Hairer and Wanner); needs
                ///< the Jacobian; steps end on the output times
};

enum class OdeStatus {
  finished,        ///< all output times reached
  event,           ///< the event function changed sign; `time` and `state` are those of the event
  step_limit,      ///< max_steps used up
  step_too_small,  ///< the tolerance cannot be met with steps that still move the time: a
                   ///< singularity
  non_finite,  ///< beyond `time` the right-hand side, state or error estimate is infinite or NaN
};

struct OdeOptions {
  OdeMethod method = OdeMethod::dopri5;
  /// A step is accepted if |error_i| <= absolute + relative * max(|x_i| before, |x_i| after) for
  /// every i.
  double relative_tolerance = 1e-8;   ///< >= 0
  double absolute_tolerance = 1e-10;  ///< > 0
  double first_step = 0;              ///< 0: chosen from the derivatives at the start
  double max_step = std::numeric_limits<double>::infinity();  ///< > 0
  std::int64_t max_steps = 100000;  ///< accepted and rejected steps together
  OdeJacobian jacobian = {};        ///< needed by rosenbrock4 only
  /// Integration stops where this function of (t, x) changes sign between the ends of a step. A
  /// zero at the start does not count; two sign changes within one step go unseen.
  std::function<double(double t, const Eigen::VectorXd& x)> event = {};
  /// Called at the start and after every accepted step.
  std::function<void(double t, const Eigen::VectorXd& x)> observer = {};
};

struct [[nodiscard]] OdeResult {
  OdeStatus status = OdeStatus::finished;
  double time = 0;        ///< the last time reached
  Eigen::VectorXd state;  ///< x(time)
  Eigen::MatrixXd
      states;  ///< column k = x at output time k, for the output times reached; @shape{n x reached}
  std::int64_t accepted_steps = 0;
  std::int64_t rejected_steps = 0;
  std::int64_t rhs_evaluations = 0;

  bool finished() const { return status == OdeStatus::finished; }
};

/// @brief `finished`, `event`, `step_limit`, `step_too_small` or `non_finite`.
std::string to_string(OdeStatus status);
/// @brief One line for logs and errors: how the solve ended, at what time, after how many steps.
std::string describe(const OdeResult& result);

/// @brief Solves x' = f(t, x), x(times[0]) = x0, and returns x at the given times.
/// @param rhs the right-hand side
/// @param x0 initial state, finite
/// @param times output times, strictly increasing and finite; the first is the initial time
/// @return states and statistics; look at `status` before using them
/// @throws Error (input) for times that do not increase, tolerances or steps out of range, an x0
/// that is not
///   finite, a missing Jacobian, or a right-hand side that changes the size of dxdt. What the
///   callbacks throw passes through.
/// @source Dormand and Prince, J. Comput. Appl. Math. 6 (1980); Fehlberg, NASA TR R-287 (1968);
/// Hairer and
///   Wanner, Solving Ordinary Differential Equations I, II.4-II.6 (step control, first step), II,
///   IV.7 (RODAS)
OdeResult solve_ode(const OdeRhs& rhs,
                    const Eigen::Ref<const Eigen::VectorXd>& x0,
                    std::span<const double> times,
                    const OdeOptions& options = {});

}  // namespace attica
