#include "attica/sim/masked/resampling.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "attica/core/normal_matrix.hpp"
#include "attica/sim/masked/ridge.hpp"
#include "attica/solvers/largest_eigenpair.hpp"
#include "attica/solvers/lbfgs.hpp"

namespace attica {

using Eigen::ArrayXf;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::MatrixXf;
using Eigen::VectorXd;

namespace {

/// Of the largest entry of the gradient of the loss times d, whose terms are of order 1.
constexpr double kUnitGradient = 1e-4;
constexpr int kUnitSteps = 3000;
constexpr int kKinkedSteps = 600;

/// The mean loss at w; its gradient is filled unless null.
using UnitLoss = std::function<double(const VectorXd& w, VectorXd* gradient)>;

/// Minimises the loss plus (penalty/2)|w|². Times d the Hessian is of order 1, as L-BFGS assumes of
/// its first step.
/// @param kinks whether the loss has some: the gradient does not vanish at its minimum then
TrainedUnit trained(const UnitLoss& loss,
                    double penalty,
                    const VectorXd& start,
                    bool kinks = false) {
  const Index d = start.size();
  const auto scale = static_cast<double>(d);
  VectorXd w(d);
  VectorXd slope(d);
  const LbfgsResult found = minimise_lbfgs(
      [&](const double* at, double* gradient) {
        w = Eigen::Map<const VectorXd>(at, d);
        const double value = loss(w, &slope);
        if (gradient != nullptr) Eigen::Map<VectorXd>(gradient, d) = scale * (slope + penalty * w);
        return scale * (value + penalty / 2 * w.squaredNorm());
      },
      start,
      {.gradient_tolerance = kUnitGradient, .max_iterations = kinks ? kKinkedSteps : kUnitSteps});
  // A line search that rounding stops next to the minimum has found it.
  constexpr double kStopped = 10;
  return {.w = found.x,
          .train_loss = loss(found.x, nullptr),
          .gradients = found.iterations,
          .converged = kinks || found.largest_gradient <= kStopped * kUnitGradient};
}

}  // namespace

VectorXd SpikedSource::covariance_times(const VectorXd& w) const {
  return variances.cwiseProduct(w) +
         beta / static_cast<double>(w.size()) * direction.dot(w) * direction;
}

VectorXd SpikedSource::diagonal() const {
  return variances + beta / static_cast<double>(variances.size()) * direction.cwiseAbs2();
}

SpikedSource draw_source(
    const NoiseVariances& noise, double beta, Index dimension, bool normal, RandomStream& stream) {
  SpikedSource source{
      .variances = VectorXd::Ones(dimension), .direction = VectorXd(dimension), .beta = beta};
  if (noise.law == NoiseLaw::beta) {
    for (Index i = 0; i < dimension; ++i) {
      const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(dimension);
      source.variances[i] = 0.25 + 2.25 * (1 - std::sqrt(1 - share));
    }
  } else if (noise.law == NoiseLaw::groups) {
    source.variances.head(dimension / 2).setConstant(noise.low);
    source.variances.tail(dimension - dimension / 2).setConstant(2 - noise.low);
  }
  for (double& u : source.direction) {
    u = normal ? stream.normal() : stream.below(2) == 0 ? 1.0 : -1.0;
  }
  source.direction *= std::sqrt(static_cast<double>(dimension)) / source.direction.norm();
  return source;
}

SpikedSamples draw_samples(const SpikedSource& source, Index samples, RandomStream& stream) {
  constexpr Index kBlock = 256;
  const Index d = source.variances.size();
  const VectorXd signal = std::sqrt(source.beta / static_cast<double>(d)) * source.direction;
  const VectorXd noise = source.variances.cwiseSqrt();
  SpikedSamples all{.source = source, .x = MatrixXf(d, samples), .moments = MatrixXd::Zero(d, d)};
  MatrixXd block(d, kBlock);
  VectorXd latent(kBlock);
  for (Index first = 0; first < samples; first += kBlock) {
    const Index count = std::min(kBlock, samples - first);
    block.resize(d, count);
    latent.resize(count);
    fill_normal(latent, stream);
    fill_normal(block, stream);
    block = noise.asDiagonal() * block;
    block.noalias() += signal * latent.transpose();
    all.moments.selfadjointView<Eigen::Lower>().rankUpdate(block, 1 / static_cast<double>(samples));
    all.x.middleCols(first, count) = block.cast<float>();
  }
  all.moments.triangularView<Eigen::StrictlyUpper>() = all.moments.transpose();
  return all;
}

void match_signal_moment(SpikedSamples& samples) {
  const VectorXd& u = samples.source.direction;
  const auto d = static_cast<double>(u.size());
  const VectorXd along = samples.moments * u;
  const double seen = u.dot(along);
  const double more = (std::sqrt(u.dot(samples.source.covariance_times(u)) / seen) - 1) / d;
  // x + more u (u.x), and the moments of that
  const VectorXd half = more * along + more * more * seen / 2 * u;
  samples.moments.noalias() += u * half.transpose() + half * u.transpose();
  const Eigen::VectorXf direction = u.cast<float>();
  const Eigen::RowVectorXf parts = static_cast<float>(more) * (direction.transpose() * samples.x);
  samples.x.noalias() += direction * parts;
}

double mean_masked_loss(const VectorXd& w,
                        const VectorXd& s_w,
                        const VectorXd& s_w3,
                        const VectorXd& diagonal,
                        double rho,
                        VectorXd* gradient) {
  const auto d = static_cast<double>(w.size());
  const double both = rho * (1 - rho);    // ab
  const double twice = both * (1 - rho);  // a²b
  const VectorXd squares = w.cwiseAbs2();
  const double q = w.squaredNorm() / d;
  const double h = w.dot(s_w) / d;
  const double k = diagonal.dot(squares) / d;
  const double h3 = w.dot(s_w3) / (d * d);
  const double k3 = diagonal.dot(squares.cwiseAbs2()) / (d * d);
  if (gradient != nullptr) {
    const double of_h = twice * q - 2 * both;
    const double of_k = both * q - of_h;
    const double of_q = twice * (h - k) + both * k;
    const double of_k3 = 2 * twice - both;
    *gradient = (2 * of_q / d) * w + (2 * of_h / d) * s_w +
                (2 * of_k / d) * diagonal.cwiseProduct(w) -
                (2 * twice / (d * d)) * (s_w3 + 3 * squares.cwiseProduct(s_w)) +
                (4 * of_k3 / (d * d)) * diagonal.cwiseProduct(squares.cwiseProduct(w));
  }
  return twice * (q * (h - k) - 2 * (h3 - k3)) + both * (q * k - k3) - 2 * both * (h - k);
}

double TrainedUnit::participation() const {
  const double squares = w.squaredNorm();
  return squares * squares / w.cwiseAbs2().squaredNorm();
}

const char* TrainedUnit::status() const {
  constexpr double kSpread = 8;
  if (!converged) return "not converged";
  return participation() < kSpread ? "localised" : "finished";
}

StoredMasks::StoredMasks(
    Index dimension, Index samples, Index masks, double rho, RandomStream& stream)
    : dimension_(dimension),
      masks_(masks),
      visible_(static_cast<std::size_t>(dimension * samples * masks)) {
  constexpr std::size_t kBits = 64;
  BulkBernoulli bits(stream, 1 - rho);
  for (std::size_t at = 0; at < visible_.size();) {
    for (std::uint64_t word : bits.draw()) {
      const std::size_t end = std::min(visible_.size(), at + kBits);
      for (; at < end; ++at, word >>= 1) visible_[at] = static_cast<std::uint8_t>(word & 1);
    }
  }
}

namespace {

/// act and its derivative.
struct ActivatedSum {
  double value, slope;
};
ActivatedSum activated_sum(UnitActivation activation, double y) {
  if (activation == UnitActivation::identity) return {y, 1};
  if (activation == UnitActivation::relu) return {std::max(y, 0.0), y > 0 ? 1.0 : 0.0};
  const double t = std::tanh(y);
  return {t, 1 - t * t};
}

}  // namespace

double stored_masked_loss(const MatrixXf& samples,
                          const StoredMasks& masks,
                          const VectorXd& w,
                          VectorXd& gradient,
                          UnitActivation activation) {
  // Products of a sample are of single precision; sums over blocks of samples of double.
  constexpr Index kBlock = 32;
  const Index d = samples.rows();
  const double root = std::sqrt(static_cast<double>(d));
  const ArrayXf weights = w.cast<float>();
  const ArrayXf squares = weights.square();
  const double all_squares = w.squaredNorm();
  ArrayXf products(d);
  ArrayXf visible(d);
  ArrayXf of_sample(d);
  ArrayXf of_weight(d);
  ArrayXf block(d);
  gradient.setZero(d);
  double loss = 0;
  double hidden = 0;
  for (Index first = 0; first < samples.cols(); first += kBlock) {
    block.setZero();
    const Index last = std::min(samples.cols(), first + kBlock);
    for (Index sample = first; sample < last; ++sample) {
      const Eigen::Map<const ArrayXf> x(samples.data() + sample * d, d);
      products = weights * x;
      const double whole = static_cast<double>(products.sum()) / root;
      double common = 0;
      of_sample.setZero();
      of_weight.setZero();
      for (Index mask = 0; mask < masks.masks(); ++mask) {
        const std::uint8_t* bytes = masks.of(sample, mask);
        for (Index i = 0; i < d; ++i) visible[i] = static_cast<float>(bytes[i]);
        const double y = static_cast<double>((visible * products).sum()) / root;
        const double seen = static_cast<double>((visible * squares).sum());
        const double t = whole - y;
        const double r = (all_squares - seen) / static_cast<double>(d);
        const auto [act, slope] = activated_sum(activation, y);
        loss += act * (r * act - 2 * t);
        // ∂l/∂y = 2(R act - t) act', ∂l/∂t = -2 act, ∂l/∂R = act²
        const double of_hidden = 2 * act * act / static_cast<double>(d);
        of_sample += static_cast<float>(2 * ((r * act - t) * slope + act) / root) * visible;
        of_weight += static_cast<float>(of_hidden) * visible;
        common -= 2 * act / root;
        hidden += of_hidden;
      }
      block += (of_sample + static_cast<float>(common)) * x - of_weight * weights;
    }
    gradient += block.matrix().cast<double>();
  }
  const double share = 1 / static_cast<double>(samples.cols() * masks.masks());
  gradient = share * (gradient + hidden * w);
  return share * loss;
}

namespace {

UnitLoss fresh_loss(const MatrixXd& s, double rho) {
  return [&s, rho, diagonal = VectorXd(s.diagonal())](const VectorXd& w, VectorXd* gradient) {
    const VectorXd s_w = s * w;
    const VectorXd s_w3 = s * w.array().cube().matrix();
    return mean_masked_loss(w, s_w, s_w3, diagonal, rho, gradient);
  };
}

}  // namespace

TrainedUnit train_unit(const SpikedSamples& samples,
                       const UnitObjective& objective,
                       StreamAddress address) {
  const Index d = samples.x.rows();
  const double penalty = objective.lambda / static_cast<double>(samples.x.cols());
  VectorXd start(d);
  address.id = StreamId::initialisation;
  RandomStream initial(address);
  fill_normal(start, initial);
  if (!objective.masks && objective.activation == UnitActivation::identity) {
    return trained(fresh_loss(samples.moments, objective.rho), penalty, start);
  }
  VectorXd unused;
  if (!objective.masks) {
    const MatrixXf squares = samples.x.cwiseAbs2();
    return trained(
        [&](const VectorXd& w, VectorXd* gradient) {
          return mean_activated_loss(samples.x,
                                     squares,
                                     w,
                                     objective.rho,
                                     objective.activation,
                                     gradient != nullptr ? *gradient : unused);
        },
        penalty,
        start);
  }
  address.id = StreamId::minibatch;
  address.step = static_cast<std::uint64_t>(*objective.masks);
  RandomStream stream(address);
  const StoredMasks masks(d, samples.x.cols(), *objective.masks, objective.rho, stream);
  return trained(
      [&](const VectorXd& w, VectorXd* gradient) {
        return stored_masked_loss(
            samples.x, masks, w, gradient != nullptr ? *gradient : unused, objective.activation);
      },
      penalty,
      start,
      objective.activation == UnitActivation::relu);
}

double training_bytes(double d, double samples, const UnitObjective& objective) {
  constexpr double kSquares = 4;
  const double of_masks = static_cast<double>(objective.masks.value_or(0));
  return d * samples * (sizeof(float) + of_masks) + kSquares * sizeof(double) * d * d;
}

double training_flops(double d, double samples, const UnitObjective& objective) {
  constexpr double kGradients = 60;
  constexpr double kProducts = 16;
  if (!objective.masks && objective.activation == UnitActivation::identity) {
    return d * d * (samples + 4 * kGradients);
  }
  if (!objective.masks) return d * samples * (d + kGradients * kProducts);
  return d * samples * (d + kGradients * kProducts * static_cast<double>(*objective.masks));
}

UnitMeasures measured(const SpikedSource& source, const VectorXd& w, double rho) {
  const auto d = static_cast<double>(w.size());
  UnitMeasures m;
  m.alignment = w.dot(source.direction) / d;
  m.weight_norm = w.squaredNorm() / d;
  m.noise_norm = source.variances.dot(w.cwiseAbs2()) / d;
  m.overlap = m.alignment * m.alignment / m.weight_norm;
  m.test_loss = mean_masked_loss(w,
                                 source.covariance_times(w),
                                 source.covariance_times(w.array().cube().matrix()),
                                 source.diagonal(),
                                 rho);
  const double signal = std::sqrt(source.beta) * std::abs(m.alignment);
  m.accuracy = 0.5 + std::atan(signal / std::sqrt(m.noise_norm)) / std::numbers::pi;
  return m;
}

std::vector<double> eigenvector_overlaps(const SpikedSamples& samples) {
  const MatrixXd& s = samples.moments;
  const VectorXd root = s.diagonal().cwiseSqrt();
  const VectorXd inverse = root.cwiseInverse();
  MatrixXd hollow = s;
  hollow.diagonal().setZero();
  const auto overlap = [&](const MatrixXd& form, const VectorXd& scale) {
    return squared_cosine(largest_eigenpair(form).vector.cwiseProduct(scale),
                          samples.source.direction);
  };
  const VectorXd one = VectorXd::Ones(root.size());
  return {overlap(s, one),
          overlap(hollow, one),
          overlap(inverse.asDiagonal() * s * inverse.asDiagonal(), root)};
}

double labelled_accuracy(const UnitMeasures& unit,
                         double beta,
                         std::int64_t labels,
                         std::int64_t data_sets,
                         RandomStream& stream) {
  // Given w, the feature w·x/√d is normal with these standard deviations of signal and noise.
  const double signal = std::sqrt(beta) * unit.alignment;
  const double noise = std::sqrt(unit.noise_norm);
  double slopes = 0;
  for (std::int64_t set = 0; set < data_sets; ++set) {
    double sum = 0;
    for (std::int64_t k = 0; k < labels; ++k) {
      const double s = stream.normal();
      sum += std::copysign(1.0, s) * (signal * s + noise * stream.normal());
    }
    slopes += std::copysign(1.0, sum);
  }
  const double right = std::copysign(unit.accuracy - 0.5, signal);
  return 0.5 + slopes / static_cast<double>(data_sets) * right;
}

}  // namespace attica
