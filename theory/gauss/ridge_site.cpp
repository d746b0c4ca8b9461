// The readable path: one task, one eigendecomposition, the formulas of the header as they stand.

#include <cmath>
#include <limits>

#include "attica/core/error.hpp"
#include "attica/theory/gauss/labels.hpp"
#include "attica/theory/gauss/ridge.hpp"
#include "attica/theory/gauss/ridge_first_order.hpp"
#include "attica/theory/gauss/site_regression.hpp"
#include "attica/theory/ridge_kappa.hpp"

namespace attica {

namespace {

/// One task by the formulas of ridge.hpp as they stand.
RidgeSite task_ridge(const LinearTask& task, double samples, double lambda, RidgeOrder order) {
  require_samples(samples);
  lambda = checked_penalty(lambda);
  const Eigen::ArrayXd& s = task.spectrum;
  const Eigen::ArrayXd& v2 = task.weights2;
  const double sigma2 = task.noise;
  const auto rank = static_cast<double>(s.size());
  const double kappa = ridge_kappa(s, samples, lambda);
  const double train_factor = kappa > 0 ? lambda / kappa : 1 - rank / samples;

  RidgeSite result{.kappa = kappa, .bayes_error = sigma2};
  const double slope = (s / (s + kappa).square()).sum();
  result.one_minus_gamma = train_factor + kappa / samples * slope;
  const double gamma = 1 - result.one_minus_gamma;
  result.bias = kappa * kappa * (s * v2 / (s + kappa).square()).sum();
  result.signal = (s * v2).sum();
  result.overlap_m = (s.square() * v2 / (s + kappa)).sum();
  result.overlap_q = (s.cube() * v2 / (s + kappa).square()).sum();
  result.weight_norm2 = (s.square() * v2 / (s + kappa).square()).sum();
  if (result.one_minus_gamma == 0) {
    if (sigma2 == 0) return result;
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    result.noise_variance = result.test_error = kInfinity;
    result.overlap_q = result.weight_norm2 = kInfinity;
    result.status = RidgeStatus::divergent;
    return result;
  }
  result.sampling_variance = result.bias * gamma / result.one_minus_gamma;
  result.noise_variance = sigma2 * gamma / result.one_minus_gamma;
  result.test_error = (result.bias + sigma2) / result.one_minus_gamma;
  result.train_error = train_factor * train_factor * result.test_error;
  result.overlap_q += gamma * result.test_error;
  result.weight_norm2 += result.test_error / samples * slope;
  if (order == RidgeOrder::first) {
    const Eigen::ArrayXd p = s / (s + kappa);
    const Eigen::ArrayXd q = kappa / (s + kappa);
    add_first_order({.samples = samples,
                     .lambda_share = train_factor,
                     .slope1 = (p / (s + kappa)).sum() / samples,
                     .slope2 = (p.square() / (s + kappa)).sum() / samples,
                     .slope3 = (p.cube() / (s + kappa)).sum() / samples,
                     .bias2 = kappa * (v2 * q * p.square()).sum(),
                     .bias3 = kappa * (v2 * q * p.cube()).sum(),
                     .weight2 = (v2 * p.square()).sum()},
                    result);
  }
  return result;
}

}  // namespace

RidgeSite ridge_site(const GaussianMlm& problem,
                     Eigen::Index site,
                     double samples,
                     double lambda,
                     RidgeOrder order) {
  const SiteRegression regression = site_regression(problem, site);
  return task_ridge({.spectrum = regression.s,
                     .weights2 = regression.teacher.array().square(),
                     .noise = regression.bayes_error},
                    samples,
                    lambda,
                    order);
}

LinearTask random_teacher(const Eigen::ArrayXd& spectrum, double signal, double noise) {
  require(spectrum.size() > 0 && spectrum.isFinite().all() && (spectrum > 0).all(),
          "spectrum",
          spectrum.size() > 0 ? spectrum.minCoeff() : 0.0,
          "at least one eigenvalue, all positive and finite");
  require(std::isfinite(signal) && signal >= 0, "signal", signal, "0 <= signal < infinity");
  require(std::isfinite(noise) && noise >= 0, "noise", noise, "0 <= noise < infinity");
  return {.spectrum = spectrum,
          .weights2 = Eigen::ArrayXd::Constant(spectrum.size(), signal / spectrum.sum()),
          .noise = noise};
}

LabelRidge label_ridge(const LinearTask& task, double samples, double lambda, RidgeOrder order) {
  require(task.weights2.size() == task.spectrum.size(),
          "weights2",
          static_cast<double>(task.weights2.size()),
          "one for every eigenvalue");
  const RidgeSite site = task_ridge(task, samples, lambda, order);
  lambda = checked_penalty(lambda);
  // Without penalty the norm plays no part, even where it diverges.
  const auto with_norm = [&](double error, double norm) {
    return lambda > 0 ? error + lambda * norm : error;
  };
  return {
      .kappa = site.kappa,
      .test_error = site.test_error,
      .train_error = site.train_error,
      .objective = with_norm(site.train_error, site.weight_norm2),
      .finite_size_test = site.finite_size_test,
      .finite_size_train = site.finite_size_train,
      .finite_size_objective = with_norm(site.finite_size_train, site.finite_size_weight_norm2)};
}

std::vector<std::vector<MaskedError>> masked_errors(const GaussianMlm& problem,
                                                    std::span<const double> samples,
                                                    std::span<const double> lambdas,
                                                    RidgeOrder order) {
  const GaussianRidge ridge(problem, order);
  std::vector<std::vector<MaskedError>> all;
  for (const double lambda : lambdas) {
    std::vector<MaskedError>& errors = all.emplace_back();
    for (const RidgePoint& point : ridge.curve(samples, lambda))
      errors.push_back(
          {point.test_error, order == RidgeOrder::leading ? 0 : point.finite_size_test});
  }
  return all;
}

void add_first_order(const RidgeMoments& moments, RidgeSite& site) {
  const auto& [samples, share, slope1, slope2, slope3, v2, v3, weight2] = moments;
  const double kappa = site.kappa;
  const double gamma = 1 - site.one_minus_gamma;
  const double l = 1 / site.one_minus_gamma;
  const double d2 = l * kappa * slope2;
  const double d3 = l * kappa * slope3;
  const double v1 = site.bias;
  const double sigma2 = site.bayes_error;
  const double population = v1 + sigma2;
  const double order = l / samples;
  const double curvature = 4 * d2 * d2 - 3 * d3;

  // Of E_test: from the noise, and from the signal; that of the squared bias alone.
  const double test_share = gamma - d2 + curvature;
  const double noise = l * order * sigma2 * test_share;
  const double signal = l * order * (v1 * test_share + 3 * v3 - 4 * d2 * v2);
  const double bias = 2 * order * (v3 - d2 * v2);
  const RidgeSite leading = site;
  site.bias += bias;
  site.noise_variance += noise;
  site.sampling_variance += signal - bias;
  site.test_error += signal + noise;
  site.train_error +=
      share * share * l * order * (population * (3 * d2 + curvature) + 3 * v3 - (4 * d2 + 2) * v2);

  const double overlap = -order * (kappa * weight2 * (1 - d2) - v2);
  site.overlap_m += overlap;
  site.overlap_q += signal + noise + 2 * overlap;

  // Of E‖ŵ‖²: Σ v² (F + (λ/κ) L F') with F = q p Y, Y = L (p - D₂), and F' its derivative by log κ.
  if (kappa > 0) {
    const double f = (v2 - d2 * v1) * l;
    const double slope = l * ((3 * d2 + curvature) * v1 - (4 * d2 + 2) * v2 + 3 * v3);
    site.weight_norm2 -= (f + share * l * slope) / (samples * kappa);
  }
  site.weight_norm2 +=
      sigma2 * l * l * order *
      (share * (3 * slope3 - 2 * slope2 - 4 * d2 * slope2) + slope2 * kappa * slope1);

  constexpr double kSmallest = std::numeric_limits<double>::min();  // below it 1/x is no number
  const double per_population = population > kSmallest ? 1 / population : 0;
  const SecondOrder rest =
      second_order({.omega = order,
                    .gamma = gamma,
                    .d2 = d2,
                    .interpolating_share = 1 - share * l,
                    .signal = std::abs(v1 * test_share + 3 * v3 - 4 * d2 * v2) * per_population});
  site.finite_size_test = leading.test_error * rest.test;
  site.finite_size_train = leading.train_error * rest.train;
  site.finite_size_overlap_m = leading.overlap_m * rest.overlaps;
  site.finite_size_overlap_q = leading.overlap_q * rest.overlaps;
  site.finite_size_weight_norm2 = leading.weight_norm2 * rest.overlaps;

  // At the threshold of a penalty of almost nothing the terms are no numbers: there is no
  // expansion.
  if (!std::isfinite(site.test_error + site.train_error + site.overlap_m + site.overlap_q +
                     site.weight_norm2)) {
    site = leading;
    for (double* allowance : {&site.finite_size_test,
                              &site.finite_size_train,
                              &site.finite_size_overlap_m,
                              &site.finite_size_overlap_q,
                              &site.finite_size_weight_norm2}) {
      *allowance = std::numeric_limits<double>::infinity();
    }
  }
}

}  // namespace attica
