#include "attica/theory/joma_bounce.hpp"

#include <algorithm>
#include <cmath>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::VectorXd;

namespace {

constexpr double kTolerance = 1e-13;

/// The equation in u, v = mu - (mu - v(0)) e^-u. Components that start at mu stay.
class Orbit {
 public:
  explicit Orbit(const Bounce& bounce)
      : mu_(Eigen::Map<const ArrayXd>(bounce.mu.data(), static_cast<Index>(bounce.mu.size()))),
        gap_(mu_ - bounce.start),
        gamma_(bounce.gamma),
        kind_(bounce.kind) {}

  Index size() const { return mu_.size(); }

  ArrayXd values(const VectorXd& u) const {
    // -mu expm1(-u) + v(0) e^-u does not cancel at the start.
    const ArrayXd left = (-u.array()).exp();
    return mu_ * -(-u.array()).expm1() + (mu_ - gap_) * left;
  }

  ArrayXd rates(const ArrayXd& v) const {
    const ArrayXd theta = gamma_ * v.square();
    switch (kind_) {
      case BounceKind::exponential:
        return theta.exp();
      case BounceKind::softmax: {
        const ArrayXd e = (theta - theta.maxCoeff()).exp();
        return e / e.sum();
      }
      case BounceKind::none:
        break;
    }
    return ArrayXd::Ones(v.size());
  }

  void operator()(double, const VectorXd& u, VectorXd& dudt) const { dudt = rates(values(u)); }

  /// dH/dt, set to 0 where it is below its own rounding error.
  double entropy_rate(const VectorXd& u) const {
    const ArrayXd v = values(u);
    const ArrayXd theta = gamma_ * v.square();
    ArrayXd p = (theta - theta.maxCoeff()).exp();
    p /= p.sum();
    const ArrayXd slope = 2 * gamma_ * v * gap_ * (-u.array()).exp() * rates(v);
    const double mean = (p * theta).sum();
    const double rate = -(p * (theta - mean) * slope).sum();
    constexpr double kRounding = 1e-14;
    const double noise = kRounding * theta.maxCoeff() * (p * slope.abs()).sum();
    return std::abs(rate) > noise ? rate : 0;
  }

  /// Nats gained by the slowest component that moves; negative before `enough`.
  double slowest(const VectorXd& u, double enough) const {
    double least = enough + 1;
    for (Index j = 0; j < size(); ++j) {
      if (gap_[j] != 0) least = std::min(least, u[j]);
    }
    return least - enough;
  }

  /// All components have gained `nats` by then: every rate is at least that of the smallest theta.
  double longest_time(double nats) const {
    const double theta = gamma_ * mu_.square().max((mu_ - gap_).square()).maxCoeff();
    return kind_ == BounceKind::softmax ? nats * static_cast<double>(size()) * std::exp(theta)
                                        : nats;
  }

 private:
  ArrayXd mu_;
  ArrayXd gap_;
  double gamma_;
  BounceKind kind_;
};

OdeOptions options() {
  return {.method = OdeMethod::fehlberg78,
          .relative_tolerance = kTolerance,
          .absolute_tolerance = kTolerance};
}

/// Zero of dH/dt in (low, high], from the orbit's point at `low`: secant steps kept in the bracket.
double minimum_time(const Orbit& orbit, double low, const VectorXd& at_low, double high) {
  const auto rate = [&](double t) {
    if (t == low) return orbit.entropy_rate(at_low);
    const OdeResult step = solve_ode(orbit, at_low, std::vector<double>{low, t}, options());
    return orbit.entropy_rate(step.state);
  };
  double a = low;
  double b = high;
  double f_a = rate(a);
  double f_b = rate(b);
  constexpr int kMostSteps = 100;
  constexpr double kAccuracy = 1e-14;
  for (int step = 0; step < kMostSteps && b - a > kAccuracy * b; ++step) {
    // Regula falsi in Illinois' form: the end that stays counts half.
    double t = (a * f_b - b * f_a) / (f_b - f_a);
    if (!(t > a && t < b)) t = 0.5 * (a + b);
    const double f = rate(t);
    if (f == 0) return t;
    if (f > 0) {
      b = t;
      f_b = f;
      f_a *= 0.5;
    } else {
      a = t;
      f_a = f;
      f_b *= 0.5;
    }
  }
  return 0.5 * (a + b);
}

}  // namespace

void validate(const Bounce& bounce) {
  require(!bounce.mu.empty(), "model.mu", 0, "at least one component");
  for (const double mu : bounce.mu) {
    require(std::isfinite(mu), "model.mu", mu, "finite numbers");
  }
  require(std::isfinite(bounce.start), "model.v0", bounce.start, "a finite number");
  require(std::isfinite(bounce.gamma) && bounce.gamma >= 0, "gamma", bounce.gamma, "gamma >= 0");
  // Rates reach exp(gamma v^2), times M exp(gamma v^2).
  constexpr double kLargestExponent = 600;
  double largest = bounce.start * bounce.start;
  for (const double mu : bounce.mu) largest = std::max(largest, mu * mu);
  require(bounce.gamma * largest <= kLargestExponent,
          "gamma",
          bounce.gamma,
          "gamma max(mu^2, v0^2) <= 600, so that exp of it is a number");
}

double bounce_entropy(const VectorXd& v, double gamma) {
  const ArrayXd theta = gamma * v.array().square();
  const ArrayXd shifted = theta - theta.maxCoeff();
  const ArrayXd e = shifted.exp();
  const double sum = e.sum();
  return std::log(sum) - (e * shifted).sum() / sum;
}

BounceCurve bounce_curve(const Bounce& bounce, std::span<const double> times) {
  validate(bounce);
  const Orbit orbit(bounce);
  std::vector<double> all(times.begin(), times.end());
  const bool from_zero = !all.empty() && all.front() == 0;
  if (!from_zero) all.insert(all.begin(), 0.0);
  BounceCurve curve;
  VectorXd u = VectorXd::Zero(orbit.size());
  if (all.size() == 1) {
    curve.values.emplace_back(orbit.values(u));
    curve.entropy.push_back(bounce_entropy(curve.values.back(), bounce.gamma));
    return curve;
  }
  const OdeResult solution = solve_ode(orbit, u, all, options());
  curve.status = solution.status;
  for (Index k = from_zero ? 0 : 1; k < solution.states.cols(); ++k) {
    curve.values.emplace_back(orbit.values(solution.states.col(k)));
    curve.entropy.push_back(bounce_entropy(curve.values.back(), bounce.gamma));
  }
  return curve;
}

OdeResult bounce_direct(const Bounce& bounce, std::span<const double> times) {
  validate(bounce);
  const Orbit orbit(bounce);
  const ArrayXd mu =
      Eigen::Map<const ArrayXd>(bounce.mu.data(), static_cast<Index>(bounce.mu.size()));
  const double gamma = bounce.gamma;
  OdeOptions stiff{.method = OdeMethod::rosenbrock4,
                   .relative_tolerance = 1e-10,
                   .absolute_tolerance = 1e-12,
                   .max_steps = 1000000};
  // With rates w: softmax dw_i/dv_j = w_i (d_ij - w_j) 2 gamma v_j, exponential the diagonal only.
  stiff.jacobian = [&](double, const VectorXd& v, Eigen::MatrixXd& jacobian, VectorXd&) {
    const ArrayXd w = orbit.rates(v);
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
      [&](double, const VectorXd& v, VectorXd& dvdt) { dvdt = (mu - v.array()) * orbit.rates(v); },
      VectorXd::Constant(orbit.size(), bounce.start),
      times,
      stiff);
}

BounceSummary bounce_summary(const Bounce& bounce) {
  validate(bounce);
  const Orbit orbit(bounce);
  BounceSummary summary;
  const VectorXd origin = VectorXd::Zero(orbit.size());
  summary.start_entropy = bounce_entropy(orbit.values(origin), bounce.gamma);
  summary.final_entropy = bounce_entropy(
      Eigen::Map<const VectorXd>(bounce.mu.data(), static_cast<Index>(bounce.mu.size())),
      bounce.gamma);

  // Accepted steps; a minimum lies where dH/dt goes from negative to positive.
  constexpr double kConverged = 45;  // e^-45 is below rounding
  double before = 0;
  VectorXd at_before = origin;
  bool falling = false;
  OdeOptions search = options();
  search.event = [&](double, const VectorXd& u) { return orbit.slowest(u, kConverged); };
  search.observer = [&](double t, const VectorXd& u) {
    const double rate = orbit.entropy_rate(u);
    if (falling && rate > 0) {
      const double time = minimum_time(orbit, before, at_before, t);
      VectorXd at_minimum = at_before;
      if (time > before) {
        at_minimum =
            solve_ode(orbit, at_before, std::vector<double>{before, time}, options()).state;
      }
      const VectorXd v = orbit.values(at_minimum);
      const double entropy = bounce_entropy(v, bounce.gamma);
      if (!summary.minimum || entropy < summary.minimum->entropy) {
        summary.minimum = BounceMinimum{time, entropy, v};
      }
    }
    if (rate == 0) return;  // undecided: keep the last sure point as the bracket's start
    falling = rate < 0;
    before = t;
    at_before = u;
  };
  const double end = 2 * orbit.longest_time(kConverged);
  summary.status = solve_ode(orbit, origin, std::vector<double>{0, end}, search).status;
  if (summary.minimum && summary.minimum->entropy >= summary.final_entropy) summary.minimum.reset();
  return summary;
}

}  // namespace attica
