#include "attica/theory/joma/nonlinear.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/solvers/gauss_legendre.hpp"

namespace attica {

using Eigen::VectorXd;

namespace {

void validate(const JomaComponent& c) {
  require(std::isfinite(c.mu) && c.mu != 0, "mu", c.mu, "a finite number that is not 0");
  require(std::isfinite(c.start), "start", c.start, "a finite number");
  require(std::isfinite(c.gamma) && c.gamma >= 0, "gamma", c.gamma, "gamma >= 0");
}

/// Gauss-Legendre between consecutive break points that lie inside (low, high).
double panels(const std::function<double(double)>& f,
              double low,
              double high,
              std::vector<double> breaks) {
  constexpr std::size_t kNodes = 40;
  static const std::vector<QuadratureNode> nodes = gauss_legendre(kNodes, {0, 1});
  std::erase_if(breaks, [&](double x) { return !(x > low && x < high); });
  breaks.push_back(low);
  breaks.push_back(high);
  std::sort(breaks.begin(), breaks.end());
  double sum = 0;
  for (std::size_t p = 1; p < breaks.size(); ++p) {
    const double width = breaks[p] - breaks[p - 1];
    double panel = 0;
    for (const QuadratureNode& node : nodes) {
      panel += node.weight * f(breaks[p - 1] + width * node.x);
    }
    sum += width * panel;
  }
  return sum;
}

/// Width over which the Gaussian exp(-gamma mu^2 x^2) falls.
double scale(const JomaComponent& c) { return 1 / (std::abs(c.mu) * std::sqrt(c.gamma)); }

/// dt/du = exp(-gamma v^2) at ln|delta0/delta| = u.
double slowness(const JomaComponent& c, double u) {
  const double v = c.mu * (1 - c.delta0() * std::exp(-u));
  return std::exp(-c.gamma * v * v);
}

/// Time from delta = end to delta that exceeds e^{-a} ln(end/delta), as delta -> 0, a = gamma mu^2:
///     int_0^end [exp(-a (1-x)^2) - e^{-a}] / x dx,   written so that it does not cancel.
double excess_time(const JomaComponent& c, double end) {
  constexpr double kNothing = 1e-300;  // where x itself loses digits
  if (c.gamma == 0 || end < kNothing) return 0;
  const double a = c.gamma * c.mu * c.mu;
  const double w = scale(c);
  // The integrand is regular at x = 0, where it is 2 a e^-a.
  return panels(
      [&](double x) {
        return std::exp(-a * (1 - x) * (1 - x)) * -std::expm1(-a * x * (2 - x)) / x;
      },
      0,
      end,
      {w / 4, w, 3 * w, 1 - 12 * w, 1 - 6 * w, 1 - 3 * w, 1 - w, 1 - w / 4, 1.0, 1 + w, 1 + 3 * w});
}

}  // namespace

double convergence_time_of_nats(const JomaComponent& c, double nats) {
  validate(c);
  require(nats >= 0, "nats", nats, "a number >= 0");
  if (c.delta0() == 0) return 0;
  if (c.gamma == 0) return nats;
  // The integrand varies on the scale w near u = 0, around v = 0 and, as e^-u, on the scale 1.
  const double w = scale(c);
  std::vector<double> breaks = {w / 4, w, 3 * w, 6 * w, 12 * w, 1, 3, 8};
  for (double u = 16; u < nats; u *= 2) breaks.push_back(u);
  if (c.delta0() > 0) {
    // Starts on the other side of 0 or far beyond it: v passes 0 at u = ln delta0.
    const double zero = std::log(c.delta0());
    for (const double x : {-12.0, -6.0, -3.0, -1.0, 0.0, 1.0, 3.0, 6.0, 12.0}) {
      breaks.push_back(zero + x * w);
    }
  }
  if (const double start = std::abs(c.start / c.mu); start > 1) {
    // Fast at first: u grows from where exp(-gamma v^2) is smallest.
    for (double u = w / (4 * start); u < 1; u *= 2) breaks.push_back(u);
  }
  return panels([&](double u) { return slowness(c, u); }, 0, nats, std::move(breaks));
}

double convergence_time(const JomaComponent& c, double epsilon) {
  require(epsilon > 0 && epsilon < 1, "epsilon", epsilon, "0 < epsilon < 1");
  return convergence_time_of_nats(c, -std::log(epsilon));
}

double correction_q(const JomaComponent& c) {
  validate(c);
  require(c.delta0() > 0, "start", c.start, "a start short of mu");
  return excess_time(c, c.delta0());
}

double asymptotic_convergence_time(const JomaComponent& c, double epsilon) {
  require(epsilon > 0 && epsilon < 1, "epsilon", epsilon, "0 < epsilon < 1");
  return correction_q(c) - std::exp(-c.gamma * c.mu * c.mu) * std::log(epsilon);
}

SalienceRatio salience_ratio(double mu_j, double mu_k, double gamma, double ell) {
  require(ell > 0, "ell", ell, "ell > 0");
  const double q_j = correction_q({.mu = mu_j, .gamma = gamma});
  const double q_k = correction_q({.mu = mu_k, .gamma = gamma});
  const double a_k = gamma * mu_k * mu_k;
  SalienceRatio result;
  result.lambda = (q_k - q_j) * std::exp(a_k) / ell;
  result.log_ratio = std::exp(gamma * mu_j * mu_j - a_k) * (1 + result.lambda);
  // t(delta) falls short of its asymptote by the excess from delta on. Of j, where it is not small,
  // this makes nats_j too small and hence its own excess too large: a bound.
  const double nats_j = std::max(result.log_ratio * ell, 0.0);
  result.lambda_error = (excess_time({.mu = mu_k, .gamma = gamma}, std::exp(-ell)) +
                         excess_time({.mu = mu_j, .gamma = gamma}, std::exp(-nats_j))) *
                        std::exp(a_k) / ell;
  return result;
}

OdeResult integrated_nats(const std::vector<JomaComponent>& components,
                          std::size_t last,
                          double nats) {
  const auto size = static_cast<Eigen::Index>(components.size());
  double fastest = 1;  // of the others, while the last one gains its nats
  for (std::size_t j = 0; j < components.size(); ++j) {
    if (j == last) continue;
    const JomaComponent& c = components[j];
    const double v = std::max(std::abs(c.mu), std::abs(c.start));
    fastest = std::max(fastest, std::exp(c.gamma * v * v));
  }
  return solve_ode(
      [&](double, const VectorXd& x, VectorXd& dxds) {
        for (Eigen::Index j = 0; j < size; ++j) {
          const JomaComponent& c = components[static_cast<std::size_t>(j)];
          const double v = c.mu * (1 - c.delta0() * std::exp(-x[j]));
          dxds[j] = std::exp(c.gamma * v * v);
        }
        dxds[size] = 1;
        dxds /= 1 + dxds.head(size).maxCoeff();
      },
      VectorXd::Zero(size + 1),
      // Rates are at least 1, so that it takes a time of `nats` at most.
      std::vector<double>{0, 3 * nats * fastest},
      {.method = OdeMethod::dopri5,
       .relative_tolerance = 1e-12,
       .absolute_tolerance = 1e-13,
       .event = [&](double, const VectorXd& x) {
         return x[static_cast<Eigen::Index>(last)] - nats;
       }});
}

}  // namespace attica
