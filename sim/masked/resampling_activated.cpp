#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "attica/sim/masked/resampling.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::VectorXd;
using Eigen::VectorXf;

namespace {

/// E of ρQ act(y)² - 2 act(y)(h - y) over y normal of mean (1-ρ)h and variance ρ(1-ρ)v.
struct SampleLoss {
  double value = 0;
  double of_h = 0;
  double of_v = 0;
  double of_q = 0;
};

/// ReLU: E y_+ and E y_+² in closed form.
SampleLoss relu_loss(double h, double v, double q, double rho) {
  const double a = 1 - rho;
  const double mean = a * h;
  const double sd = std::sqrt(rho * a * v);
  const double z = mean / sd;
  const double above = std::erfc(-z / std::numbers::sqrt2) / 2;
  const double edge = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  const double one = mean * above + sd * edge;
  const double two = mean * one + sd * sd * above;
  const double both = rho * q + 2;
  // d one/d mean = above, d one/d sd = edge; d two/d mean = 2 one, d two/d sd = 2 sd above.
  return {.value = both * two - 2 * h * one,
          .of_h = a * (2 * both * one - 2 * h * above) - 2 * one,
          .of_v = (2 * both * sd * above - 2 * h * edge) * sd / (2 * v),
          .of_q = rho * two};
}

/// tanh: the trapezoid rule in y, which converges geometrically.
SampleLoss tanh_loss(double h, double v, double q, double rho) {
  constexpr int kNodes = 25;
  constexpr double kTails = 6;
  constexpr double kStep = 2 * kTails / (kNodes - 1);
  static const std::array<double, kNodes> weights = [] {
    std::array<double, kNodes> all{};
    double sum = 0;
    for (int k = 0; k < kNodes; ++k) {
      const double z = -kTails + kStep * k;
      sum += all[static_cast<std::size_t>(k)] = std::exp(-z * z / 2);
    }
    for (double& weight : all) weight /= sum;
    return all;
  }();
  const double a = 1 - rho;
  const double sd = std::sqrt(rho * a * v);
  SampleLoss sum;
  for (int k = 0; k < kNodes; ++k) {
    const double z = -kTails + kStep * k;
    const double weight = weights[static_cast<std::size_t>(k)];
    const double y = a * h + sd * z;
    const double act = std::tanh(y);
    const double of_y = 2 * (1 - act * act) * (rho * q * act - h + y) + 2 * act;
    sum.value += weight * act * (rho * q * act - 2 * (h - y));
    sum.of_h += weight * (a * of_y - 2 * act);
    sum.of_v += weight * of_y * z * sd / (2 * v);
    sum.of_q += weight * rho * act * act;
  }
  return sum;
}

}  // namespace

double mean_activated_loss(const MatrixXf& samples,
                           const MatrixXf& squares,
                           const VectorXd& w,
                           double rho,
                           UnitActivation activation,
                           VectorXd& gradient) {
  // Products of a block of samples are of single precision, sums over blocks of double.
  constexpr Index kBlock = 128;
  const auto d = static_cast<double>(samples.rows());
  const auto n = static_cast<double>(samples.cols());
  const double q = w.squaredNorm() / d;
  const VectorXf along = (w / std::sqrt(d)).cast<float>();
  const VectorXf spread = (w.cwiseAbs2() / d).cast<float>();
  VectorXd of_spread = VectorXd::Zero(samples.rows());
  gradient.setZero(samples.rows());
  VectorXf h(kBlock);
  VectorXf v(kBlock);
  double loss = 0;
  double of_q = 0;
  for (Index first = 0; first < samples.cols(); first += kBlock) {
    const Index count = std::min(kBlock, samples.cols() - first);
    h.noalias() = samples.middleCols(first, count).transpose() * along;
    v.noalias() = squares.middleCols(first, count).transpose() * spread;
    for (Index k = 0; k < count; ++k) {
      const SampleLoss l = activation == UnitActivation::relu ? relu_loss(h[k], v[k], q, rho)
                                                              : tanh_loss(h[k], v[k], q, rho);
      loss += l.value;
      of_q += l.of_q;
      h[k] = static_cast<float>(l.of_h);
      v[k] = static_cast<float>(l.of_v);
    }
    gradient += (samples.middleCols(first, count) * h).cast<double>();
    of_spread += (squares.middleCols(first, count) * v).cast<double>();
  }
  gradient =
      (gradient / std::sqrt(d) + (2 / d) * w.cwiseProduct(of_spread) + (2 * of_q / d) * w) / n;
  return loss / n;
}

}  // namespace attica
