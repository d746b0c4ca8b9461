#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "attica/solvers/gauss_legendre.hpp"
#include "attica/theory/masked/resampling_channel.hpp"

namespace attica {
namespace {

constexpr double kTails = 8;  // standard deviations of a normal number

double density(double z) { return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi); }
double cumulated(double z) { return std::erfc(-z / std::numbers::sqrt2) / 2; }

/// Nodes with the weights of a normal number, by the trapezoid rule, which converges geometrically.
std::vector<QuadratureNode> normal_grid(int nodes) {
  const double step = 2 * kTails / (nodes - 1);
  std::vector<QuadratureNode> all;
  for (int k = 0; k < nodes; ++k) {
    const double z = -kTails + step * k;
    all.push_back({z, step * density(z)});
  }
  return all;
}

/// Nodes on [-1, 1].
const std::vector<QuadratureNode>& legendre() {
  constexpr std::size_t kNodes = 40;
  static const std::vector<QuadratureNode> nodes = gauss_legendre(kNodes, {-1, 1});
  return nodes;
}

/// act and its first two derivatives.
struct Activated {
  double value, slope, curvature;
};
Activated activated(MaskActivation activation, double y) {
  if (activation == MaskActivation::tanh) {
    const double t = std::tanh(y);
    const double slope = 1 - t * t;
    return {t, slope, -2 * t * slope};
  }
  if (activation == MaskActivation::relu) return {std::max(y, 0.0), y > 0 ? 1.0 : 0.0, 0};
  return {y, 1, 0};
}

/// The mean loss of a sample over all masks at a field h, with what the equations need of it.
struct MeanLoss {
  double value = 0, slope = 0, curvature = 0, of_q = 0, of_c = 0;
};

class FreshLoss {
 public:
  FreshLoss(const ResamplingProblem& p, const MaskOrder& at)
      : activation_(p.activation),
        a_(1 - p.rho),
        b_(p.rho),
        q_(at.q),
        variance_(a_ * b_),
        sd_(std::sqrt(variance_ * at.c)) {}

  MeanLoss operator()(double h) const {
    return activation_ == MaskActivation::relu ? closed(h) : summed(h);
  }

 private:
  /// act = max(y, 0): moments of a truncated normal number.
  MeanLoss closed(double h) const {
    const double mean = a_ * h;
    const double above = cumulated(mean / sd_);
    const double edge = density(mean / sd_);
    const double first = mean * above + sd_ * edge;                               // E y_+
    const double second = (mean * mean + sd_ * sd_) * above + mean * sd_ * edge;  // E y_+²
    const double both = b_ * q_ + 2;
    return {.value = both * second - 2 * h * first,
            .slope = 2 * a_ * (both * first - h * above) - 2 * first,
            .curvature = 2 * a_ * (a_ * both * above - 2 * above - a_ * h * edge / sd_),
            .of_q = b_ * second,
            .of_c = variance_ * (both * above - h * edge / sd_)};
  }
  MeanLoss summed(double h) const {
    constexpr int kNodes = 41;
    static const std::vector<QuadratureNode> nodes = normal_grid(kNodes);
    MeanLoss sum;
    for (const auto& [xi, weight] : nodes) {
      const double y = a_ * h + sd_ * xi;
      const auto [act, slope, curvature] = activated(activation_, y);
      const double t = h - y;
      // Derivatives in y at fixed h, and mixed with that in h.
      const double of_y = 2 * b_ * q_ * act * slope - 2 * slope * t + 2 * act;
      const double of_yy =
          2 * b_ * q_ * (slope * slope + act * curvature) - 2 * curvature * t + 4 * slope;
      sum.value += weight * (b_ * q_ * act * act - 2 * act * t);
      sum.slope += weight * (a_ * of_y - 2 * act);
      sum.curvature += weight * (a_ * a_ * of_yy - 4 * a_ * slope);
      sum.of_q += weight * b_ * act * act;
      sum.of_c += weight * variance_ / 2 * of_yy;  // heat equation in the variance of y
    }
    return sum;
  }

  MaskActivation activation_;
  double a_, b_, q_, variance_, sd_;
};

/// h + Δ ℓ'(h) = h0 by Newton's method, halved where it leaves a shrinking bracket.
double settled_field(const FreshLoss& loss, double delta, double h0) {
  constexpr int kSteps = 60;
  constexpr double kRounding = 1e-14;
  double h = h0;
  for (int k = 0; k < kSteps; ++k) {
    const MeanLoss at = loss(h);
    const double defect = h + delta * at.slope - h0;
    const double rise = 1 + delta * at.curvature;
    if (!(rise > 0)) return MaskChannel::kNaN;
    const double step = defect / rise;
    h -= step;
    if (std::abs(step) <= kRounding * (1 + std::abs(h))) break;
  }
  return h;
}

MaskChannel fresh_fields(const ResamplingProblem& p, const MaskOrder& at) {
  constexpr int kNodes = 161;
  static const std::vector<QuadratureNode> nodes = normal_grid(kNodes);
  const FreshLoss loss(p, at);
  const double sd = std::sqrt(p.beta * at.m2 + at.c);
  MaskChannel sum{.chi = 0, .f = 0, .u = 0, .h = 0, .train = 0, .test = 0};
  for (const auto& [z, weight] : nodes) {
    const double h = settled_field(loss, at.delta, sd * z);
    if (!std::isfinite(h)) return {};
    const MeanLoss there = loss(h);
    sum.chi -= weight * there.curvature / (1 + at.delta * there.curvature);
    sum.f += weight * there.slope * there.slope;
    sum.u += weight * there.of_q;
    sum.h += weight * there.of_c;
    sum.train += weight * there.value;
    sum.test += weight * loss(sd * z).value;
  }
  sum.h -= sum.chi / 2;
  return sum;
}

/// The scalar problem of one stored mask.
class StoredLoss {
 public:
  StoredLoss(const ResamplingProblem& p, const MaskOrder& at)
      : activation_(p.activation),
        stiffness_(1 / ((1 - p.rho) * at.delta)),
        square_(p.rho * (at.q - 2 * at.delta)) {}

  double value(double y, double y0, double t0) const {
    const double act = activated(activation_, y).value;
    return stiffness_ / 2 * (y - y0) * (y - y0) + square_ * act * act - 2 * t0 * act;
  }
  /// Where the minimum jumps or has a kink in t0.
  double edge(double y0) const {
    if (activation_ != MaskActivation::relu) return MaskChannel::kNaN;
    const double k = stiffness_ + 2 * square_;
    if (!(k > 0)) return MaskChannel::kNaN;
    return y0 < 0 ? -y0 / 2 * (stiffness_ + std::sqrt(k * stiffness_)) : -y0 * stiffness_ / 2;
  }
  double minimum(double y0, double t0) const {
    if (activation_ != MaskActivation::tanh) {
      const double k = stiffness_ + 2 * square_;
      if (!(k > 0)) return MaskChannel::kNaN;
      const double y = (stiffness_ * y0 + 2 * t0) / k;
      if (activation_ == MaskActivation::identity) return y;
      if (t0 > edge(y0)) return y;
      return std::min(y0, 0.0);
    }
    // The lower of the minima that Newton's method finds from y0 and from where t0 pulls.
    const double pull = y0 + 2 * t0 / stiffness_;
    const double first = descended(y0, y0, t0);
    const double second = descended(pull, y0, t0);
    return value(first, y0, t0) <= value(second, y0, t0) ? first : second;
  }

 private:
  double descended(double y, double y0, double t0) const {
    constexpr int kSteps = 60;
    constexpr double kRounding = 1e-13;
    for (int k = 0; k < kSteps; ++k) {
      const auto [act, slope, curvature] = activated(activation_, y);
      const double gradient = stiffness_ * (y - y0) + 2 * (square_ * act - t0) * slope;
      double rise = stiffness_ + 2 * square_ * slope * slope + 2 * (square_ * act - t0) * curvature;
      if (rise < stiffness_ / 4) rise = stiffness_;  // not convex here: along the gradient
      const double step = gradient / rise;
      y -= step;
      if (std::abs(step) <= kRounding * (1 + std::abs(y))) break;
    }
    return y;
  }

  MaskActivation activation_;
  double stiffness_, square_;
};

/// f(x, weight) at nodes of [low, high].
template <class Function>
void for_nodes(double low, double high, Function&& f) {
  const double half = (high - low) / 2;
  if (!(half > 0)) return;
  for (const auto& [x, weight] : legendre()) f((low + high) / 2 + half * x, half * weight);
}

MaskChannel stored_fields(const ResamplingProblem& p, const MaskOrder& at) {
  const StoredLoss loss(p, at);
  const double a = 1 - p.rho;
  const double b = p.rho;
  const double signal = p.beta * at.m2;
  const double field = signal + at.c;                 // variance of h0
  const double y_variance = a * (a * signal + at.c);  // of y0, noise a C
  const double t_variance = b * (b * signal + at.c);  // of t0
  const double shared = a * b * signal;               // their covariance
  const double y_sd = std::sqrt(y_variance);
  const double slope = shared / y_variance;
  const double t_sd = std::sqrt(std::max(t_variance - slope * shared, 0.0));
  MaskChannel sum{.chi = 0, .f = 0, .u = 0, .h = 0, .train = 0, .test = 0};
  double of_shared = 0;  // E φ_x g_1 √C
  const auto add = [&](double y0, double t0, double weight) {
    const double y = loss.minimum(y0, t0);
    const double act = activated(p.activation, y).value;
    const double of_y = (y - y0) / (a * at.delta);
    const double of_t = 2 * act;
    // In terms of h0 = y0 + t0 and of x0 = (b y0 - a t0)/(ab) √(ab), the field of the mask's own.
    const double along = a * of_y + b * of_t;
    const double h0 = y0 + t0;
    sum.chi += weight * along * h0 / field;
    of_shared += weight * (of_y - of_t) * (b * y0 - a * t0);
    sum.f += weight * (a * of_y * of_y + b * of_t * of_t);
    sum.u += weight * b * act * act;
    sum.train += weight * (b * at.q * act * act - 2 * act * (t0 + b * at.delta * of_t));
    const double before = activated(p.activation, y0).value;
    sum.test += weight * (b * at.q * before * before - 2 * before * t0);
  };
  const auto over_t = [&](double y0, double weight) {
    const double mean = slope * y0;
    const double low = mean - kTails * t_sd;
    const double high = mean + kTails * t_sd;
    const auto inner = [&](double t0, double w) {
      add(y0, t0, weight * w * density((t0 - mean) / t_sd) / t_sd);
    };
    const double edge = loss.edge(y0);
    const double middle = std::isfinite(edge) ? std::clamp(edge, low, high) : mean;
    for_nodes(low, middle, inner);
    for_nodes(middle, high, inner);
  };
  const auto outer = [&](double y0, double w) { over_t(y0, w * density(y0 / y_sd) / y_sd); };
  for_nodes(-kTails * y_sd, 0, outer);
  for_nodes(0, kTails * y_sd, outer);
  sum.h = -(sum.chi + of_shared / at.c) / 2;
  return sum;
}

}  // namespace

MaskChannel field_channel(const ResamplingProblem& problem, const MaskOrder& at) {
  return problem.masks ? stored_fields(problem, at) : fresh_fields(problem, at);
}

}  // namespace attica
