#include "attica/theory/masked/resampling.hpp"

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include "attica/core/error.hpp"
#include "attica/solvers/gauss_legendre.hpp"
#include "attica/solvers/newton.hpp"
#include "attica/solvers/special_functions.hpp"
#include "attica/theory/masked/resampling_channel.hpp"
#include "attica/theory/masked/spike.hpp"

namespace attica {

using Eigen::VectorXd;

namespace {

constexpr double kNaN = MaskChannel::kNaN;

MaskChannel fresh_channel(const ResamplingProblem& p, const MaskOrder& at) {
  const double a = 1 - p.rho;
  const double b = p.rho;
  const double c = a * b;
  const double field = p.beta * at.m2 + at.c;
  const double own = c * (a * at.q - 2);
  const double spread = c * (b * at.q + 2);
  const double rest = 1 + 2 * own * at.delta;
  if (!(rest > 0)) return {};
  const double chi = -2 * own / rest;
  const double j = field / (rest * rest);
  return {.chi = chi,
          .f = chi * chi * field,
          .u = c * (a * j + b * at.c),
          .h = own / rest + spread,
          .train = own * j + spread * at.c,
          .test = own * field + spread * at.c,
          .squares = chi * chi,
          .noise = chi * chi * at.c};
}

MaskChannel stored_channel(const ResamplingProblem& p, double masks, const MaskOrder& at) {
  const double a = 1 - p.rho;
  const double b = p.rho;
  const double c = a * b;
  const double signal = p.beta * at.m2;
  const double field = signal + at.c;
  const double g = b * at.q + 2;
  const double mixed = a - b + c * at.q;
  const double delta = at.delta;
  const double others = 1 + 2 * c * delta * g / masks;  // of the masks' K - 1 other directions
  const double shared = 2 * c * delta * (2 - a * at.q);
  const double rest = 1 - shared + 2 * c * delta * g / masks - 4 * c * delta * delta / masks;
  if (!(rest > 0 && 1 - shared + others > 0)) return {};
  const double l00 = (2 * c * (2 - a * at.q) + 4 * c * delta / masks) / rest;
  const double l01 = -2 * mixed * std::sqrt(c / masks) / rest;
  const double l11 = (-2 * c * g / masks + 4 * c * delta / masks) / rest;
  const double transverse = -2 * c * g / masks / others;
  const double many = masks - 1;
  const double squares = l00 * l00 + 2 * l01 * l01 + l11 * l11 + many * transverse * transverse;
  const double y0 = a + 2 * c * delta / masks;
  const double y1 = 1 - 2 * a * delta;
  const double j = (field * y0 * y0 + at.c * c / masks * y1 * y1) / (rest * rest) +
                   (1 - 1 / masks) * c * at.c / (others * others);
  // Of the two fields with a curvature S: (1/2) tr S R diag(S² + C, C) R, R = (1 + ΔS)⁻¹.
  Eigen::Matrix2d s;
  s << 2 * c * (a * at.q - 2), 2 * mixed * std::sqrt(c / masks), 2 * mixed * std::sqrt(c / masks),
      2 * c * g / masks;
  const Eigen::Matrix2d r = (Eigen::Matrix2d::Identity() + delta * s).inverse();
  const Eigen::Matrix2d spread = Eigen::Vector2d(field, at.c).asDiagonal();
  return {
      .chi = l00,
      .f = signal * (l00 * l00 + l01 * l01) + at.c * squares,
      .u = b * j,
      .h = -(l00 + l11 + many * transverse) / 2,
      .train = (s * r * spread * r).trace() / 2 + many * c * g / masks * at.c / (others * others),
      .test = c * (a * at.q - 2) * field + c * g * at.c,
      .squares = squares,
      .noise = at.c * (l00 * l00 + l01 * l01)};
}

MaskChannel channel(const ResamplingProblem& p, const MaskOrder& at) {
  if (p.activation != MaskActivation::identity) return field_channel(p, at);
  return p.masks ? stored_channel(p, *p.masks, at) : fresh_channel(p, at);
}

/// The right-hand sides of the equations.
struct MaskClosure {
  MaskChannel of;
  MaskOrder next;  ///< its m2 is not set
  double mean_v = kNaN;
  double gain = kNaN;
  double replicon = kNaN;

  /// Whether the unknowns are in the domain of the equations.
  bool valid() const { return std::isfinite(gain); }
};

MaskClosure closure(const ResamplingProblem& p, const MaskOrder& at) {
  MaskClosure all{.of = channel(p, at), .next = {.m2 = 0, .q = 0, .c = 0, .delta = 0}};
  const MaskChannel& of = all.of;
  if (!std::isfinite(of.chi) || !(at.q > 0 && at.c > 0 && at.delta > 0)) return all;
  const double pull = p.alpha * p.beta * of.chi;
  double mean = 0;
  double squares = 0;
  for (const auto& [gamma, share] : p.noise) {
    const double stiffness = p.lambda + 2 * p.alpha * (of.u + gamma * of.h);
    if (!(stiffness > 0)) return all;
    const double v = 1 / stiffness;
    const double q = (pull * pull * at.m2 + p.alpha * gamma * of.f) * v * v;
    mean += share * v;
    squares += share * gamma * gamma * v * v;
    all.next.q += share * q;
    all.next.c += share * gamma * q;
    all.next.delta += share * gamma * v;
  }
  all.mean_v = mean;
  all.gain = pull * mean;
  all.replicon = p.alpha * squares * of.squares;
  return all;
}

/// log Q, log C, log Δ and, for M > 0, log M².
MaskOrder order_of(const VectorXd& x) {
  return {.m2 = x.size() > 3 ? std::exp(x[3]) : 0,
          .q = std::exp(x[0]),
          .c = std::exp(x[1]),
          .delta = std::exp(x[2])};
}

VectorXd defects(const ResamplingProblem& p, const VectorXd& x) {
  const MaskClosure all = closure(p, order_of(x));
  VectorXd d = VectorXd::Constant(x.size(), std::numeric_limits<double>::infinity());
  if (!all.valid()) return d;
  d[0] = std::log(all.next.q) - x[0];
  d[1] = std::log(all.next.c) - x[1];
  d[2] = std::log(all.next.delta) - x[2];
  if (x.size() > 3) {
    d[3] = all.gain > 0 ? std::log(all.gain) : std::numeric_limits<double>::infinity();
  }
  return d;
}

/// Where the iteration begins, inside the domain.
VectorXd start(const ResamplingProblem& p, double kappa2) {
  const double a = 1 - p.rho;
  const double b = p.rho;
  const double root = std::sqrt(p.alpha);
  const double q0 = (1 + 2 * root) / (a * (1 + root) * (1 + root) + b * p.alpha);
  double delta = q0 / 4;
  double q = q0;
  if (p.masks) {
    constexpr double kLeast = 0.05;
    delta = 1 / (2 * std::sqrt(a * b * std::max(2 * p.alpha * kappa2 * *p.masks - 1, kLeast)));
    q = q0 + 4 * delta;
  }
  VectorXd x(3);
  x << std::log(q), std::log(kappa2 * q), std::log(delta);
  return x;
}

/// Damped iteration to within reach of Newton's method. A step out of the domain shrinks Δ.
VectorXd iterated(const ResamplingProblem& p, VectorXd x) {
  constexpr double kDamping = 0.3;
  constexpr double kNear = 1e-6;
  constexpr double kShrink = 0.8;
  constexpr int kSteps = 20000;
  for (int step = 0; step < kSteps; ++step) {
    const VectorXd d = defects(p, x);
    if (!d.allFinite()) {
      x[2] += std::log(kShrink);
      continue;
    }
    if (d.cwiseAbs().maxCoeff() < kNear) break;
    x += kDamping * d;
    // M² follows the gain, whose logarithm is half as large.
    if (x.size() > 3) x[3] += kDamping * d[3];
  }
  return x;
}

VectorXd solved(const ResamplingProblem& p, const VectorXd& from) {
  constexpr double kAccuracy = 1e-10;
  const VectorXd x =
      newton_minimum([&](const VectorXd& at) { return defects(p, at); }, iterated(p, from));
  const VectorXd d = defects(p, x);
  if (!d.allFinite() || d.cwiseAbs().maxCoeff() > kAccuracy) {
    throw Error(ErrorKind::numerical,
                fmt::format("masked resampling: no solution of the equations found at alpha = {}, "
                            "beta = {}, rho = {}, lambda = {}, {}: residual {:.3g}",
                            p.alpha,
                            p.beta,
                            p.rho,
                            p.lambda,
                            p.masks ? fmt::format("{:g} masks", *p.masks) : "fresh masks",
                            d.cwiseAbs().maxCoeff()));
  }
  return x;
}

double moment(const ResamplingProblem& p, int power) {
  double sum = 0;
  for (const auto& [gamma, share] : p.noise) sum += share * std::pow(gamma, power);
  return sum;
}

void require_problem(const ResamplingProblem& p) {
  constexpr double kRounding = 1e-9;
  double shares = 0;
  for (const auto& [gamma, share] : p.noise) {
    require(std::isfinite(gamma) && gamma > 0, "variance", gamma, "0 < variance < infinity");
    shares += share;
  }
  require(std::abs(shares - 1) <= kRounding, "share", shares, "shares that sum to 1");
  const double mean = moment(p, 1);
  require(std::abs(mean - 1) <= kRounding, "variance", mean, "noise variances of mean 1");
  require(!p.masks || *p.masks >= 1, "masks", p.masks.value_or(0), "masks >= 1");
  require(p.activation == MaskActivation::identity || p.masks.value_or(1) <= 1,
          "masks",
          p.masks.value_or(1),
          "fresh masks or one stored mask for a unit that is not linear");
  require(std::isfinite(p.alpha) && p.alpha > 0, "alpha", p.alpha, "0 < alpha < infinity");
  require(std::isfinite(p.beta) && p.beta >= 0, "beta", p.beta, "0 <= beta < infinity");
  require(p.rho > 0 && p.rho < 1, "rho", p.rho, "0 < rho < 1");
  require(std::isfinite(p.lambda) && p.lambda >= 0, "lambda", p.lambda, "0 <= lambda < infinity");
  // One mask per sample and too few samples: Q grows as lambda^(-1/3).
  const double least = 1 / (2 * moment(p, 2));
  require(p.lambda > 0 || p.masks.value_or(2) > 1 || p.alpha > least,
          "lambda",
          p.lambda,
          fmt::format("lambda > 0 at one mask per sample and alpha <= {:.6g}, where the objective "
                      "has no finite minimum without a penalty",
                      least));
}

/// log of the gain of the branch M = 0.
double log_gain(const ResamplingProblem& p) {
  return std::log(closure(p, order_of(solved(p, start(p, moment(p, 2))))).gain);
}

/// The root of an increasing function of a positive number between `low` and `high`.
template <class Function>
double increasing_root(double low, double high, Function&& f) {
  constexpr int kHalvings = 200;
  for (int k = 0; k < kHalvings; ++k) {
    const double middle = std::sqrt(low * high);
    if (middle <= low || middle >= high) break;
    (f(middle) < 0 ? low : high) = middle;
  }
  return std::sqrt(low * high);
}

}  // namespace

std::vector<NoiseShare> noise_shares(const NoiseVariances& noise) {
  if (noise.law == NoiseLaw::equal) return {{1, 1}};
  if (noise.law == NoiseLaw::groups) return {{noise.low, 0.5}, {2 - noise.low, 0.5}};
  constexpr std::size_t kNodes = 64;
  constexpr double kLowest = 0.25;
  constexpr double kWidth = 2.25;
  std::vector<NoiseShare> nodes;
  for (const QuadratureNode& node : gauss_legendre(kNodes, {0, 1})) {
    nodes.push_back({kLowest + kWidth * node.x, 2 * (1 - node.x) * node.weight});
  }
  return nodes;
}

ResamplingPoint resampled_masks(const ResamplingProblem& p) {
  require_problem(p);
  VectorXd x = solved(p, start(p, moment(p, 2)));
  const MaskClosure below = closure(p, order_of(x));
  ResamplingPoint point;
  point.gain = below.gain;
  if (below.gain > 1) {
    constexpr double kFirst = 0.01;  // M²
    VectorXd from = start(p, moment(p, 2));
    from.conservativeResize(4);
    from[3] = std::log(kFirst);
    x = solved(p, from);
  }
  const MaskOrder at = order_of(x);
  const MaskClosure all = closure(p, at);
  point.alignment = std::sqrt(at.m2);
  point.weight_norm = at.q;
  point.noise_norm = at.c;
  point.response = at.delta;
  point.cosine = std::sqrt(at.m2 / at.q);
  point.train_loss = all.of.train;
  point.test_loss = all.of.test;
  point.accuracy = 0.5 + std::atan(std::sqrt(p.beta * at.m2 / at.c)) / std::numbers::pi;
  point.replicon = all.replicon;
  point.residual = defects(p, x).cwiseAbs().maxCoeff();
  if (at.m2 == 0 && all.gain < 1 && p.activation == MaskActivation::identity) {
    const double distance = 1 - all.gain;
    point.alignment_excess =
        (1 + p.alpha * p.beta * all.of.noise * all.mean_v * all.mean_v / at.q) /
        (distance * distance);
  }
  return point;
}

double resampling_threshold(const ResamplingProblem& problem) {
  ResamplingProblem p = problem;
  require(p.beta > 0, "beta", p.beta, "beta > 0: without a signal there is no threshold");
  p.alpha = 1;
  require_problem(p);
  p.alpha = weak_signal_threshold(p);
  const auto at = [&](double alpha) {
    p.alpha = alpha;
    return log_gain(p);
  };
  constexpr double kStep = 1.3;
  constexpr int kMost = 100;
  double low = p.alpha;
  double high = low;
  int steps = 0;
  // Without a penalty one mask has no branch below α = 1/(2 E γ²), next to which its gain is small.
  const double least = p.masks.value_or(2) <= 1 ? (1 + 1e-6) / (2 * moment(p, 2)) : 0;
  low = std::max(low, least);
  while (at(low) > 0 && low > least && ++steps < kMost) low = std::max(low / kStep, least);
  high = std::max(high, low);
  while (at(high) < 0 && ++steps < kMost) high *= kStep;
  if (steps >= kMost) {
    throw Error(ErrorKind::numerical,
                fmt::format("masked resampling: no threshold in alpha found at beta = {}, rho = {}",
                            p.beta,
                            p.rho));
  }
  return increasing_root(low, high, at);
}

double weak_signal_threshold(const ResamplingProblem& p) {
  const double once = p.masks ? (1 / (2 * p.rho * (1 - p.rho)) - 1) / *p.masks : 0;
  return moment(p, 2) / (p.beta * p.beta) * (1 + once);
}

double bayes_threshold(const ResamplingProblem& p) { return 1 / (p.beta * p.beta * moment(p, -2)); }

double bayes_cosine(const ResamplingProblem& p) {
  require_problem(p);
  if (!(p.alpha > bayes_threshold(p))) return 0;
  // h is the precision that a sample's latent gets from all coordinates, q = h/(1+h).
  const auto sums = [&](double q) {
    std::array<double, 2> all{};
    for (const auto& [gamma, share] : p.noise) {
      const double r = p.alpha * p.beta * q / gamma;
      all[0] += share * p.beta * r / (1 + r) / gamma;
      all[1] += share * r / (1 + r);
    }
    return all;
  };
  constexpr double kLeast = 1e-12;
  const double q = increasing_root(kLeast, 1.0, [&](double at) {
    const double h = sums(at)[0];
    return at - h / (1 + h);
  });
  return std::sqrt(sums(q)[1]);
}

std::vector<RivalOverlap> rival_overlaps(const ResamplingProblem& p) {
  require_problem(p);
  std::vector<SpikedGroup> groups;
  for (const auto& [variance, share] : p.noise) groups.push_back({variance, share, share});
  std::vector<RivalOverlap> all;
  for (const SpikeEstimator of :
       {SpikeEstimator::pca, SpikeEstimator::hollow, SpikeEstimator::correlation}) {
    const DelocalisedSpike spike(of, groups, 1 / p.alpha, 1);
    const SpikeOverlaps at = spike.overlaps(p.beta);
    all.push_back({of == SpikeEstimator::correlation ? at.right : at.symmetric, spike.threshold()});
  }
  return all;
}

double few_labels_accuracy(double accuracy, double labels) {
  require(accuracy >= 0.5 && accuracy < 1, "accuracy", accuracy, "0.5 <= accuracy < 1");
  require(labels >= 1, "labels", labels, "labels >= 1");
  // P(Σ y_i w·x_i > 0) from the characteristic function of its terms, whose real and imaginary
  // parts are those of Faddeeva's function.
  constexpr std::size_t kNodes = 400;
  constexpr double kWidest = 12;
  const double slope = std::tan(std::numbers::pi * (accuracy - 0.5));
  double phase = 0;
  for (const QuadratureNode& node : gauss_legendre(kNodes, {0, kWidest / std::sqrt(labels)})) {
    const double t = slope * node.x / std::numbers::sqrt2;
    const std::complex<double> one(std::exp(-t * t), 2 * std::numbers::inv_sqrtpi * dawson(t));
    phase += node.weight * std::exp(-labels * node.x * node.x / 2) * std::pow(one, labels).imag() /
             node.x;
  }
  return 0.5 + 2 * phase / std::numbers::pi * (accuracy - 0.5);
}

}  // namespace attica
