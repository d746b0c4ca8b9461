#include "attica/theory/masked/spectrum.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "attica/core/error.hpp"
#include "attica/theory/ridge_kappa.hpp"

namespace attica {

using Complex = std::complex<double>;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

void require_ratio(double gamma, double lambda) {
  require(std::isfinite(gamma) && gamma > 0, "gamma", gamma, "0 < gamma = d/n < infinity");
  require(std::isfinite(lambda) && lambda > 0, "lambda", lambda, "0 < lambda < infinity");
}

/// Q(z) = (Σ/(1+e) + λ - z diag(1/g))⁻¹ at a trial e.
struct Resolvent {
  Complex e;
  std::vector<Complex> q;  ///< one a group
  Complex f;               ///< (1/n) tr ΣQ, which is e at the solution
  Complex gamma;           ///< df/de = (1/n) tr(ΣQΣQ)/(1+e)²
  double rounding = 0;     ///< of f

  double residual() const { return std::abs(e - f); }
};

Resolvent trial(const MaskedEquivalent& m, Complex z, Complex e) {
  constexpr double kRounding = 8 * std::numeric_limits<double>::epsilon();
  Resolvent at{.e = e, .q = {}, .f = 0, .gamma = 0, .rounding = kRounding * std::abs(e)};
  const Complex c = 1.0 / (1.0 + e);
  for (std::size_t p = 0; p < m.groups.size(); ++p) {
    const auto& [psi, share] = m.groups[p];
    const Complex own = psi * c;
    const Complex shift = z / m.g[p];
    const Complex q = 1.0 / (own + m.lambda - shift);
    const Complex term = m.gamma * share * psi * q;
    at.q.push_back(q);
    at.f += term;
    at.gamma += term * psi * q * c * c;
    // What cancels in the denominator is rounded before it does.
    const double cancelled = (std::abs(own) + m.lambda + std::abs(shift)) * std::abs(q);
    at.rounding += kRounding * std::abs(term) * (1 + cancelled);
  }
  return at;
}

/// Follows the root with Im e of the sign of Im z from far above the real axis down to z, by
/// Newton's method, and steps of the fixed-point iteration where that would leave the half plane or
/// not help.
Resolvent solve(const MaskedEquivalent& m, Complex z) {
  constexpr double kTolerance = 1e-14;
  constexpr double kShrink = 0.5;
  constexpr double kProgress = 0.9;
  constexpr int kSteps = 1000;
  const double sign = z.imag() > 0 ? 1 : -1;
  double height = 100 * std::max(std::abs(z), 1.0);
  Complex start{0, sign};
  for (bool last = false; !last; height *= kShrink) {
    last = height <= std::abs(z.imag());
    const Complex where{z.real(), last ? z.imag() : sign * height};
    Resolvent at = trial(m, where, start);
    bool converged = false;
    for (int step = 0; step < kSteps && !converged; ++step) {
      Resolvent next = trial(m, where, at.e + (at.f - at.e) / (1.0 - at.gamma));
      if (!(sign * next.e.imag() > 0 && next.residual() < kProgress * at.residual())) {
        // f maps the half plane into itself and shrinks its distances.
        next = trial(m, where, 0.5 * (at.e + at.f));
      }
      converged = std::abs(next.e - at.e) <= kTolerance * std::abs(next.e) ||
                  next.residual() <= next.rounding;
      at = std::move(next);
    }
    if (!converged) {
      throw Error(ErrorKind::numerical,
                  fmt::format("masked spectrum: the equation for the resolvent did not converge at "
                              "z = {} + {}i, gamma = {}, lambda = {}: residual {:.3g}",
                              where.real(),
                              where.imag(),
                              m.gamma,
                              m.lambda,
                              at.residual()));
    }
    if (last) return at;
    start = at.e;
  }
  return trial(m, z, start);
}

/// z just above the real axis, where 1 - 1/z = w.
Complex above(double w) {
  constexpr double kHeight = 1e-10;
  require(w < 1, "w", w, "w < 1, as all eigenvalues are");
  const double z = 1 / (1 - w);
  return {z, kHeight * z};
}

void solve_kappa_of(MaskedEquivalent& m) {
  require_ratio(m.gamma, m.lambda);
  double mean = 0;
  for (const auto& [psi, share] : m.groups) {
    require(std::isfinite(psi) && psi > 0, "variance", psi, "0 < variance < infinity");
    mean += share * psi;
  }
  const double highest = m.lambda + m.gamma * mean;
  const KappaRoot root =
      solve_kappa({.lambda = m.lambda, .highest = highest}, highest, [&](double kappa) {
        KappaTrial at{.residual_share = 1 - m.gamma, .one_minus_gamma = 1 - m.gamma};
        for (const auto& [psi, share] : m.groups) {
          const double rest = kappa / (psi + kappa);
          at.residual_share += m.gamma * share * rest;
          at.one_minus_gamma += m.gamma * share * rest * (2 - rest);
        }
        return at;
      });
  if (!root.converged) {
    throw Error(
        ErrorKind::numerical,
        fmt::format("masked spectrum: no effective penalty found at gamma = {}, lambda = {}",
                    m.gamma,
                    m.lambda));
  }
  m.kappa = root.kappa;
}

}  // namespace

MaskedEquivalent masked_equivalent(std::vector<SiteGroup> groups, double gamma, double lambda) {
  MaskedEquivalent m{
      .groups = std::move(groups), .gamma = gamma, .lambda = lambda, .kappa = 0, .g = {}};
  solve_kappa_of(m);
  for (const SiteGroup& group : m.groups) {
    m.g.push_back(m.kappa / m.lambda / (group.variance + m.kappa));
  }
  return m;
}

MaskedEquivalent masked_stationary(std::vector<SiteGroup> groups, double gamma, double lambda) {
  MaskedEquivalent m = masked_equivalent(std::move(groups), gamma, lambda);
  double mean = 0;
  for (std::size_t p = 0; p < m.groups.size(); ++p) mean += m.groups[p].share * m.g[p];
  m.g.assign(m.g.size(), mean);
  return m;
}

Complex masked_resolvent(const MaskedEquivalent& m, Complex w) {
  require(w.imag() != 0, "w", w.real(), "a point off the real axis");
  const Complex z = 1.0 / (1.0 - w);
  const Resolvent at = solve(m, z);
  Complex sum = 0;
  for (std::size_t p = 0; p < m.groups.size(); ++p) sum += m.groups[p].share * at.q[p] / m.g[p];
  return z * (1.0 + z * sum);
}

double masked_cdf(const MaskedEquivalent& m, double w) {
  const Complex z = above(w);
  const Resolvent at = solve(m, z);
  double phase = 0;
  for (std::size_t p = 0; p < m.groups.size(); ++p) {
    phase -= m.groups[p].share * std::arg(at.q[p]);
  }
  phase += (std::log(1.0 + at.e) - at.e / (1.0 + at.e)).imag() / m.gamma;
  return -phase / std::numbers::pi;
}

MaskedSupport masked_support(const MaskedEquivalent& m, double below) {
  // A density that begins like a root has mass a^(3/2) within a of its end.
  constexpr double kMass = 1e-8;
  constexpr int kHalvings = 60;
  // In z = 1/(1-w), from 0 to beyond the largest eigenvalue of g(S+λ).
  double largest = 0;
  for (std::size_t p = 0; p < m.groups.size(); ++p) {
    const double root = 1 + std::sqrt(m.gamma);
    for (const SiteGroup& group : m.groups) {
      largest = std::max(largest, m.g[p] * (root * root * group.variance + m.lambda));
    }
  }
  const auto where = [&](double share) {
    double low = 0;
    double high = 2 * largest;
    for (int k = 0; k < kHalvings; ++k) {
      const double z = (low + high) / 2;
      (masked_cdf(m, 1 - 1 / z) < share ? low : high) = z;
    }
    return 1 - 2 / (low + high);
  };
  return {.lower = where(below + kMass), .upper = where(1 - kMass)};
}

double masked_moment2(const MaskedEquivalent& m) {
  double first = 0;
  double second = 0;
  for (std::size_t p = 0; p < m.groups.size(); ++p) {
    const double product = m.groups[p].variance * m.g[p];
    first += m.groups[p].share * product;
    second += m.groups[p].share * product * product;
  }
  const double ratio = m.kappa / m.lambda;
  return m.gamma * first * first / (ratio * ratio - m.gamma * second);
}

double masked_moment2(const MatrixXd& covariance, double samples, double lambda) {
  const Index d = covariance.rows();
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(covariance, Eigen::EigenvaluesOnly);
  const double kappa = ridge_kappa(solver.eigenvalues().array(), samples, lambda);
  require(lambda > 0, "lambda", lambda, "0 < lambda < infinity");
  const double ratio = kappa / lambda;
  const MatrixXd mean =
      ratio * (covariance + kappa * MatrixXd::Identity(d, d)).llt().solve(MatrixXd::Identity(d, d));
  const VectorXd weights = mean.diagonal().cwiseInverse();
  const MatrixXd product = covariance * mean;
  const MatrixXd square = mean * weights.asDiagonal() * mean;  // ḠMḠ
  const double g2 = product.cwiseProduct(product.transpose()).sum() / samples;
  const double scale = covariance.cwiseProduct(square).sum() / samples / (ratio * ratio - g2);
  const VectorXd second = (mean * product).diagonal();  // ḠΣḠ
  return weights.dot(square.diagonal() + scale * second) / static_cast<double>(d) - 1;
}

IsotropicSpectrum isotropic_spectrum(double gamma, double lambda) {
  const MaskedEquivalent m = masked_equivalent({SiteGroup{}}, gamma, lambda);
  const double kappa = m.kappa;
  const double g = m.g.front();
  const double root = std::sqrt(gamma);
  const auto edge = [&](double x) { return 1 - 1 / (g * (x + lambda)); };
  const double slope = 1 / (1 - gamma / ((1 + kappa) * (1 + kappa)));  // dκ/dλ
  return {.kappa = kappa,
          .g = g,
          .lower = edge((1 - root) * (1 - root)),
          .upper = edge((1 + root) * (1 + root)),
          .atom = gamma > 1 ? std::optional(-1 / kappa) : std::nullopt,
          .moment2 = gamma / ((1 + kappa) * (1 + kappa) - gamma),
          .moment3 = -2 + 3 * slope - slope * slope -
                     gamma * std::pow(slope / (1 + kappa), 3) * (1 + kappa - gamma)};
}

namespace {

/// E (1/d) tr (S+λ)⁻¹ = G0 + G1 + O(1/n²) for Σ = I and γ = d/n: the formulas for any Σ with δ = γ
/// G0, s = γ G0², s3 = γ G0³. λ may be complex, for derivatives.
template <class Number>
struct IsotropicTrace {
  Number kappa;
  Number leading;  ///< G0
  Number first;    ///< G1
};

template <class Number>
IsotropicTrace<Number> isotropic_trace(double gamma, double n, const Number& lambda) {
  const Number b = lambda + (gamma - 1);
  const Number root = std::sqrt(b * b + 4.0 * lambda);
  const Number kappa = std::real(b) > 0 ? (b + root) / 2.0 : 2.0 * lambda / (root - b);
  const Number one = kappa / lambda;  // 1 + δ
  const Number g0 = one / (1.0 + kappa);
  const Number s = gamma * g0 * g0;
  const Number rest = 1.0 - s / (one * one);
  const Number delta1 = (s * g0 / (one * one) - s * s / (one * one * one)) / (n * rest * rest);
  const Number g1 = g0 * (g0 * delta1 / (one * one) +
                          (g0 * g0 / (one * one) - s * g0 / (one * one * one)) / (n * rest));
  return {.kappa = kappa, .leading = g0, .first = g1};
}

/// 1 - γ + λ γ E[G]
template <class Number>
Number isotropic_p1(double gamma, double n, const Number& lambda) {
  const IsotropicTrace<Number> trace = isotropic_trace(gamma, n, lambda);
  return 1 - gamma + lambda * gamma * (trace.leading + trace.first);
}

/// K is the projection away from a Gram matrix, λ(λ + YYᵀ/n)⁻¹ with γn columns in Y.
struct KernelMoments {
  double k1, k2, k3, k4;  ///< E (1/n) tr K^j
};

/// By Cauchy's formula: λ^j times the Taylor coefficients of k1(λ), up to sign, are k_j - k_{j+1}.
/// @param order_n without it to leading order, else to order 1/n
KernelMoments kernel_moments(double gamma, double n, double lambda, bool order_n = true) {
  // The nearest singularity is 0: what aliases is of order 2^-64.
  constexpr int kNodes = 64;
  constexpr double kRadius = 0.5;
  std::array<double, 4> c{};
  for (int node = 0; node < kNodes; ++node) {
    const Complex turn = std::polar(1.0, 2 * std::numbers::pi * (node + 0.5) / kNodes);
    const Complex value = isotropic_p1(gamma,
                                       order_n ? n : std::numeric_limits<double>::infinity(),
                                       lambda * (1.0 + kRadius * turn));
    for (std::size_t j = 0; j < c.size(); ++j) {
      const auto power = static_cast<int>(j);
      c[j] += (value * std::pow(kRadius * turn, -power)).real() / kNodes;
    }
  }
  const double k2 = c[0] - c[1];
  const double k3 = k2 + c[2];
  return {.k1 = c[0], .k2 = k2, .k3 = k3, .k4 = k3 - c[3]};
}

}  // namespace

double isotropic_moment2(double dimension, double samples, double lambda) {
  require(dimension >= 3, "dimension", dimension, "at least 3");
  require_samples(samples);
  require_ratio(dimension / samples, lambda);
  const double gamma = (dimension - 2) / samples;
  const KernelMoments k = kernel_moments(gamma, samples, lambda);
  const double third = kernel_moments(gamma, samples, lambda, false).k3;
  const double block = lambda + k.k1;
  return (dimension - 1) / samples * k.k2 / (block * block) *
         (1 - 4 * third / (samples * k.k2 * block) + 4 * k.k2 / (samples * block * block));
}

double isotropic_moment3(double dimension, double samples, double lambda) {
  require(dimension >= 4, "dimension", dimension, "at least 4");
  require_samples(samples);
  require_ratio(dimension / samples, lambda);
  const double n = samples;
  const auto [k1, k2, k3, k4] = kernel_moments((dimension - 3) / n, n, lambda);
  const double s = lambda + k1;
  const double spread = k2 / (n * s * s);  // half the variance of B_ii/s
  // Of a = r_12, b = r_23, c = r_31, r = B_ij/sqrt(B_ii B_jj), times n²:
  const double chain = (k3 * (1 + 6 * spread) - 6 * k4 / (n * s)) / (s * s * s);  // abc
  const double t = (k2 * (1 + 2 * spread) - 2 * k3 / (n * s)) / s;
  const double squares =
      (t * t * (1 + 6 * spread) + 2 * k4 / (n * s * s) - 8 * t * k3 / (n * s * s)) /
      (s * s);  // a²b²
  const double higher = (18 * k2 * k3 / s - 22 * k2 * k2 * k2 / (s * s)) / (n * std::pow(s, 4));
  return (dimension - 1) / n * (dimension - 2) / n * (chain - 3 * squares + higher);
}

}  // namespace attica
