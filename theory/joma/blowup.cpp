#include "attica/theory/joma/blowup.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/solvers/ode.hpp"
#include "attica/theory/joma/linear.hpp"

namespace attica {

using Eigen::Index;
using Eigen::VectorXd;

namespace {

double largest_of(const std::vector<double>& delta) {
  double largest = 0;
  for (const double d : delta) largest = std::max(largest, std::abs(d));
  return largest;
}

OdeResult solved(OdeResult solution) {
  if (!solution.finished()) throw Error(ErrorKind::numerical, describe(solution));
  return solution;
}

}  // namespace

bool wins_blowup(const std::vector<double>& delta, std::size_t l) {
  return std::abs(delta[l]) == largest_of(delta);
}

double attention_deficit(const std::vector<double>& delta, const std::vector<double>& v) {
  const double most = largest_of(v);
  double losers = 0;
  double winners = 0;
  for (std::size_t l = 0; l < v.size(); ++l) {
    const double weight = std::exp(0.5 * (std::abs(v[l]) - most) * (std::abs(v[l]) + most));
    (wins_blowup(delta, l) ? winners : losers) += weight;
  }
  return losers / (winners + losers);
}

std::vector<std::vector<double>> erf_values_integrated(const std::vector<double>& delta,
                                                       const std::vector<double>& gaps) {
  // With x = -ln gap the equation is dv/dx = Delta t* exp(v^2/2 - x). Losers are integrated towards
  // the blow-up. The winner's solution attracts in the other direction only: integrated back from
  // far beyond the smallest gap, it forgets where it started by a factor of that gap.
  const double blowup = joint_blowup_time(delta);
  const double largest = largest_of(delta);
  std::vector<double> x;
  for (const double gap : gaps) x.push_back(-std::log(gap));
  const OdeOptions options{.method = OdeMethod::fehlberg78,
                           .relative_tolerance = kBlowupTolerance,
                           .absolute_tolerance = kBlowupTolerance};
  const double far = x.back() + 40;
  std::vector<double> back = {0};
  for (auto it = x.rbegin(); it != x.rend(); ++it) back.push_back(far - *it);
  const OdeResult winner = solved(solve_ode(
      [&](double s, const VectorXd& v, VectorXd& dvds) {
        dvds[0] = -largest * blowup * std::exp(0.5 * v[0] * v[0] - (far - s));
      },
      VectorXd::Constant(1, std::sqrt(2 * far)),
      back,
      options));
  std::vector<double> forward = x;
  if (forward.front() > 0) forward.insert(forward.begin(), 0.0);
  const std::size_t skipped = forward.size() - x.size();

  std::vector<std::vector<double>> v(x.size(), std::vector<double>(delta.size()));
  for (std::size_t l = 0; l < delta.size(); ++l) {
    if (wins_blowup(delta, l)) {
      for (std::size_t k = 0; k < x.size(); ++k) {
        v[k][l] = std::copysign(winner.states(0, static_cast<Index>(x.size() - k)), delta[l]);
      }
      continue;
    }
    const OdeResult loser = solved(solve_ode(
        [&](double s, const VectorXd& y, VectorXd& dyds) {
          dyds[0] = delta[l] * blowup * std::exp(0.5 * y[0] * y[0] - s);
        },
        VectorXd::Zero(1),
        forward,
        options));
    for (std::size_t k = 0; k < x.size(); ++k) {
      v[k][l] = loser.states(0, static_cast<Index>(k + skipped));
    }
  }
  return v;
}

double blowup_time_integrated(const std::vector<double>& delta) {
  const auto size = static_cast<Index>(delta.size());
  const double largest = largest_of(delta);
  const VectorXd ratio = Eigen::Map<const VectorXd>(delta.data(), size) / largest;
  constexpr double kEnd = 9;  // v_max: exp(-40) of the way is left
  const OdeResult solution = solved(solve_ode(
      [&](double, const VectorXd& x, VectorXd& dxds) {
        const Eigen::ArrayXd z = 0.5 * x.head(size).array().square();
        const double z_max = z.maxCoeff();
        dxds.head(size) = ratio.array() * (z - z_max).exp();
        dxds[size] = std::exp(-z_max);
      },
      VectorXd::Zero(size + 1),
      std::vector<double>{0, kEnd},
      {.relative_tolerance = kBlowupTolerance, .absolute_tolerance = kBlowupTolerance}));
  return solution.state[size] / largest;
}

}  // namespace attica
