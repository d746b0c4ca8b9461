#include "attica/theory/joma/bounce.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::VectorXd;

namespace {

constexpr double kTolerance = 1e-13;
constexpr double kConverged = 45;  // nats; e^-45 is below rounding
constexpr double kMargin = 5;

/// Relative rates of the components, exp(theta - max theta), or 1 without attention.
ArrayXd relative_rates(const ArrayXd& theta, BounceKind kind) {
  if (kind == BounceKind::none) return ArrayXd::Ones(theta.size());
  return (theta - theta.maxCoeff()).exp();
}

/// Slowness of time against the relative rates: rate = relative rate / slowness.
double slowness(const ArrayXd& theta, const ArrayXd& relative, BounceKind kind) {
  switch (kind) {
    case BounceKind::exponential:
      return std::exp(-theta.maxCoeff());
    case BounceKind::softmax:
      return relative.sum();
    case BounceKind::none:
      break;
  }
  return 1;
}

ArrayXd rates(const VectorXd& v, double gamma, BounceKind kind) {
  const ArrayXd theta = gamma * v.array().square();
  const ArrayXd relative = relative_rates(theta, kind);
  return relative / slowness(theta, relative, kind);
}

/// The equation for x = (u, t), v = mu - (mu - v(0)) e^-u, in the clock
///     ds = sum_j rate_j chi(u_j) dt,   chi(u) = 1/(1 + e^(u - rest)).
/// Rates differ by up to exp(gamma mu^2), so that in time itself the fast components converge
/// within a rounding error. In s every component takes its turn: sum_j u_j grows like s, and those
/// that have come to rest drop out. Until u = gamma mu^2 the fast ones still tell the sign of
/// dH/dt.
class Orbit {
 public:
  explicit Orbit(const Bounce& bounce)
      : mu_(Eigen::Map<const ArrayXd>(bounce.mu.data(), static_cast<Index>(bounce.mu.size()))),
        gap_(mu_ - bounce_start(bounce).array()),
        moving_((gap_ != 0).cast<double>()),
        gamma_(bounce.gamma),
        kind_(bounce.kind),
        rest_(kConverged + kMargin + gamma_ * mu_.square().max((mu_ - gap_).square()).maxCoeff()) {}

  VectorXd origin() const { return VectorXd::Zero(mu_.size() + 1); }
  bool moves() const { return moving_.sum() > 0; }
  double time(const VectorXd& x) const { return x[mu_.size()]; }

  ArrayXd values(const VectorXd& x) const {
    // -mu expm1(-u) + v(0) e^-u does not cancel at the start.
    const ArrayXd u = x.head(mu_.size()).array();
    return mu_ * -(-u).expm1() + (mu_ - gap_) * (-u).exp();
  }

  void operator()(double, const VectorXd& x, VectorXd& dxds) const {
    const ArrayXd theta = gamma_ * values(x).square();
    const ArrayXd relative = relative_rates(theta, kind_);
    const ArrayXd part = moving_ * relative / (1 + (x.head(mu_.size()).array() - rest_).exp());
    const double pace = part.sum();
    dxds.head(mu_.size()) = part / pace;
    dxds[mu_.size()] = slowness(theta, relative, kind_) / pace;
  }

  /// dH/dt up to a positive factor, set to 0 where it is below its own rounding error.
  double entropy_rate(const VectorXd& x) const {
    const ArrayXd v = values(x);
    const ArrayXd theta = gamma_ * v.square();
    Index top = 0;
    const double largest = theta.maxCoeff(&top);
    const ArrayXd below = theta - largest;
    ArrayXd p = below.exp();
    p /= p.sum();
    // theta_j - <theta> from differences to the largest: also where it has all the attention.
    const ArrayXd slope = p * 2 * gamma_ * v * gap_ * (-x.head(mu_.size()).array()).exp() *
                          relative_rates(theta, kind_);
    const ArrayXd terms = (below - (p * below).sum()) * slope;
    const double rate = -terms.sum();
    ArrayXd others = ArrayXd::Ones(v.size());
    others[top] = 0;
    const double error_of_mean = (p * others).sum();
    constexpr double kRounding = 1e-14;
    const double noise =
        kRounding * (terms.abs().sum() + largest * ((error_of_mean + others) * slope.abs()).sum());
    return std::abs(rate) > noise ? rate : 0;
  }

  /// Nats gained by the slowest component that moves; negative before it has converged.
  double slowest(const VectorXd& x) const {
    double least = rest_;
    for (Index j = 0; j < mu_.size(); ++j) {
      if (gap_[j] != 0) least = std::min(least, x[j]);
    }
    return least - kConverged;
  }

  /// s by when all components have converged. In the time of exponential attention, where rates
  /// are at least 1, that takes about 45; u_j then is at most rest + ln(1 + 46 exp theta).
  double longest() const { return static_cast<double>(mu_.size()) * 2 * rest_; }

 private:
  ArrayXd mu_;
  ArrayXd gap_;
  ArrayXd moving_;  ///< 1, or 0 for components that start at mu and stay
  double gamma_;
  BounceKind kind_;
  double rest_;
};

/// Fehlberg's error estimate compares the ends of a step only. A component that comes to rest does
/// so exponentially in s: within a step this long it cannot hide from a tolerance of 1e-13.
constexpr double kLongestStep = 10;

OdeOptions options() {
  return {.method = OdeMethod::fehlberg78,
          .relative_tolerance = kTolerance,
          .absolute_tolerance = kTolerance,
          .max_step = kLongestStep};
}

/// The orbit's state between s = low and high where `f`, negative at low and positive at high,
/// changes sign: secant steps kept in the bracket.
VectorXd state_at_zero(const Orbit& orbit,
                       double low,
                       const VectorXd& at_low,
                       double high,
                       const std::function<double(const VectorXd&)>& f) {
  VectorXd x = at_low;
  const auto value = [&](double s) {
    OdeOptions one_step = options();
    one_step.first_step = s - low;  // the bracket is a step that was accepted
    x = solve_ode(orbit, at_low, std::vector<double>{low, s}, one_step).state;
    return f(x);
  };
  double a = low;
  double b = high;
  double f_a = f(at_low);
  double f_b = value(high);
  constexpr int kMostSteps = 100;
  constexpr double kAccuracy = 1e-14;
  for (int step = 0; step < kMostSteps && b - a > kAccuracy * b; ++step) {
    // Regula falsi in Illinois' form: the end that stays counts half.
    double s = (a * f_b - b * f_a) / (f_b - f_a);
    if (!(s > a && s < b)) s = 0.5 * (a + b);
    if (!(s > a && s < b)) break;
    const double at_s = value(s);
    if (at_s == 0) break;
    if (at_s > 0) {
      b = s;
      f_b = at_s;
      f_a *= 0.5;
    } else {
      a = s;
      f_a = at_s;
      f_b *= 0.5;
    }
  }
  return x;
}

}  // namespace

void validate(const Bounce& bounce) {
  require(!bounce.mu.empty(), "model.mu", 0, "at least one component");
  for (const double mu : bounce.mu) {
    require(std::isfinite(mu), "model.mu", mu, "finite numbers");
  }
  require(bounce.start.empty() || bounce.start.size() == bounce.mu.size(),
          "model.v0",
          static_cast<double>(bounce.start.size()),
          "one start for each component");
  for (const double start : bounce.start) {
    require(std::isfinite(start), "model.v0", start, "a finite number");
  }
  require(std::isfinite(bounce.gamma) && bounce.gamma >= 0, "gamma", bounce.gamma, "gamma >= 0");
  // Entropy changes by products of two exp(-gamma v^2) and a distance to mu.
  constexpr double kLargestExponent = 300;
  double largest = 0;
  for (const auto* values : {&bounce.mu, &bounce.start}) {
    for (const double v : *values) largest = std::max(largest, v * v);
  }
  require(bounce.gamma * largest <= kLargestExponent,
          "gamma",
          bounce.gamma,
          "gamma max(mu^2, v0^2) <= 300, so that the square of exp of it is a number");
}

VectorXd bounce_start(const Bounce& bounce) {
  if (bounce.start.empty()) return VectorXd::Zero(static_cast<Index>(bounce.mu.size()));
  return Eigen::Map<const VectorXd>(bounce.start.data(), static_cast<Index>(bounce.start.size()));
}

double bounce_entropy(const VectorXd& v, double gamma) {
  const ArrayXd theta = gamma * v.array().square();
  Index top = 0;
  const ArrayXd below = theta - theta.maxCoeff(&top);
  ArrayXd e = below.exp();
  e[top] = 0;
  const double rest = e.sum();
  return std::log1p(rest) - (e * below).sum() / (1 + rest);
}

BounceCurve bounce_curve(const Bounce& bounce, std::span<const double> times) {
  validate(bounce);
  const Orbit orbit(bounce);
  BounceCurve curve;
  const auto put = [&](const VectorXd& x) {
    curve.values.emplace_back(orbit.values(x));
    curve.entropy.push_back(bounce_entropy(curve.values.back(), bounce.gamma));
  };
  VectorXd last = orbit.origin();
  if (orbit.moves()) {
    double before = 0;
    OdeOptions search = options();
    search.observer = [&](double s, const VectorXd& x) {
      while (curve.values.size() < times.size() && times[curve.values.size()] <= orbit.time(x)) {
        const double t = times[curve.values.size()];
        put(t == orbit.time(x) ? x : state_at_zero(orbit, before, last, s, [&](const VectorXd& y) {
          return orbit.time(y) - t;
        }));
      }
      before = s;
      last = x;
    };
    curve.status = solve_ode(orbit, last, std::vector<double>{0, orbit.longest()}, search).status;
  }
  // Beyond, all have converged.
  while (curve.status == OdeStatus::finished && curve.values.size() < times.size()) put(last);
  return curve;
}

namespace {

/// The field f = (mu - v) p of softmax attention, and the terms of its modified equation.
struct ModifiedField {
  const ArrayXd& mu;
  double gamma;
  double eta;
  int order;  ///< in eta

  ArrayXd operator()(const VectorXd& at) const {
    const ArrayXd v = at.array();
    const ArrayXd p = rates(at, gamma, BounceKind::softmax);
    const ArrayXd f = (mu - v) * p;
    /// Derivative of f in a direction.
    const auto along = [&](const ArrayXd& u) -> ArrayXd {
      const ArrayXd theta = 2 * gamma * v * u;
      return -u * p + (mu - v) * p * (theta - (p * theta).sum());
    };
    if (order == 0) return f;
    const ArrayXd first = along(f);
    if (order == 1) return f - eta / 2 * first;
    // Twice along the line v + s f, at s = 0.
    const ArrayXd theta1 = 2 * gamma * v * f;
    const ArrayXd theta2 = 2 * gamma * f.square();
    const double mean1 = (p * theta1).sum();
    const ArrayXd p1 = p * (theta1 - mean1);
    const double mean2 = (p1 * theta1 + p * theta2).sum();
    const ArrayXd p2 = p * ((theta1 - mean1).square() + theta2 - mean2);
    const ArrayXd second = (mu - v) * p2 - 2 * f * p1;
    return f - eta / 2 * first + eta * eta * (along(first) / 3 + second / 12);
  }
};

}  // namespace

BounceSteps bounce_steps(const Bounce& bounce, double eta, std::span<const std::int64_t> steps) {
  validate(bounce);
  require(bounce.kind == BounceKind::softmax, "kind", 0.0, "softmax attention");
  require(eta > 0, "sim.eta", eta, "eta > 0");
  const ArrayXd mu =
      Eigen::Map<const ArrayXd>(bounce.mu.data(), static_cast<Index>(bounce.mu.size()));
  std::vector<double> times{0};
  for (const std::int64_t step : steps) {
    if (step > 0) times.push_back(eta * static_cast<double>(step));
  }
  const std::size_t skipped = steps.empty() || steps.front() > 0 ? 1 : 0;
  const auto entropies = [&](int order) {
    const ModifiedField field{mu, bounce.gamma, eta, order};
    const OdeResult solution =
        solve_ode([&](double, const VectorXd& v, VectorXd& dvdt) { dvdt = field(v).matrix(); },
                  bounce_start(bounce),
                  times,
                  {.method = OdeMethod::dopri5,
                   .relative_tolerance = 1e-11,
                   .absolute_tolerance = 1e-12,
                   .max_steps = 1000000});
    std::vector<double> all;
    for (Index k = static_cast<Index>(skipped); k < solution.states.cols(); ++k)
      all.push_back(bounce_entropy(solution.states.col(k), bounce.gamma));
    return std::pair(solution.status, all);
  };
  const auto [first_status, first] = entropies(1);
  const auto [second_status, second] = entropies(2);
  BounceSteps result;
  result.status = first_status == OdeStatus::finished ? second_status : first_status;
  for (std::size_t k = 0; k < std::min(first.size(), second.size()); ++k) {
    result.entropy.push_back(second[k]);
    result.order.push_back(std::abs(second[k] - first[k]));
  }
  return result;
}

OdeResult bounce_direct(const Bounce& bounce, std::span<const double> times) {
  validate(bounce);
  const ArrayXd mu =
      Eigen::Map<const ArrayXd>(bounce.mu.data(), static_cast<Index>(bounce.mu.size()));
  const double gamma = bounce.gamma;
  OdeOptions stiff{.method = OdeMethod::rosenbrock4,
                   .relative_tolerance = 1e-10,
                   .absolute_tolerance = 1e-12,
                   .max_steps = 1000000};
  // With rates w: softmax dw_i/dv_j = w_i (d_ij - w_j) 2 gamma v_j, exponential the diagonal only.
  stiff.jacobian = [&](double, const VectorXd& v, Eigen::MatrixXd& jacobian, VectorXd&) {
    const ArrayXd w = rates(v, gamma, bounce.kind);
    const ArrayXd slope = 2 * gamma * v.array();
    if (bounce.kind == BounceKind::softmax) {
      jacobian = -((mu - v.array()) * w).matrix() * (w * slope).matrix().transpose();
    }
    jacobian.diagonal().array() -= w;
    if (bounce.kind != BounceKind::none) {
      jacobian.diagonal().array() += (mu - v.array()) * w * slope;
    }
  };
  return solve_ode(
      [&](double, const VectorXd& v, VectorXd& dvdt) {
        dvdt = (mu - v.array()) * rates(v, gamma, bounce.kind);
      },
      bounce_start(bounce),
      times,
      stiff);
}

BounceSummary bounce_summary(const Bounce& bounce) {
  validate(bounce);
  const Orbit orbit(bounce);
  BounceSummary summary;
  summary.start_entropy = bounce_entropy(orbit.values(orbit.origin()), bounce.gamma);
  summary.final_entropy = bounce_entropy(
      Eigen::Map<const VectorXd>(bounce.mu.data(), static_cast<Index>(bounce.mu.size())),
      bounce.gamma);
  if (!orbit.moves()) return summary;

  // Accepted steps; a minimum lies where dH/dt goes from negative to positive.
  double before = 0;
  VectorXd at_before = orbit.origin();
  bool falling = false;
  OdeOptions search = options();
  search.event = [&](double, const VectorXd& x) { return orbit.slowest(x); };
  search.observer = [&](double s, const VectorXd& x) {
    const double rate = orbit.entropy_rate(x);
    if (falling && rate > 0) {
      const VectorXd at_minimum = state_at_zero(
          orbit, before, at_before, s, [&](const VectorXd& y) { return orbit.entropy_rate(y); });
      const VectorXd v = orbit.values(at_minimum);
      const double entropy = bounce_entropy(v, bounce.gamma);
      if (!summary.minimum || entropy < summary.minimum->entropy) {
        summary.minimum = BounceMinimum{orbit.time(at_minimum), entropy, v};
      }
    }
    if (rate == 0) return;  // undecided: keep the last sure point as the bracket's start
    falling = rate < 0;
    before = s;
    at_before = x;
  };
  summary.status =
      solve_ode(orbit, orbit.origin(), std::vector<double>{0, orbit.longest()}, search).status;
  if (summary.minimum && summary.minimum->entropy >= summary.final_entropy) summary.minimum.reset();
  return summary;
}

}  // namespace attica
