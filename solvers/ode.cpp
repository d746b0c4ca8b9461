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
#include <optional>
#include <utility>

#include "attica/core/error.hpp"
#include "attica/solvers/dop853.hpp"
#include "attica/solvers/ode_order8.hpp"

namespace attica {
namespace {

namespace odeint = boost::numeric::odeint;
using Eigen::Array2d;
using Eigen::Array2Xd;
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

// Sums of the method of order 8, of numbers (V = double) or of pairs of numbers, of which each has
// a step length of its own. Written out for each stage: of few states the sums take as long as the
// right-hand side.
template <class V>
struct Order8 {
  using Slopes = std::array<const V*, dop853::kAll>;  // derivatives of the stages

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
  static V sum(const Slopes& slopes, Eigen::Index i, std::index_sequence<J...>) {
    V total = V(slopes[0][i]) * Row::kWeights[0];
    ((J > 0 && Row::kWeights[J] != 0 ? void(total += Row::kWeights[J] * slopes[J][i]) : void()),
     ...);
    return total;
  }
  template <class Row, std::size_t kCount>
  static V sum(const Slopes& slopes, Eigen::Index i) {
    return sum<Row>(slopes, i, std::make_index_sequence<kCount>());
  }

  /// Where stage kS of a step of length h from x is evaluated; x_new for kS = 12.
  template <std::size_t kS>
  static void stage(V* at, const V* x, const Slopes& slopes, const V& h, Eigen::Index n) {
    for (Eigen::Index i = 0; i < n; ++i) at[i] = x[i] + h * sum<A<kS>, kS>(slopes, i);
  }
  /// Together h fifth^2 / max(|fifth|, |third| / 10): of order h^8.
  static void error(V* error, const Slopes& slopes, const V& h, Eigen::Index n) {
    using dop853::kStages;
    constexpr double kTiny = std::numeric_limits<double>::min(), kThirdPart = 0.1;
    for (Eigen::Index i = 0; i < n; ++i) {
      const V fifth = sum<Fifth, kStages>(slopes, i), size = absolute(fifth);
      const V third = absolute(sum<Third, kStages>(slopes, i));
      error[i] = fifth * (h * (size / larger(larger(size, kThirdPart * third), kTiny)));
    }
  }
  /// Coefficients of the interpolant: those of a power next to each other.
  static void interpolant(
      V* q, const V* x, const V* x_new, const Slopes& slopes, const V& h, Eigen::Index n) {
    using namespace dop853;
    for (Eigen::Index i = 0; i < n; ++i) {
      const V change = x_new[i] - x[i], begin = slopes[0][i], end = slopes[kStages][i];
      q[i] = change;
      q[n + i] = h * begin - change;
      q[2 * n + i] = 2 * change - h * (end + begin);
      q[3 * n + i] = h * sum<D<0>, kAll>(slopes, i);
      q[4 * n + i] = h * sum<D<1>, kAll>(slopes, i);
      q[5 * n + i] = h * sum<D<2>, kAll>(slopes, i);
      q[6 * n + i] = h * sum<D<3>, kAll>(slopes, i);
    }
  }

 private:
  static double absolute(double v) { return std::abs(v); }
  static double larger(double a, double b) { return std::max(a, b); }
  static Array2d absolute(const Array2d& v) { return v.abs(); }
  static Array2d larger(const Array2d& a, const Array2d& b) { return a.max(b); }
  static Array2d larger(const Array2d& a, double b) { return a.max(b); }
};

constexpr int kPowers = 7;  // of the interpolant of order 8

// The interpolant at theta = (t - start of the step)/(its length); coefficients of the powers at
// distances of `apart`.
double interpolated(double x, double theta, const double* q, Eigen::Index apart) {
  const double rest = 1 - theta;
  double value = q[6 * apart];
  for (int c = 5; c >= 0; --c) value = q[c * apart] + (c % 2 == 0 ? rest : theta) * value;
  return x + theta * value;
}

// Order 8, with error estimates of order 5 and 3 together, and an interpolant of order 7.
struct Dop853 : Trial {
  static constexpr double kErrorOrder = 8;
  static constexpr bool kInterpolates = true;
  using Sums = Order8<double>;
  VectorXd dxdt_new;
  std::array<VectorXd, dop853::kAll> k;
  VectorXd q;  // coefficients of the interpolant

  Dop853(const VectorXd& x0, System& system, double t)
      : Trial(x0, system, t), dxdt_new(x0.size()), q(x0.size() * kPowers) {
    k.fill(VectorXd::Zero(x0.size()));
  }
  Sums::Slopes slopes() const {
    Sums::Slopes all;
    for (std::size_t s = 0; s < k.size(); ++s) all[s] = k[s].data();
    return all;
  }
  template <std::size_t kS>
  void stage(System& system, VectorXd& at, double t, double h) {
    Sums::stage<kS>(at.data(), x.data(), slopes(), h, x.size());
    system(at, k[kS], t + dop853::kC[kS] * h);
  }
  template <std::size_t... S>
  void stages(System& system, double t, double h, std::index_sequence<S...>) {
    (stage<S + 1>(system, x_new, t, h), ...);
  }
  void step(System& system, double t, double h) {
    using dop853::kStages;
    k[0] = dxdt;
    stages(system, t, h, std::make_index_sequence<kStages - 1>());
    Sums::error(error.data(), slopes(), h, x.size());
    Sums::stage<kStages>(x_new.data(), x.data(), slopes(), h, x.size());
    system(x_new, dxdt_new, t + h);
  }
  void prepare_interpolation(System& system, double t, double h) {
    using dop853::kStages;
    k[kStages] = dxdt_new;
    stage<kStages + 1>(system, error, t, h);
    stage<kStages + 2>(system, error, t, h);
    stage<kStages + 3>(system, error, t, h);
    Sums::interpolant(q.data(), x.data(), x_new.data(), slopes(), h, x.size());
  }
  void interpolate(double theta, double, Eigen::Ref<VectorXd> out) const {
    for (Eigen::Index i = 0; i < x.size(); ++i)
      out[i] = interpolated(x[i], theta, q.data() + i, x.size());
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
constexpr double kEulerError = 0.01;

// The length of the step of Euler's method whose end shows x''.
double euler_length(double size, double slope, double span) {
  constexpr double kTiny = 1e-5;
  return std::min(span, size < kTiny || slope < kTiny ? 1e-6 * span : kEulerError * size / slope);
}

double first_length(double slope, double curvature, double euler, double span, double error_order) {
  const double largest = std::max(slope, curvature);
  const double h = largest <= 1e-15 ? std::max(1e-6 * span, 1e-3 * euler)
                                    : std::pow(kEulerError / largest, 1 / error_order);
  return std::min({100 * euler, h, span});
}

template <class Stepper>
double first_step(Stepper& s, System& system, double t, double span, const OdeOptions& o) {
  const double slope = scaled_norm(s.dxdt, s.x, s.x, o);
  const double euler = euler_length(scaled_norm(s.x, s.x, s.x, o), slope, span);
  s.x_new = s.x + euler * s.dxdt;
  system(s.x_new, s.error, t + euler);
  const bool finite = std::exchange(system.finite, true);
  if (!finite) return euler * kEulerError;
  s.error -= s.dxdt;
  const double curvature = scaled_norm(s.error, s.x, s.x, o) / euler;
  return first_length(slope, curvature, euler, span, Stepper::kErrorOrder);
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

// Where a solution stands between two trial steps, and how long the next one is.
struct Progress {
  double t;
  double span;  // from the first output time to the last one
  double proposed;
  StepControl control;
  std::size_t next = 1;  // first output time not yet reached
  std::int64_t accepted = 0;
  std::int64_t rejected = 0;
  bool last_finite = true;
  double h = 0;        // of the trial
  double end = 0;      // of the trial, a time
  bool lands = false;  // there the target is reached

  Progress(std::span<const double> times, double first, double error_order)
      : t(times.front()),
        span(times.back() - times.front()),
        proposed(first),
        control(error_order) {}

  // Sets what the trial is; a status where there can be none.
  std::optional<OdeStatus> try_towards(double target, const OdeOptions& o) {
    // A little stretching avoids a tiny step before the end.
    constexpr double kStretch = 1.001;
    proposed = std::min(proposed, o.max_step);
    lands = t + kStretch * proposed >= target;
    h = lands ? target - t : proposed;
    end = lands ? target : t + h;
    if (proposed <= 4 * kRoundOff * std::max(std::abs(t), kRoundOff * span))
      return last_finite ? OdeStatus::step_too_small : OdeStatus::non_finite;
    if (accepted + rejected == o.max_steps) return OdeStatus::step_limit;
    return std::nullopt;
  }
  void reject(double error) {
    constexpr double kRetreat = 0.25;
    proposed = last_finite ? control.after_rejection(h, error) : kRetreat * h;
    ++rejected;
  }
  // The step ends at `end`; the next one is proposed.
  void accept(double error) {
    const double following = control.after_acceptance(h, error);
    proposed = lands ? std::max(proposed, following) : following;
    t = end;
    ++accepted;
  }
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
  Progress at(times, o.first_step, Stepper::kErrorOrder);
  result.states.resize(s.x.size(), static_cast<Eigen::Index>(times.size()));
  result.states.col(0) = s.x;
  const auto column = [&](std::size_t k) {
    return result.states.col(static_cast<Eigen::Index>(k));
  };
  const auto stop = [&](OdeStatus status) {
    result.status = status;
    result.time = at.t;
    result.state = std::move(s.x);
    result.states.conservativeResize(Eigen::NoChange, static_cast<Eigen::Index>(at.next));
    result.accepted_steps = at.accepted;
    result.rejected_steps = at.rejected;
    result.rhs_evaluations = system.evaluations;
    return std::move(result);
  };
  if (!system.finite) return stop(OdeStatus::non_finite);
  if (o.observer) o.observer(at.t, s.x);
  double event_value = o.event ? o.event(at.t, s.x) : 0;

  if (o.first_step <= 0 && times.size() > 1) at.proposed = first_step(s, system, at.t, at.span, o);
  while (at.next < times.size()) {
    const double target = Stepper::kInterpolates ? times.back() : times[at.next];
    if (const auto status = at.try_towards(target, o)) return stop(*status);
    s.step(system, at.t, at.h);
    at.last_finite = system.finite && all_finite(s.x_new) && all_finite(s.error);
    const double error = at.last_finite ? scaled_norm(s.error, s.x, s.x_new, o) : 0;
    double length = at.h;  // shorter than h if an event ends the step
    bool at_event = false;
    if (at.last_finite && error <= 1) {
      if (o.event) {
        const double after = o.event(at.end, s.x_new);
        at_event = event_value * after < 0 || (after == 0 && event_value != 0);
        if (at_event && after != 0) {
          length = event_step(s, system, at.t, at.h, event_value, after, o);
          at.end = at.t + length;
          s.step(system, at.t, length);
        }
        at.last_finite = std::isfinite(after);
        if (at.last_finite) event_value = after;
      }
      if constexpr (Stepper::kInterpolates) {
        if (times[at.next] < at.end) s.prepare_interpolation(system, at.t, length);
      }
      at.last_finite = at.last_finite && system.finite;
    }
    if (!at.last_finite || error > 1) {
      at.reject(error);
      system.finite = true;
      continue;
    }

    for (; at.next < times.size() && times[at.next] <= at.end; ++at.next) {
      if constexpr (Stepper::kInterpolates) {
        if (times[at.next] < at.end) {
          s.interpolate((times[at.next] - at.t) / length, length, column(at.next));
          continue;
        }
      }
      column(at.next) = s.x_new;
    }
    s.accept(system, at.end);
    at.accept(error);
    if (o.observer) o.observer(at.t, s.x);
    if (at_event) return stop(OdeStatus::event);
    if (!system.finite) return stop(OdeStatus::non_finite);
  }
  return stop(OdeStatus::finished);
}

// Trial steps of two solutions by the method of order 8, side by side. Numbers of the first and the
// second one stand next to each other.
class PairOfTrials {
 public:
  using Sums = Order8<Array2d>;
  static constexpr double kErrorOrder = Dop853::kErrorOrder;

  PairOfTrials(const OdePairRhs& rhs, const Array2Xd& x0, double t)
      : rhs_(rhs),
        x_(x0),
        dxdt_(x0),
        x_new_(x0),
        error_(x0),
        dxdt_new_(x0),
        q_(2, kPowers * x0.cols()) {
    k_.fill(Array2Xd::Zero(2, x0.cols()));
    for (std::size_t s = 0; s < k_.size(); ++s) slopes_[s] = pairs(k_[s]);
    rhs_(Array2d::Constant(t), x_, dxdt_);
    watch(dxdt_);
  }

  /// Which of the two have met finite numbers alone since they were asked for last.
  std::array<bool, 2> finite() {
    const Array2d zero = std::exchange(zero_, Array2d::Zero());
    return {zero[0] == 0, zero[1] == 0};
  }
  Array2d first_step(double t, double span, const std::array<OdeOptions, 2>& o) {
    Array2d euler, slope = norm(dxdt_, x_, o), size = norm(x_, x_, o);
    for (const int l : {0, 1}) euler[l] = euler_length(size[l], slope[l], span);
    x_new_ = x_ + dxdt_.colwise() * euler;
    rhs_(t + euler, x_new_, error_);
    watch(error_);
    const std::array<bool, 2> good = finite();
    error_ -= dxdt_;
    const Array2d curvature = norm(error_, x_, o) / euler;
    Array2d first;
    for (const int l : {0, 1}) {
      first[l] = good[static_cast<std::size_t>(l)]
                     ? first_length(slope[l], curvature[l], euler[l], span, kErrorOrder)
                     : euler[l] * kEulerError;
    }
    return first;
  }
  void step(const Array2d& t, const Array2d& h) {
    using dop853::kStages;
    k_[0] = dxdt_;
    stages(t, h, std::make_index_sequence<kStages - 1>());
    Sums::error(pairs(error_), slopes_, h, x_.cols());
    Sums::stage<kStages>(pairs(x_new_), pairs(x_), slopes_, h, x_.cols());
    rhs_(t + h, x_new_, dxdt_new_);
    watch(dxdt_new_);
    watch(error_);
    watch(x_new_);
  }
  /// The sizes of both errors in units of their tolerances.
  Array2d error(const std::array<OdeOptions, 2>& o) const { return norm(error_, x_new_, o); }
  void prepare_interpolation(const Array2d& t, const Array2d& h) {
    using dop853::kStages;
    k_[kStages] = dxdt_new_;
    stage<kStages + 1>(error_, t, h);
    stage<kStages + 2>(error_, t, h);
    stage<kStages + 3>(error_, t, h);
    Sums::interpolant(pairs(q_), pairs(x_), pairs(x_new_), slopes_, h, x_.cols());
  }
  void interpolate(int lane, double theta, Eigen::Ref<VectorXd> out) const {
    for (Eigen::Index i = 0; i < out.size(); ++i)
      out[i] = interpolated(x_(lane, i), theta, &q_(lane, i), 2 * out.size());
  }
  auto start(int lane) const { return x_.row(lane).transpose().matrix(); }
  auto end(int lane) const { return x_new_.row(lane).transpose().matrix(); }
  void accept(int lane) {
    x_.row(lane) = x_new_.row(lane);
    dxdt_.row(lane) = dxdt_new_.row(lane);
  }

 private:
  static Array2d* pairs(Array2Xd& x) { return reinterpret_cast<Array2d*>(x.data()); }
  // 0 * inf and 0 * NaN are NaN.
  void watch(const Array2Xd& x) {
    for (Eigen::Index i = 0; i < x.cols(); ++i) zero_ += 0.0 * x.col(i);
  }
  template <std::size_t kS>
  void stage(Array2Xd& at, const Array2d& t, const Array2d& h) {
    Sums::stage<kS>(pairs(at), pairs(x_), slopes_, h, x_.cols());
    rhs_(t + dop853::kC[kS] * h, at, k_[kS]);
    watch(k_[kS]);
  }
  template <std::size_t... S>
  void stages(const Array2d& t, const Array2d& h, std::index_sequence<S...>) {
    (stage<S + 1>(x_new_, t, h), ...);
  }
  Array2d norm(const Array2Xd& v, const Array2Xd& other, const std::array<OdeOptions, 2>& o) const {
    const Array2d least(o[0].absolute_tolerance, o[1].absolute_tolerance);
    const Array2d part(o[0].relative_tolerance, o[1].relative_tolerance);
    Array2d largest = Array2d::Zero();
    for (Eigen::Index i = 0; i < v.cols(); ++i) {
      const Array2d size = x_.col(i).abs().max(other.col(i).abs());
      largest = largest.max(v.col(i).abs() / (least + part * size));
    }
    return largest;
  }

  const OdePairRhs& rhs_;
  Array2Xd x_, dxdt_, x_new_, error_, dxdt_new_, q_;
  std::array<Array2Xd, dop853::kAll> k_;
  Sums::Slopes slopes_;
  Array2d zero_ = Array2d::Zero();  // NaN where a number was not finite
};

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

std::optional<std::array<MatrixXd, 2>> solve_ode_pair_order8(
    const OdePairRhs& rhs,
    const Array2Xd& x0,
    std::span<const double> times,
    const std::array<OdeOptions, 2>& options) {
  for (const std::size_t l : {0, 1}) {
    check(x0.row(static_cast<Eigen::Index>(l)).transpose().matrix(), times, options[l]);
    require(!options[l].event && !options[l].observer, "options", 0, "no event and no observer");
  }
  PairOfTrials trials(rhs, x0, times.front());
  std::array<MatrixXd, 2> states;
  for (const int l : {0, 1}) {
    states[static_cast<std::size_t>(l)].resize(x0.cols(), static_cast<Eigen::Index>(times.size()));
    states[static_cast<std::size_t>(l)].col(0) = trials.start(l);
  }
  if (trials.finite() != std::array{true, true}) return std::nullopt;
  if (times.size() == 1) return states;
  const Array2d first = trials.first_step(times.front(), times.back() - times.front(), options);
  const auto begin = [&](std::size_t l) {
    const double length = options[l].first_step;
    return Progress(times,
                    length > 0 ? length : first[static_cast<Eigen::Index>(l)],
                    PairOfTrials::kErrorOrder);
  };
  std::array<Progress, 2> both{begin(0), begin(1)};
  while (both[0].next < times.size() || both[1].next < times.size()) {
    Array2d t, h;
    for (const std::size_t l : {0, 1}) {
      Progress& at = both[l];
      const auto lane = static_cast<Eigen::Index>(l);
      t[lane] = at.t;
      h[lane] = 0;  // of one that waits for the other
      if (at.next == times.size()) continue;
      if (at.try_towards(times.back(), options[l])) return std::nullopt;
      h[lane] = at.h;
    }
    trials.step(t, h);
    const std::array<bool, 2> finite = trials.finite();
    const Array2d error = trials.error(options);
    std::array<bool, 2> good{}, inside{};
    for (const std::size_t l : {0, 1}) {
      Progress& at = both[l];
      if (at.next == times.size()) continue;
      at.last_finite = finite[l];
      good[l] = finite[l] && error[static_cast<Eigen::Index>(l)] <= 1;
      inside[l] = good[l] && times[at.next] < at.end;
    }
    if (inside[0] || inside[1]) {
      trials.prepare_interpolation(t, h);
      const std::array<bool, 2> finite_inside = trials.finite();
      for (const std::size_t l : {0, 1}) {
        if (!inside[l] || finite_inside[l]) continue;
        both[l].last_finite = good[l] = false;
      }
    }
    for (const std::size_t l : {0, 1}) {
      Progress& at = both[l];
      const int lane = static_cast<int>(l);
      if (at.next == times.size()) continue;
      if (!good[l]) {
        at.reject(error[lane]);
        continue;
      }
      for (; at.next < times.size() && times[at.next] <= at.end; ++at.next) {
        auto column = states[l].col(static_cast<Eigen::Index>(at.next));
        if (times[at.next] < at.end) {
          trials.interpolate(lane, (times[at.next] - at.t) / at.h, column);
        } else {
          column = trials.end(lane);
        }
      }
      trials.accept(lane);
      at.accept(error[lane]);
    }
  }
  return states;
}

}  // namespace attica
