#include "attica/theory/icl/ridge.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "attica/core/error.hpp"
#include "attica/core/icl/regression.hpp"
#include "attica/solvers/statistics/distributions.hpp"
#include "attica/theory/icl/feature_law.hpp"
#include "attica/theory/ridge_kappa.hpp"

namespace attica {

using Eigen::ArrayXd;
using Eigen::MatrixXd;

namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

void check(const ContextRatios& r) {
  const auto positive = [](const char* name, double value) {
    require(value > 0 && std::isfinite(value), name, value, fmt::format("0 < {} < infinity", name));
  };
  positive("alpha", r.alpha);
  positive("tau", r.tau);
  require(r.kappa > 0, "kappa", r.kappa, "kappa > 0");
  require(r.rho >= 0 && std::isfinite(r.rho), "rho", r.rho, "0 <= rho < infinity");
  require(r.lambda >= 0 && std::isfinite(r.lambda), "lambda", r.lambda, "0 <= lambda < infinity");
}

/// M(ν) = ∫ 1/(r + ν) over the spectrum of the pool's second moment, and its derivative.
struct Resolvent {
  double m = 0;
  double slope = 0;
};

/// Marchenko-Pastur law of ratio κ.
Resolvent white_resolvent(double nu, double kappa) {
  if (std::isinf(kappa)) return {1 / (1 + nu), -1 / ((1 + nu) * (1 + nu))};
  const double b = nu + 1 - 1 / kappa;
  const double root = std::sqrt(b * b + 4 * nu / kappa);
  const double m = b >= 0 ? 2 / (b + root) : (root - b) * kappa / (2 * nu);
  return {m, -m * m / 2 * (1 + (nu + 1 + 1 / kappa) / root)};
}

/// Deterministic equivalents of (R + ν)⁻¹ and (R + ν)⁻² for a pool of covariance diag c.
struct Equivalents {
  ArrayXd f;
  ArrayXd f2;
};

Equivalents equivalents(const ArrayXd& c, double nu, double kappa) {
  const double inverse = 1 / kappa;  // 0 for an infinite pool
  // g = 1 - (1/κ) mean c g/(c g + ν): the difference is increasing and concave in g, so Newton's
  // method from 0 rises to the root.
  double g = 0;
  constexpr int kMostSteps = 2000;
  constexpr double kRounding = 4 * std::numeric_limits<double>::epsilon();
  for (int step = 0; step < kMostSteps; ++step) {
    const double excess = g - 1 + inverse * (c * g / (c * g + nu)).mean();
    const double slope = 1 + inverse * nu * (c / (c * g + nu).square()).mean();
    const double next = std::min(g - excess / slope, 1.0);
    if (next - g <= kRounding * next) break;
    g = next;
  }
  Equivalents e{.f = 1 / (c * g + nu), .f2 = {}};
  const double share = (c * g * e.f.square()).mean();  // M - ν mean f² without cancellation
  const double slope = std::isinf(kappa) ? 0 : share / (kappa + nu * (c * e.f.square()).mean());
  e.f2 = (c * slope + 1) * e.f.square();
  return e;
}

/// ξ of λ = ξ (1 - (1 - ξ M(x + ξ))/τ).
template <class Evaluate>
double effective_penalty(const ContextRatios& r, double x, double mean, const Evaluate& resolvent) {
  if (r.lambda == 0 && r.tau >= 1) return 0;
  const double highest = r.lambda + (mean + x) / r.tau;
  const KappaRoot root =
      solve_kappa({.lambda = r.lambda, .highest = highest}, highest, [&](double xi) {
        const Resolvent at = resolvent(x + xi);
        return KappaTrial{(r.tau - 1 + xi * at.m) / r.tau,
                          (r.tau - 1 + 2 * xi * at.m + xi * xi * at.slope) / r.tau};
      });
  if (!root.converged) {
    throw Error(
        ErrorKind::numerical,
        fmt::format("in-context ridge: no effective penalty found at alpha = {}, kappa = {}, "
                    "tau = {}, lambda = {}",
                    r.alpha,
                    r.kappa,
                    r.tau,
                    r.lambda));
  }
  return root.kappa;
}

/// ξ, 1 - γ and the error on the pool, at ν = x + ξ. Of the mean predictor R(R+ν)⁻¹ the error is
/// ρ + <r - r²/(r+ν) - ξ r²/(r+ν)²>, whatever the mean of r.
ContextErrors pool_part(const ContextRatios& r, double nu, double xi, const Resolvent& at) {
  const double denominator = r.tau - 1 + 2 * xi * at.m + xi * xi * at.slope;
  const double bias = r.rho + nu - nu * nu * at.m - xi * (1 - 2 * nu * at.m - nu * nu * at.slope);
  return {.icl = kUnbounded,
          .idg = denominator > 0 ? r.tau * bias / denominator : kUnbounded,
          .xi = xi,
          .one_minus_gamma = denominator / r.tau};
}

}  // namespace

ContextErrors context_limit(const ContextRatios& r) {
  check(r);
  const double x = (1 + r.rho) / r.alpha;
  const auto resolvent = [&](double nu) { return white_resolvent(nu, r.kappa); };
  const double xi = effective_penalty(r, x, 1, resolvent);
  const double nu = x + xi;
  const Resolvent at = resolvent(nu);
  ContextErrors errors = pool_part(r, nu, xi, at);
  if (std::isinf(errors.idg)) return errors;
  errors.icl = 1 + r.rho - 2 * (1 - nu * at.m) +
               (1 + x) * (1 - 2 * nu * at.m - nu * nu * at.slope) +
               (1 + x) * errors.idg / r.tau * (at.m + xi * at.slope);
  return errors;
}

ContextErrors context_limit(const ContextRatios& r, const TaskSpectra& spectra) {
  check(r);
  const ArrayXd& c = spectra.train;
  const ArrayXd& t = spectra.test;
  require(c.size() == t.size() && c.size() >= 1,
          "spectrum",
          static_cast<double>(t.size()),
          "two spectra of the same length");
  for (const ArrayXd* s : {&c, &t}) {
    require(s->minCoeff() >= 0 && s->maxCoeff() > 0,
            "spectrum",
            s->minCoeff(),
            "eigenvalues >= 0, one of them positive");
  }
  require(spectra.alpha_test > 0, "alpha_test", spectra.alpha_test, "alpha_test > 0");
  const double x = (c.mean() + r.rho) / r.alpha;
  const double x_test = (t.mean() + r.rho) / spectra.alpha_test;
  const auto resolvent = [&](double nu) {
    const Equivalents e = equivalents(c, nu, r.kappa);
    return Resolvent{e.f.mean(), -e.f2.mean()};
  };
  const double xi = effective_penalty(r, x, c.mean(), resolvent);
  const double nu = x + xi;
  const Equivalents e = equivalents(c, nu, r.kappa);
  ContextErrors errors = pool_part(r, nu, xi, {e.f.mean(), -e.f2.mean()});
  if (std::isinf(errors.idg)) return errors;
  errors.icl = r.rho + t.mean() - 2 * (t * (1 - nu * e.f)).mean() +
               ((t + x_test) * (1 - 2 * nu * e.f + nu * nu * e.f2)).mean() +
               errors.idg / r.tau * ((t + x_test) * (e.f - xi * e.f2)).mean();
  return errors;
}

ContextErrors context_gaussian(const MatrixXd& pool, const PoolSizes& sizes) {
  return context_gaussian(
      pool, sizes, fresh_moments(pool.cols(), {.length = sizes.context, .rho = sizes.rho}));
}

ContextErrors context_gaussian(const MatrixXd& pool,
                               const PoolSizes& sizes,
                               const ContextMoments& fresh) {
  const auto d = static_cast<double>(pool.cols());
  require(
      sizes.samples >= d, "samples", sizes.samples, fmt::format("at least d = {} sequences", d));
  require(sizes.lambda >= 0, "lambda", sizes.lambda, "lambda >= 0");
  const ContextMoments own = pool_moments(pool, {.length = sizes.context, .rho = sizes.rho});
  const Eigen::SelfAdjointEigenSolver<MatrixXd> spectrum(own.second);
  const ArrayXd b = spectrum.eigenvalues().array().max(0);
  const MatrixXd& u = spectrum.eigenvectors();
  const double inputs = sizes.samples / d;
  const double xi = ridge_kappa(b, inputs, sizes.lambda);
  const ArrayXd share = b / (b + xi);
  const double one_minus_gamma = 1 - share.square().sum() / inputs;
  if (one_minus_gamma <= 0) return {kUnbounded, kUnbounded, xi, 0};
  // In the eigenbasis of B: rows are directions of the query, columns those of (h, g).
  const MatrixXd cross = own.cross * u;
  const MatrixXd mean = cross * (1 / (b + xi)).matrix().asDiagonal();
  const MatrixXd test = u.transpose() * fresh.second * u;
  const double idg = (own.variance + ((mean.array().square().matrix() * b.matrix()).sum() -
                                      2 * mean.cwiseProduct(cross).sum()) /
                                         d) /
                     one_minus_gamma;
  const double icl =
      fresh.variance +
      ((mean * test).cwiseProduct(mean).sum() - 2 * mean.cwiseProduct(fresh.cross * u).sum()) / d +
      idg * (test.diagonal().array() * b / (b + xi).square()).sum() / inputs;
  return {.icl = icl, .idg = idg, .xi = xi, .one_minus_gamma = one_minus_gamma};
}

ContextErrors context_pool(const MatrixXd& pool, const PoolSizes& sizes) {
  return context_pool(
      pool, sizes, fresh_moments(pool.cols(), {.length = sizes.context, .rho = sizes.rho}));
}

ContextErrors context_pool(const MatrixXd& pool,
                           const PoolSizes& sizes,
                           const ContextMoments& fresh) {
  return context_pool(pool, sizes, std::vector{fresh}).front();
}

std::vector<ContextErrors> context_pool(const MatrixXd& pool,
                                        const PoolSizes& sizes,
                                        const std::vector<ContextMoments>& tests) {
  std::vector<ContextErrors> all;
  for (const ContextMoments& test : tests) all.push_back(context_gaussian(pool, sizes, test));
  if (all.empty() || all.front().one_minus_gamma <= 0) return all;
  // Sums over tasks take time in proportion to them. What the law adds, as a factor, hardly depends
  // on how many there are: of 20 d and of 80 d it differs by up to 1e-3.
  constexpr Eigen::Index kTasks = 20;
  if (const Eigen::Index most = kTasks * pool.cols(); pool.rows() > most) {
    const MatrixXd first = pool.topRows(most);
    const std::vector<ContextErrors> kept = context_pool(first, sizes, tests);
    for (std::size_t k = 0; k < all.size(); ++k) {
      const ContextErrors gaussian = context_gaussian(first, sizes, tests[k]);
      all[k].icl *= kept[k].icl / gaussian.icl;
      all[k].idg *= kept[k].idg / gaussian.idg;
    }
    return all;
  }
  const ContextNoise context{.length = sizes.context, .rho = sizes.rho};
  const ContextMoments own = pool_moments(pool, context);
  // Without a penalty K has no limit where n < d(d + 1), the errors have; they approach it
  // linearly. The equations' slope along K is 1 - λ/ξ: below a share of 1e-5 what they are solved
  // to decides nothing.
  constexpr double kLeast = 1e-9;
  constexpr double kLeastShare = 1e-4;
  const auto d = static_cast<double>(pool.cols());
  const double xi = std::max(all.front().xi, kLeast);
  const double lambda = std::max({sizes.lambda, kLeast, kLeastShare * xi});
  const Eigen::SelfAdjointEigenSolver<MatrixXd> spectrum(own.second, Eigen::EigenvaluesOnly);
  const ArrayXd b = spectrum.eigenvalues().array().max(0);
  const double weight = std::max(lambda / xi, 1 - (b / (b + xi)).sum() * d / sizes.samples);
  const RidgeOfFeatures fit =
      ridge_of_features(FeatureLaw(pool, context), sizes.samples, lambda, own, weight);
  const auto error = [&](const ContextMoments& moments) {
    return population_error(fit.mean, moments) + moments.second.cwiseProduct(fit.covariance).sum();
  };
  const double idg = error(own);
  for (std::size_t k = 0; k < all.size(); ++k) {
    all[k].icl = error(tests[k]);
    all[k].idg = idg;
  }
  return all;
}

double context_bayes(double alpha, double rho) {
  require(alpha > 0, "alpha", alpha, "alpha > 0");
  require(rho >= 0, "rho", rho, "rho >= 0");
  if (rho == 0) return std::max(1 - alpha, 0.0);
  return rho * (1 + white_resolvent(rho / alpha, alpha).m / alpha);
}

double two_task_error(double length, double rho, double square) {
  require(length > 0, "length", length, "length > 0");
  require(rho > 0, "rho", rho, "rho > 0");
  require(square >= 0, "square", square, "square >= 0");
  // Trapezoids in ln χ²(length) and in the normal part of the log odds.
  constexpr double kStep = 0.05;
  constexpr double kReach = 9;
  const double lowest = -80 / length;  // e^-40 of the probability
  const double highest = std::log(length + 80 + 20 * std::sqrt(length));
  double wrong = 0;  // E (share of the wrong task)²
  for (double y = lowest; y < highest; y += kStep) {
    const double chi2 = std::exp(y);
    const double density =
        std::exp(length / 2 * (y - std::numbers::ln2) - chi2 / 2 - log_gamma(length / 2));
    const double s = square * chi2;
    for (double z = -kReach; z <= kReach; z += kStep) {
      const double odds = s / (2 * rho) + std::sqrt(s / rho) * z;
      const double weight = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
      wrong += kStep * kStep * density * weight / std::pow(1 + std::exp(odds), 2);
    }
  }
  return rho + square * wrong;
}

double gaussian_allowance(double alpha) {
  constexpr double kLong = 0.8;
  constexpr double kShort = 1.8;
  return kLong + kShort / alpha;
}

double limit_allowance(double kappa) {
  constexpr double kMany = 2.5;
  constexpr double kFew = 0.4;
  return kMany * (1 + kFew / kappa);
}

}  // namespace attica
