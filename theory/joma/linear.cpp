#include "attica/theory/joma/linear.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "attica/core/error.hpp"
#include "attica/solvers/gauss_legendre.hpp"
#include "attica/solvers/special_functions.hpp"

namespace attica {

using std::numbers::pi;
using std::numbers::sqrt2;

namespace {

const double kHalfPiRoot = std::sqrt(pi / 2);

void require_before_blowup(double time, double blowup) {
  if (time >= 0 && time < blowup) return;
  throw invalid_parameter("time", time, fmt::format("0 <= t < t* = {}", blowup));
}

/// erf(v/sqrt2) = fraction Delta/|Delta|_max with gap = 1 - fraction, both given, because either
/// may be too small to follow from the other.
std::vector<double> values_on_the_way(const std::vector<double>& delta,
                                      double fraction,
                                      double gap) {
  double largest = 0;
  for (const double d : delta) largest = std::max(largest, std::abs(d));
  std::vector<double> values;
  for (const double d : delta) {
    const double size = std::abs(d);
    const double ratio = d == 0 ? 0 : size / largest;
    const double reached = fraction * ratio;
    const double half = reached < 0.5 ? inverse_erf(reached)
                                      : inverse_erfc((largest - size) / largest + gap * ratio);
    values.push_back(std::copysign(sqrt2 * half, d));
  }
  return values;
}

}  // namespace

double erf_blowup_time(const ErfToken& token) {
  if (token.delta == 0) return std::numeric_limits<double>::infinity();
  // What is left of erf on the way to sign(delta).
  const double left = std::erfc(std::copysign(1.0, token.delta) * token.start / sqrt2);
  return kHalfPiRoot * std::exp(-token.offset) * left / std::abs(token.delta);
}

double erf_value(const ErfToken& token, double time) {
  const double blowup = erf_blowup_time(token);
  require_before_blowup(time, blowup);
  if (token.delta == 0) return token.start;
  const double sign = std::copysign(1.0, token.delta);
  const double start = sign * token.start / sqrt2;
  const double gained = std::abs(token.delta) * std::exp(token.offset) * time / kHalfPiRoot;
  const double reached = std::erf(start) + gained;
  // Beyond the middle count from the end, which does not cancel.
  return sign * sqrt2 *
         (reached < 0.5 ? inverse_erf(reached) : inverse_erfc(std::erfc(start) - gained));
}

double joint_blowup_time(const std::vector<double>& delta) {
  double earliest = std::numeric_limits<double>::infinity();
  for (const double d : delta) earliest = std::min(earliest, erf_blowup_time({.delta = d}));
  return earliest;
}

std::vector<double> erf_values(const std::vector<double>& delta, double fraction) {
  require(fraction >= 0 && fraction < 1, "time_fraction", fraction, "0 <= t/t* < 1");
  return values_on_the_way(delta, fraction, 1 - fraction);
}

std::vector<double> erf_values_at_gap(const std::vector<double>& delta, double gap) {
  require(gap > 0 && gap <= 1, "gap", gap, "0 < gap <= 1");
  return values_on_the_way(delta, 1 - gap, gap);
}

std::vector<double> joma_attention(const std::vector<double>& v) {
  double largest = 0;
  for (const double x : v) largest = std::max(largest, 0.5 * x * x);
  std::vector<double> p;
  double sum = 0;
  for (const double x : v) sum += p.emplace_back(std::exp(0.5 * x * x - largest));
  for (double& x : p) x /= sum;
  return p;
}

double attention_entropy(const std::vector<double>& p) {
  double sum = 0;
  for (const double x : p) {
    if (x > 0) sum -= x * std::log(x);
  }
  return sum;
}

double softmax_entropy(const Eigen::VectorXd& logits) {
  Eigen::ArrayXd p = (logits.array() - logits.maxCoeff()).exp();
  p /= p.sum();
  return attention_entropy({p.begin(), p.end()});
}

double erf_coordinate(double v) { return kHalfPiRoot * std::erf(v / sqrt2); }

double ErfWalk::deviation(double time) const { return std::sqrt(eta * time * variance / batch); }

double ErfWalk::bias(double time) const {
  if (delta == 0) return 0;
  const double v = erf_value({.delta = delta, .start = start}, time);
  constexpr std::size_t kNodes = 40;  // D is entire and v < 9: exact to rounding
  double integral = 0;
  for (const QuadratureNode& node :
       gauss_legendre(kNodes, {std::min(start, v), std::max(start, v)})) {
    integral += node.weight * dawson(node.x / sqrt2);
  }
  if (v < start) integral = -integral;
  const double before = std::exp(0.5 * start * start) * dawson(start / sqrt2);
  const double inner = sqrt2 * (integral - before * (erf_coordinate(v) - erf_coordinate(start)));
  const double q = delta * delta + variance / batch;
  return -0.5 * eta * q / delta * (0.5 * (v * v - start * start) + inner);
}

}  // namespace attica
