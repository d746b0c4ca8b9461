#include "attica/solvers/ode.hpp"

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <boost/math/tools/toms748_solve.hpp>
#include <boost/numeric/odeint/external/eigen/eigen_algebra.hpp>
#include <boost/numeric/odeint/external/eigen/eigen_resize.hpp>
#include <boost/numeric/odeint/stepper/rosenbrock4.hpp>
#include <boost/numeric/odeint/stepper/runge_kutta_dopri5.hpp>
#include <boost/numeric/odeint/stepper/runge_kutta_fehlberg78.hpp>
#include <cmath>
#include <utility>

#include "attica/core/error.hpp"
#include "attica/solvers/dop853.hpp"
#include "attica/solvers/ode_order8.hpp"

namespace attica {
namespace {

namespace odeint = boost::numeric::odeint;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kRoundOff = std::numeric_limits<double>::epsilon();
constexpr double kEventTolerance = 1e-12;  // in time

// Vectorised, unlike Eigen's allFinite: 0 * inf and 0 * NaN are NaN.
bool all_finite(const Eigen::Ref<const VectorXd>& x) {
  constexpr Eigen::Index kFew = 8;
  if (x.size() > kFew) return (0.0 * x.array()).sum() == 0.0;
  double zero = 0;
  for (Eigen::Index i = 0; i < x.size(); ++i) zero += 0.0 * x[i];
  return zero == 0.0;
}

// The caller's right-hand side as odeint calls it, counting calls and watching for non-finite
// values. Steppers copy their system: pass std::ref.
struct System {
  const OdeRhs& rhs;
  std::int64_t evaluations = 0;
  bool finite = true;

  void operator()(const VectorXd& x, VectorXd& dxdt, double t) {
    rhs(t, x, dxdt);
    ++evaluations;
    require(dxdt.size() == x.size(),
            "dxdt",
            static_cast<double>(dxdt.size()),
            "the right-hand side to keep the size of the state");
    finite = finite && all_finite(dxdt);
  }
};

// A trial step goes from (x, dxdt) at t to x_new, with an estimate of its error. The steppers below
// add how.
struct Trial {
  VectorXd x, dxdt, x_new, error;

  Trial(const VectorXd& x0, System& system, double t)
      : x(x0), dxdt(x0.size()), x_new(x0.size()), error(x0.size()) {
    dxdt.setZero();
    system(x, dxdt, t);
  }
};

struct Dopri5 : Trial {
  static constexpr double kErrorOrder = 5;  // the error estimate is O(h^5)
  static constexpr bool kInterpolates = true;
  // The algebra is named because odeint's default for types with begin() and end() is wrong for
  // Eigen.
  odeint::runge_kutta_dopri5<VectorXd, double, VectorXd, double, odeint::vector_space_algebra>
      stepper;
  VectorXd dxdt_new, a, b;

  Dopri5(const VectorXd& x0, System& system, double t)
      : Trial(x0, system, t), dxdt_new(x0.size()), a(x0.size()), b(x0.size()) {}
  void step(System& system, double t, double h) {
    stepper.do_step(std::ref(system), x, dxdt, t, x_new, dxdt_new, h, error);
  }
  // Inside the step just tried, at t + theta h, odeint's continuous extension q is of order 4 only:
  // where steps are long its error is far above the tolerance. Two derivatives taken on q raise it
  // to order 5 (Enright, Jackson, Norsett and Thomsen 1986): the polynomial of degree 5 with x and
  // x' right at both ends and x' = f(q) at theta = 1/3 and 2/3. With Delta = x_new - x and the
  // cubic Hermite polynomial H it is
  //   p = H + theta^2 (1 - theta)^2 (a + b theta),   h f - H' = r_1, r_2 at the two points,
  //   b = (81/4) (r_1 + r_2),   a = (27/4) r_1 - (2/3) b.
  void prepare_interpolation(System& system, double t, double h) {
    const double first = t + h / 3, second = t + 2 * h / 3;
    stepper.calc_state(first, error, x, dxdt, t, x_new, dxdt_new, t + h);
    system(error, a, first);
    stepper.calc_state(second, error, x, dxdt, t, x_new, dxdt_new, t + h);
    system(error, b, second);
    a = h * a - (4.0 / 3) * (x_new - x) + (h / 3) * dxdt_new;
    b = (81.0 / 4) * (a + h * b - (4.0 / 3) * (x_new - x) + (h / 3) * dxdt);
    a = (27.0 / 4) * a - (2.0 / 3) * b;
  }
  void interpolate(double theta, double h, Eigen::Ref<VectorXd> out) const {
    const double rest = 1 - theta, square = theta * theta, bubble = square * rest * rest;
    out = x + square * (3 - 2 * theta) * (x_new - x) + (h * theta * rest * rest) * dxdt -
          (h * square * rest) * dxdt_new + bubble * a + (bubble * theta) * b;
  }
  void accept(System&, double) {
    x.swap(x_new);
    dxdt.swap(dxdt_new);
  }
};

// Order 8, with error estimates of order 5 and 3 together, and an interpolant of order 7. Written
// out for each stage: of few states the sums take as long as the right-hand side.
struct Dop853 : Trial {
  static constexpr double kErrorOrder = 8;
  static constexpr bool kInterpolates = true;
  VectorXd dxdt_new;
  std::array<VectorXd, dop853::kAll> k;  // derivatives of the stages
  MatrixXd q;                            // coefficients of the interpolant

  Dop853(const VectorXd& x0, System& system, double t)
      : Trial(x0, system, t), dxdt_new(x0.size()), q(x0.size(), 7) {
    k.fill(VectorXd::Zero(x0.size()));
  }
  template <std::size_t kRow>
  struct A {
    static constexpr const double* kWeights = dop853::kA[kRow];
  };
  template <std::size_t kRow>
  struct D {
    static constexpr const double* kWeights = dop853::kD[kRow];
  };
  struct Third {
    static constexpr const double* kWeights = dop853::kThird;
  };
  struct Fifth {
    static constexpr const double* kWeights = dop853::kFifth;
  };
  // The derivatives of the first stages with weights, of number i; without those of weight 0.
  template <class Row, std::size_t... J>
  static double sum(const double* const* slopes, Eigen::Index i, std::index_sequence<J...>) {
    double total = 0;
    ((Row::kWeights[J] != 0 ? void(total += Row::kWeights[J] * slopes[J][i]) : void()), ...);
    return total;
  }
  template <class Row, std::size_t kCount>
  static double sum(const double* const* slopes, Eigen::Index i) {
    return sum<Row>(slopes, i, std::make_index_sequence<kCount>());
  }
  std::array<const double*, dop853::kAll> slopes() const {
    std::array<const double*, dop853::kAll> all;
    for (std::size_t s = 0; s < k.size(); ++s) all[s] = k[s].data();
    return all;
  }
  template <std::size_t kS>
  void stage(System& system, VectorXd& at, double t, double h) {
    const auto all = slopes();
    for (Eigen::Index i = 0; i < x.size(); ++i) at[i] = x[i] + h * sum<A<kS>, kS>(all.data(), i);
    system(at, k[kS], t + dop853::kC[kS] * h);
  }
  template <std::size_t... S>
  void stages(System& system, double t, double h, std::index_sequence<S...>) {
    (stage<S + 1>(system, x_new, t, h), ...);
  }
  void step(System& system, double t, double h) {
    using namespace dop853;
    k[0] = dxdt;
    stages(system, t, h, std::make_index_sequence<kStages - 1>());
    // Together h fifth^2 / max(|fifth|, |third| / 10): of order h^8.
    constexpr double kTiny = std::numeric_limits<double>::min(), kThirdPart = 0.1;
    const auto all = slopes();
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      const double fifth = sum<Fifth, kStages>(all.data(), i);
      const double third = std::abs(sum<Third, kStages>(all.data(), i));
      error[i] =
          fifth * (h * (std::abs(fifth) / std::max({std::abs(fifth), kThirdPart * third, kTiny})));
      x_new[i] = x[i] + h * sum<A<kStages>, kStages>(all.data(), i);
    }
    system(x_new, dxdt_new, t + h);
  }
  void prepare_interpolation(System& system, double t, double h) {
    using namespace dop853;
    k[kStages] = dxdt_new;
    stage<kStages + 1>(system, error, t, h);
    stage<kStages + 2>(system, error, t, h);
    stage<kStages + 3>(system, error, t, h);
    const auto all = slopes();
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      q(i, 0) = x_new[i] - x[i];
      q(i, 1) = h * dxdt[i] - q(i, 0);
      q(i, 2) = 2 * q(i, 0) - h * (dxdt_new[i] + dxdt[i]);
      q(i, 3) = h * sum<D<0>, kAll>(all.data(), i);
      q(i, 4) = h * sum<D<1>, kAll>(all.data(), i);
      q(i, 5) = h * sum<D<2>, kAll>(all.data(), i);
      q(i, 6) = h * sum<D<3>, kAll>(all.data(), i);
    }
  }
  void interpolate(double theta, double, Eigen::Ref<VectorXd> out) const {
    const double rest = 1 - theta;
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      double value = q(i, 6);
      for (int c = 5; c >= 0; --c) value = q(i, c) + (c % 2 == 0 ? rest : theta) * value;
      out[i] = x[i] + theta * value;
    }
  }
  void accept(System&, double) {
    x.swap(x_new);
    dxdt.swap(dxdt_new);
  }
};

struct Fehlberg78 : Trial {
  static constexpr double kErrorOrder = 8;
  static constexpr bool kInterpolates = false;
  odeint::runge_kutta_fehlberg78<VectorXd, double, VectorXd, double, odeint::vector_space_algebra>
      stepper;

  using Trial::Trial;
  void step(System& system, double t, double h) {
    stepper.do_step(std::ref(system), x, dxdt, t, x_new, h, error);
  }
  void accept(System& system, double t) {
    x.swap(x_new);
    system(x, dxdt, t);
  }
};

// odeint's own rosenbrock4 works on uBLAS; here its coefficients meet Eigen's LU decomposition. In
// the scaled stages g_i of Hairer and Wanner, with W = 1/(gamma h) - J:
//   W g_i = f(t + c_i h, x + sum_j a_ij g_j) + h d_i df/dt + sum_j (c_ij / h) g_j,
// the last two stages at t + h: x_5 = x + sum_j a_5j g_j, x_6 = x_5 + g_5, and x_new = x_6 + g_6,
// error = g_6.
struct Rosenbrock4 : Trial {
  static constexpr double kErrorOrder = 4;
  static constexpr bool kInterpolates = false;
  const OdeJacobian& jacobian_function;
  odeint::default_rosenbrock_coefficients<double> c;
  MatrixXd jacobian, w;
  VectorXd dfdt, f, g1, g2, g3, g4, g5;
  Eigen::PartialPivLU<MatrixXd> lu;
  // t as one more component of an autonomous system makes d_i = gamma (1 + sum_j c_ij d_j).
  // Boost 1.74 holds d_4 with the wrong sign, which costs three orders whenever f depends on t.
  const double d4 = c.gamma * (1 + c.c41 * c.d1 + c.c42 * c.d2 + c.c43 * c.d3);

  Rosenbrock4(const VectorXd& x0, System& system, double t, const OdeJacobian& jacobian_in)
      : Trial(x0, system, t), jacobian_function(jacobian_in), f(x0.size()), lu(x0.size()) {
    evaluate_jacobian(system, t);
  }
  void evaluate_jacobian(System& system, double t) {
    jacobian.setZero(x.size(), x.size());
    dfdt.setZero(x.size());
    jacobian_function(t, x, jacobian, dfdt);
    require(jacobian.rows() == x.size() && jacobian.cols() == x.size(),
            "jacobian",
            static_cast<double>(jacobian.rows()),
            "a square matrix of the size of the state");
    system.finite = system.finite && jacobian.allFinite() && all_finite(dfdt);
  }
  void step(System& system, double t, double h) {
    w = -jacobian;
    w.diagonal().array() += 1 / (c.gamma * h);
    lu.compute(w);
    g1 = lu.solve(dxdt + h * c.d1 * dfdt);
    x_new = x + c.a21 * g1;
    system(x_new, f, t + c.c2 * h);
    g2 = lu.solve(f + h * c.d2 * dfdt + c.c21 / h * g1);
    x_new = x + c.a31 * g1 + c.a32 * g2;
    system(x_new, f, t + c.c3 * h);
    g3 = lu.solve(f + h * c.d3 * dfdt + (c.c31 * g1 + c.c32 * g2) / h);
    x_new = x + c.a41 * g1 + c.a42 * g2 + c.a43 * g3;
    system(x_new, f, t + c.c4 * h);
    g4 = lu.solve(f + h * d4 * dfdt + (c.c41 * g1 + c.c42 * g2 + c.c43 * g3) / h);
    x_new = x + c.a51 * g1 + c.a52 * g2 + c.a53 * g3 + c.a54 * g4;
    system(x_new, f, t + h);
    g5 = lu.solve(f + (c.c51 * g1 + c.c52 * g2 + c.c53 * g3 + c.c54 * g4) / h);
    x_new += g5;
    system(x_new, f, t + h);
    error = lu.solve(f + (c.c61 * g1 + c.c62 * g2 + c.c63 * g3 + c.c64 * g4 + c.c65 * g5) / h);
    x_new += error;
  }
  void accept(System& system, double t) {
    x.swap(x_new);
    system(x, dxdt, t);
    evaluate_jacobian(system, t);
  }
};

double scaled_norm(const VectorXd& v,
                   const VectorXd& x,
                   const VectorXd& x_new,
                   const OdeOptions& o) {
  return (v.array().abs() /
          (o.absolute_tolerance + o.relative_tolerance * x.array().abs().max(x_new.array().abs())))
      .maxCoeff();
}

// Hairer, Norsett and Wanner I, II.4: a step whose Euler error is a hundredth of the tolerance,
// from the sizes of x, x' and x''.
template <class Stepper>
double first_step(Stepper& s, System& system, double t, double span, const OdeOptions& o) {
  constexpr double kTiny = 1e-5, kFraction = 0.01;
  const double size = scaled_norm(s.x, s.x, s.x, o);
  const double slope = scaled_norm(s.dxdt, s.x, s.x, o);
  const double euler =
      std::min(span, size < kTiny || slope < kTiny ? 1e-6 * span : kFraction * size / slope);
  s.x_new = s.x + euler * s.dxdt;
  system(s.x_new, s.error, t + euler);
  const bool finite = std::exchange(system.finite, true);
  if (!finite) return euler * kFraction;
  s.error -= s.dxdt;
  const double curvature = scaled_norm(s.error, s.x, s.x, o) / euler;
  const double largest = std::max(slope, curvature);
  const double h = largest <= 1e-15 ? std::max(1e-6 * span, 1e-3 * euler)
                                    : std::pow(kFraction / largest, 1 / Stepper::kErrorOrder);
  return std::min({100 * euler, h, span});
}

// Proportional-integral step control (Hairer and Wanner II, IV.2): smoother than the elementary
// rule where stability and not accuracy limits the step.
class StepControl {
 public:
  explicit StepControl(double error_order) : order_(error_order) {}

  double after_acceptance(double h, double error) {
    const double bounded = std::max(error, kSmallestError);
    double factor = kSafety * std::pow(bounded, -1 / order_ + 0.75 * kIntegral) *
                    std::pow(last_error_, kIntegral);
    factor = std::clamp(factor, kLeastFactor, rejected_ ? 1.0 : kLargestFactor);
    last_error_ = bounded;
    rejected_ = false;
    return h * factor;
  }
  double after_rejection(double h, double error) {
    rejected_ = true;
    return h * std::max(kLeastFactor, kSafety * std::pow(error, -1 / order_));
  }

 private:
  static constexpr double kSafety = 0.9, kIntegral = 0.04, kSmallestError = 1e-4;
  static constexpr double kLeastFactor = 0.2, kLargestFactor = 10;
  double order_;
  double last_error_ = kSmallestError;
  bool rejected_ = false;
};

// The length of the step from t at whose end the event function vanishes, found by taking that step
// anew: exact to the stepper's own accuracy, and no continuous extension is needed. `event` has the
// signs of `before` at t and of `after` at t + h.
template <class Stepper>
double event_step(Stepper& s,
                  System& system,
                  double t,
                  double h,
                  double before,
                  double after,
                  const OdeOptions& o) {
  const auto value = [&](double length) {
    s.step(system, t, length);
    return o.event(t + length, s.x_new);
  };
  const double tolerance = std::max(kEventTolerance, 4 * kRoundOff * std::abs(t));
  const auto close = [&](double a, double b) { return std::abs(b - a) <= tolerance; };
  std::uintmax_t iterations = 200;  // bisection alone would need 50
  const auto [low, high] =
      boost::math::tools::toms748_solve(value, 0.0, h, before, after, close, iterations);
  return 0.5 * (low + high);
}

template <class Stepper>
OdeResult integrate(Stepper s, System& system, std::span<const double> times, const OdeOptions& o) {
  OdeResult result;
  const double span = times.back() - times.front();
  double t = times.front();
  std::size_t next = 1;  // first output time not yet reached
  result.states.resize(s.x.size(), static_cast<Eigen::Index>(times.size()));
  result.states.col(0) = s.x;
  const auto column = [&](std::size_t k) {
    return result.states.col(static_cast<Eigen::Index>(k));
  };
  const auto stop = [&](OdeStatus status) {
    result.status = status;
    result.time = t;
    result.state = std::move(s.x);
    result.states.conservativeResize(Eigen::NoChange, static_cast<Eigen::Index>(next));
    result.rhs_evaluations = system.evaluations;
    return std::move(result);
  };
  if (!system.finite) return stop(OdeStatus::non_finite);
  if (o.observer) o.observer(t, s.x);
  double event_value = o.event ? o.event(t, s.x) : 0;

  StepControl control(Stepper::kErrorOrder);
  double proposed =
      o.first_step > 0 || times.size() == 1 ? o.first_step : first_step(s, system, t, span, o);
  bool last_finite = true;
  while (next < times.size()) {
    // A little stretching avoids a tiny step before the end.
    constexpr double kStretch = 1.001;
    proposed = std::min(proposed, o.max_step);
    const double target = Stepper::kInterpolates ? times.back() : times[next];
    const bool lands = t + kStretch * proposed >= target;
    const double h = lands ? target - t : proposed;
    if (proposed <= 4 * kRoundOff * std::max(std::abs(t), kRoundOff * span)) {
      return stop(last_finite ? OdeStatus::step_too_small : OdeStatus::non_finite);
    }
    if (result.accepted_steps + result.rejected_steps == o.max_steps)
      return stop(OdeStatus::step_limit);

    s.step(system, t, h);
    last_finite = system.finite && all_finite(s.x_new) && all_finite(s.error);
    const double error = last_finite ? scaled_norm(s.error, s.x, s.x_new, o) : 0;
    double end = lands ? target : t + h;
    double length = h;  // shorter than h if an event ends the step
    bool at_event = false;
    if (last_finite && error <= 1) {
      if (o.event) {
        const double after = o.event(end, s.x_new);
        at_event = event_value * after < 0 || (after == 0 && event_value != 0);
        if (at_event && after != 0) {
          length = event_step(s, system, t, h, event_value, after, o);
          end = t + length;
          s.step(system, t, length);
        }
        last_finite = std::isfinite(after);
        if (last_finite) event_value = after;
      }
      if constexpr (Stepper::kInterpolates) {
        if (times[next] < end) s.prepare_interpolation(system, t, length);
      }
      last_finite = last_finite && system.finite;
    }
    if (!last_finite || error > 1) {
      constexpr double kRetreat = 0.25;
      proposed = last_finite ? control.after_rejection(h, error) : kRetreat * h;
      system.finite = true;
      ++result.rejected_steps;
      continue;
    }

    const double following = control.after_acceptance(h, error);
    proposed = lands ? std::max(proposed, following) : following;
    for (; next < times.size() && times[next] <= end; ++next) {
      if constexpr (Stepper::kInterpolates) {
        if (times[next] < end) {
          s.interpolate((times[next] - t) / length, length, column(next));
          continue;
        }
      }
      column(next) = s.x_new;
    }
    s.accept(system, end);
    t = end;
    ++result.accepted_steps;
    if (o.observer) o.observer(t, s.x);
    if (at_event) return stop(OdeStatus::event);
    if (!system.finite) return stop(OdeStatus::non_finite);
  }
  return stop(OdeStatus::finished);
}

void check(const Eigen::Ref<const VectorXd>& x0,
           std::span<const double> times,
           const OdeOptions& o) {
  require(x0.size() > 0, "x0", 0, "at least one component");
  if (!all_finite(x0)) {
    Eigen::Index bad = 0;
    while (std::isfinite(x0[bad])) ++bad;
    throw invalid_parameter(fmt::format("x0[{}]", bad), x0[bad], "a finite number");
  }
  require(!times.empty(), "times", 0, "at least the initial time");
  for (std::size_t k = 0; k < times.size(); ++k) {
    if (!std::isfinite(times[k]) || (k > 0 && times[k] <= times[k - 1])) {
      throw invalid_parameter(
          fmt::format("times[{}]", k), times[k], "finite, strictly increasing output times");
    }
  }
  require(o.absolute_tolerance > 0, "absolute_tolerance", o.absolute_tolerance, "> 0");
  require(o.relative_tolerance >= 0, "relative_tolerance", o.relative_tolerance, ">= 0");
  require(o.first_step >= 0 && std::isfinite(o.first_step),
          "first_step",
          o.first_step,
          ">= 0 and finite");
  require(o.max_step > 0, "max_step", o.max_step, "> 0");
  require(o.max_steps > 0, "max_steps", static_cast<double>(o.max_steps), "> 0");
}

}  // namespace

std::string to_string(OdeStatus status) {
  switch (status) {
    case OdeStatus::finished:
      return "finished";
    case OdeStatus::event:
      return "event";
    case OdeStatus::step_limit:
      return "step_limit";
    case OdeStatus::step_too_small:
      return "step_too_small";
    case OdeStatus::non_finite:
      return "non_finite";
  }
  return "unknown";
}

std::string describe(const OdeResult& result) {
  return fmt::format("{} at time {} after {} accepted and {} rejected steps",
                     to_string(result.status),
                     result.time,
                     result.accepted_steps,
                     result.rejected_steps);
}

OdeResult solve_ode(const OdeRhs& rhs,
                    const Eigen::Ref<const VectorXd>& x0,
                    std::span<const double> times,
                    const OdeOptions& options) {
  check(x0, times, options);
  if (options.method == OdeMethod::rosenbrock4 && !options.jacobian) {
    throw invalid_parameter(
        "jacobian", "none", "the Jacobian of the right-hand side, for rosenbrock4");
  }
  System system{rhs};
  const double start = times.front();
  switch (options.method) {
    case OdeMethod::dopri5:
      return integrate(Dopri5(x0, system, start), system, times, options);
    case OdeMethod::fehlberg78:
      return integrate(Fehlberg78(x0, system, start), system, times, options);
    case OdeMethod::rosenbrock4:
      return integrate(Rosenbrock4(x0, system, start, options.jacobian), system, times, options);
  }
  throw invalid_parameter("method", static_cast<double>(options.method), "a method of OdeMethod");
}

OdeResult solve_ode_order8(const OdeRhs& rhs,
                           const Eigen::Ref<const VectorXd>& x0,
                           std::span<const double> times,
                           const OdeOptions& options) {
  check(x0, times, options);
  System system{rhs};
  return integrate(Dop853(x0, system, times.front()), system, times, options);
}

}  // namespace attica
