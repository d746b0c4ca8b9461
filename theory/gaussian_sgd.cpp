#include "attica/theory/gaussian_sgd.hpp"

#include <fmt/format.h>

#include <Eigen/QR>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <limits>

#include "attica/core/error.hpp"

namespace attica {
namespace {

using Eigen::ArrayXd;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void check(const SgdParameters& p) {
  require(std::isfinite(p.eta) && p.eta > 0, "eta", p.eta, "0 < eta < infinity");
  require(std::isfinite(p.batch) && p.batch >= 1, "batch", p.batch, "1 <= batch < infinity");
  require(p.probability > 0 && p.probability <= 1,
          "mask_probability",
          p.probability,
          "0 < mask_probability <= 1");
  require(std::isfinite(p.decay) && p.decay >= 0, "decay", p.decay, "0 <= decay < infinity");
}

void check_without_decay(const SgdParameters& p) {
  check(p);
  require(p.decay == 0, "decay", p.decay, "0 here");
}

// Calls `step()` between the recorded steps and `error()` at them; +inf once the error is not
// finite.
template <class Step, class Error_>
std::vector<double> record(std::span<const std::int64_t> steps, Step&& step, Error_&& error) {
  std::vector<double> result;
  result.reserve(steps.size());
  std::int64_t done = 0;
  for (const std::int64_t recorded : steps) {
    require(
        recorded >= done, "steps", static_cast<double>(recorded), "rising numbers of steps >= 0");
    for (; done < recorded; ++done) step();
    result.push_back(error());
    if (!std::isfinite(result.back())) break;
  }
  if (!result.empty() && !std::isfinite(result.back())) result.back() = kInfinity;
  result.resize(steps.size(), kInfinity);
  return result;
}

// The factor of η s_k in the first stability bound.
double bound_factor(double batch, double p) { return p + (2 - p) / batch; }

double chi(const SiteRegression& site, double eta, double batch, double p) {
  return eta / batch * (site.s / (2 - eta * bound_factor(batch, p) * site.s)).sum();
}

}  // namespace

std::vector<double> online_sgd_errors(const SiteRegression& site,
                                      const SgdParameters& parameters,
                                      std::span<const std::int64_t> steps) {
  check(parameters);
  const auto& [eta, batch, p, decay] = parameters;
  const ArrayXd& s = site.s;
  const ArrayXd v = site.teacher.array();
  const ArrayXd c = 1 - eta * (p * s + decay);
  const ArrayXd contraction = c.square() + eta * eta * (2 * p - p * p) / batch * s.square();
  const ArrayXd noise = eta * eta * p / batch * s;
  const ArrayXd pull = eta * decay * v;  // ηλv
  ArrayXd m = v.square();
  ArrayXd mu = -v;
  double risk = (s * m).sum();
  const auto step = [&] {
    m = contraction * m + (risk + site.bayes_error) * noise;
    if (decay > 0) {
      m += pull * (pull - 2 * c * mu);
      mu = c * mu - pull;
    }
    risk = (s * m).sum();
  };
  return record(steps, step, [&] { return risk + site.bayes_error; });
}

std::vector<double> online_sgd_errors_volterra(const SiteRegression& site,
                                               double eta,
                                               double batch,
                                               std::int64_t last) {
  check({.eta = eta, .batch = batch});
  require(last >= 0, "steps", static_cast<double>(last), "steps >= 0");
  const ArrayXd& s = site.s;
  const ArrayXd a = (1 - eta * s).square() + (eta * s).square() / batch;
  ArrayXd power = ArrayXd::Ones(s.size());  // a^t
  std::vector<double> free_decay, kernel, errors;
  for (std::int64_t t = 0; t <= last; ++t, power *= a) {
    free_decay.push_back((s * power * site.teacher.array().square()).sum());
    kernel.push_back((s.square() * power).sum());
  }
  for (std::size_t t = 0; t < free_decay.size(); ++t) {
    double memory = 0;
    for (std::size_t tau = 0; tau < t; ++tau) memory += kernel[t - 1 - tau] * errors[tau];
    errors.push_back(free_decay[t] + eta * eta / batch * memory + site.bayes_error);
  }
  return errors;
}

SgdSteadyState online_sgd_steady(const SiteRegression& site, const SgdParameters& parameters) {
  check_without_decay(parameters);
  const auto& [eta, batch, p, decay] = parameters;
  if (eta * site.s.maxCoeff() * bound_factor(batch, p) >= 2) {
    return {.chi = kInfinity, .error = kInfinity, .stable = false};
  }
  const double value = chi(site, eta, batch, p);
  const bool stable = value < 1;
  return {
      .chi = value, .error = stable ? site.bayes_error / (1 - value) : kInfinity, .stable = stable};
}

double online_sgd_eta_max(const SiteRegression& site, double batch, double probability) {
  check({.batch = batch, .probability = probability});
  // χ rises from 0 to infinity below the first bound; 1/χ - 1 changes sign once and stays bounded
  // there.
  const double bound = 2 / (site.s.maxCoeff() * bound_factor(batch, probability));
  const auto excess = [&](double share) {
    return 1 / chi(site, share * bound, batch, probability) - 1;
  };
  constexpr double kAlmost = 1 - 1e-15;
  constexpr double kLittle = 1e-12;
  std::uintmax_t iterations = 200;
  if (excess(kAlmost) >= 0) return bound;
  const auto [low, high] = boost::math::tools::toms748_solve(
      excess, kLittle, kAlmost, [](double a, double b) { return b - a <= 1e-14 * b; }, iterations);
  return 0.5 * (low + high) * bound;
}

std::vector<double> data_sgd_errors(const GaussianMlm& problem,
                                    Eigen::Index site,
                                    const MatrixXd& data,
                                    const SgdParameters& parameters,
                                    std::span<const std::int64_t> steps) {
  check_without_decay(parameters);
  require(parameters.probability == 1, "mask_probability", parameters.probability, "1 here");
  if (data.cols() != problem.sites() || data.rows() < 1 || !data.allFinite()) {
    throw invalid_parameter("data",
                            fmt::format("{} x {} matrix", data.rows(), data.cols()),
                            fmt::format("at least one finite row of length {}", problem.sites()));
  }
  const SiteRegression regression = site_regression(problem, site);
  const double eta = parameters.eta;
  const double batch = parameters.batch;
  const double samples = static_cast<double>(data.rows());
  const MatrixXd x = data(Eigen::all, regression.inputs);
  const VectorXd y = data.col(site);
  const MatrixXd covariance = problem.covariance()(regression.inputs, regression.inputs);
  const MatrixXd empirical = x.transpose() * x / samples;
  const VectorXd fit = x.completeOrthogonalDecomposition().solve(y);
  const VectorXd residual = y - x * fit;
  const VectorXd offset = fit - regression.basis * regression.teacher;  // δ
  VectorXd mean = -fit;                                                 // μ
  MatrixXd q = fit * fit.transpose();

  MatrixXd xq, sq;
  const auto step = [&] {
    xq.noalias() = x * q;
    sq.noalias() = x.transpose() * xq / samples;
    const VectorXd squares = residual.cwiseAbs2() - 2 * residual.cwiseProduct(x * mean) +
                             xq.cwiseProduct(x).rowwise().sum();
    q -= eta * (sq + sq.transpose());
    q.noalias() += eta * eta * (1 - 1 / batch) * sq * empirical;
    q.noalias() += eta * eta / (batch * samples) * x.transpose() * squares.asDiagonal() * x;
    mean -= eta * (empirical * mean);
  };
  return record(steps, step, [&] {
    return regression.bayes_error + covariance.cwiseProduct(q).sum() +
           offset.dot(covariance * (2 * mean + offset));
  });
}

}  // namespace attica
