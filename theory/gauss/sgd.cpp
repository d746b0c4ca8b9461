#include "attica/theory/gauss/sgd.hpp"

#include <fmt/format.h>

#include <Eigen/QR>
#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <limits>
#include <utility>

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
  require(std::isfinite(p.lambda) && p.lambda >= 0, "lambda", p.lambda, "0 <= lambda < infinity");
}

void check_without_decay(const SgdParameters& p) {
  check(p);
  require(p.lambda == 0, "lambda", p.lambda, "0 here");
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

// Mean of `count` curves of that length.
template <class Curve>
std::vector<double> mean_over(std::size_t count, std::size_t length, const Curve& curve) {
  std::vector<double> mean(length, 0.0);
  for (std::size_t i = 0; i < count; ++i) {
    const std::vector<double> one = curve(i);
    for (std::size_t k = 0; k < length; ++k) mean[k] += one[k] / static_cast<double>(count);
  }
  return mean;
}

// With d_k = p s_k + λ, the factor of m_k falls short of 1 by η (2 d_k - η b_k):
ArrayXd bounds(const SiteRegression& site, const SgdParameters& q) {  // b_k
  const double p = q.probability;
  return (p * site.s + q.lambda).square() + (2 * p - p * p) / q.batch * site.s.square();
}

// The smallest 2 d_k / b_k: from there on some m_k grows by itself.
double first_bound(const SiteRegression& site, const SgdParameters& q) {
  return (2 * (q.probability * site.s + q.lambda) / bounds(site, q)).minCoeff();
}

// χ = (η² p/B) Σ s_k² / (η (2 d_k - η b_k)), the feedback of the sampling noise on itself.
double chi(const SiteRegression& site, const SgdParameters& q) {
  const ArrayXd rate = 2 * (q.probability * site.s + q.lambda) - q.eta * bounds(site, q);
  return q.eta * q.probability / q.batch * (site.s.square() / rate).sum();
}

// Q ← Q - η(ŜQ + QŜ) + η² [(1-1/B) ŜQŜ + (1/BM) Σ_μ (e_μ + x_μᵀQx_μ) x_μ x_μᵀ].
class SecondMomentStep {
 public:
  SecondMomentStep(const MatrixXd& x, const SgdParameters& parameters)
      : x_(x),
        empirical_(x.transpose() * x / static_cast<double>(x.rows())),
        eta_(parameters.eta),
        batch_(parameters.batch) {}

  void operator()(MatrixXd& q, const VectorXd& e) {
    const auto samples = static_cast<double>(x_.rows());
    xq_.noalias() = x_ * q;
    sq_.noalias() = x_.transpose() * xq_ / samples;
    const VectorXd squares = e + xq_.cwiseProduct(x_).rowwise().sum();
    q -= eta_ * (sq_ + sq_.transpose());
    q.noalias() += eta_ * eta_ * (1 - 1 / batch_) * sq_ * empirical_;
    q.noalias() += eta_ * eta_ / (batch_ * samples) * x_.transpose() * squares.asDiagonal() * x_;
  }

 private:
  const MatrixXd& x_;
  MatrixXd empirical_;
  double eta_, batch_;
  MatrixXd xq_, sq_;
};

}  // namespace

std::vector<double> online_sgd_errors(const SiteRegression& site,
                                      const SgdParameters& parameters,
                                      std::span<const std::int64_t> steps) {
  check(parameters);
  const auto& [eta, batch, p, lambda] = parameters;
  const ArrayXd& s = site.s;
  const ArrayXd v = site.teacher.array();
  const ArrayXd c = 1 - eta * (p * s + lambda);
  const ArrayXd contraction = c.square() + eta * eta * (2 * p - p * p) / batch * s.square();
  const ArrayXd noise = eta * eta * p / batch * s;
  const ArrayXd pull = eta * lambda * v;  // ηλv
  ArrayXd m = v.square();
  ArrayXd mu = -v;
  double risk = (s * m).sum();
  const bool decays = lambda > 0;
  const auto step = [&] {
    m = contraction * m + (risk + site.bayes_error) * noise;
    if (decays) {
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
  if (parameters.eta >= first_bound(site, parameters)) {
    return {.chi = kInfinity, .error = kInfinity, .stable = false};
  }
  const double value = chi(site, parameters);
  const bool stable = value < 1;
  return {
      .chi = value, .error = stable ? site.bayes_error / (1 - value) : kInfinity, .stable = stable};
}

double online_sgd_eta_max(const SiteRegression& site, SgdParameters parameters) {
  parameters.eta = 1;  // of no meaning here
  check(parameters);
  // χ rises from 0 to infinity below the first bound; 1/χ - 1 changes sign once and stays bounded
  // there.
  const double bound = first_bound(site, parameters);
  const auto excess = [&](double share) {
    parameters.eta = share * bound;
    return 1 / chi(site, parameters) - 1;
  };
  constexpr double kAlmost = 1 - 1e-15;
  constexpr double kLittle = 1e-12;
  std::uintmax_t iterations = 200;
  if (excess(kAlmost) >= 0) return bound;
  const auto [low, high] = boost::math::tools::toms748_solve(
      excess, kLittle, kAlmost, [](double a, double b) { return b - a <= 1e-14 * b; }, iterations);
  return 0.5 * (low + high) * bound;
}

OnlineSgd::OnlineSgd(const GaussianMlm& problem) {
  for (Eigen::Index i = 0; i < problem.sites(); ++i) sites_.push_back(site_regression(problem, i));
}

std::vector<double> OnlineSgd::errors(const SgdParameters& parameters,
                                      std::span<const std::int64_t> steps) const {
  return mean_over(sites_.size(), steps.size(), [&](std::size_t i) {
    return online_sgd_errors(sites_[i], parameters, steps);
  });
}

SgdSteadyState OnlineSgd::steady(const SgdParameters& parameters) const {
  SgdSteadyState all{.stable = true};
  for (const SiteRegression& site : sites_) {
    const SgdSteadyState one = online_sgd_steady(site, parameters);
    all.error += one.error / static_cast<double>(sites_.size());
    all.chi = std::max(all.chi, one.chi);
    all.stable = all.stable && one.stable;
  }
  return all;
}

double OnlineSgd::eta_max(const SgdParameters& parameters) const {
  double smallest = kInfinity;
  for (const SiteRegression& site : sites_) {
    smallest = std::min(smallest, online_sgd_eta_max(site, parameters));
  }
  return smallest;
}

double OnlineSgd::bayes_error() const {
  double mean = 0;
  for (const SiteRegression& site : sites_) {
    mean += site.bayes_error / static_cast<double>(sites_.size());
  }
  return mean;
}

double data_sgd_growth(const MatrixXd& data, Eigen::Index site, const SgdParameters& parameters) {
  check_without_decay(parameters);
  MatrixXd x(data.rows(), data.cols() - 1);
  x << data.leftCols(site), data.rightCols(data.cols() - 1 - site);
  const VectorXd none = VectorXd::Zero(x.rows());
  SecondMomentStep move(x, parameters);
  // The map is symmetric, so that Rayleigh quotients rise to the eigenvalue from below.
  constexpr int kMostSteps = 300;
  constexpr double kSettled = 1e-6;
  MatrixXd q = x.transpose() * x;
  double growth = 0;
  for (int n = 0; n < kMostSteps; ++n) {
    q /= q.norm();
    const MatrixXd before = q;
    move(q, none);
    const double previous = std::exchange(growth, before.cwiseProduct(q).sum());
    if (growth - previous < kSettled * growth && n > 0) break;
  }
  return growth;
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
  const MatrixXd x = data(Eigen::all, regression.inputs);
  const VectorXd y = data.col(site);
  const MatrixXd covariance = problem.covariance()(regression.inputs, regression.inputs);
  const MatrixXd empirical = x.transpose() * x / static_cast<double>(data.rows());
  const VectorXd fit = x.completeOrthogonalDecomposition().solve(y);
  const VectorXd residual = y - x * fit;
  const VectorXd offset = fit - regression.basis * regression.teacher;  // δ
  VectorXd mean = -fit;                                                 // μ
  MatrixXd q = fit * fit.transpose();

  SecondMomentStep move(x, parameters);
  const auto step = [&] {
    move(q, residual.cwiseAbs2() - 2 * residual.cwiseProduct(x * mean));
    mean -= eta * (empirical * mean);
  };
  return record(steps, step, [&] {
    return regression.bayes_error + covariance.cwiseProduct(q).sum() +
           offset.dot(covariance * (2 * mean + offset));
  });
}

std::vector<double> data_sgd_errors(const GaussianMlm& problem,
                                    const MatrixXd& data,
                                    const SgdParameters& parameters,
                                    std::span<const std::int64_t> steps) {
  return mean_over(static_cast<std::size_t>(problem.sites()), steps.size(), [&](std::size_t i) {
    return data_sgd_errors(problem, static_cast<Eigen::Index>(i), data, parameters, steps);
  });
}

bool data_sgd_stable(const MatrixXd& data, const SgdParameters& parameters) {
  for (Eigen::Index i = 0; i < data.cols(); ++i) {
    if (!(data_sgd_growth(data, i, parameters) < 1)) return false;
  }
  return true;
}

}  // namespace attica
