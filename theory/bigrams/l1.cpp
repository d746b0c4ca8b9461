#include "attica/theory/bigrams/l1.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "attica/core/error.hpp"
#include "attica/core/parallel.hpp"
#include "attica/theory/bigrams/boosting.hpp"
#include "attica/theory/bigrams/population.hpp"
#include "attica/theory/bigrams/recursion.hpp"

namespace attica {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr double kPointsPerNoise = 8;   // grid points per standard deviation of a step's noise
constexpr double kReachDeviations = 6;  // of the stationary law without l1
constexpr double kFixedPointTolerance = 1e-10;

/// E z² of the law ∝ exp(-z² - 2cz) on z > 0, for c >= 0.
///
/// It is 2 I_2/I_0 of the repeated integrals I_n of erfc at c, and (2n) I_n = I_{n-2} - 2c I_{n-1}:
/// the ratios r_n = I_n/I_{n-1} = ½/(c + (n+1) r_{n+1}) are found from far above, where
/// r_n = 1/(c + √(c² + 2n)), with errors that shrink at every step. The closed form
/// (1 + 2c²)/2 - c/(√π erfcx c) is the same number, but loses c⁴ times the rounding error.
double exponential_tilt_moment(double c) {
  constexpr double kSmall = 1;
  if (c < kSmall) {
    return (1 + 2 * c * c) / 2 - c / (std::sqrt(std::numbers::pi) * std::exp(c * c) * std::erfc(c));
  }
  constexpr int kFar = 200;
  double ratio = 1 / (c + std::sqrt(c * c + 2 * kFar));
  double next = ratio;
  for (int n = kFar - 1; n >= 1; --n) {
    next = ratio;
    ratio = 0.5 / (c + (n + 1) * next);
  }
  return 2 * ratio * next;
}

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

/// Per-column variances σ_k² of a step's noise at V = P, from the off-support second moment.
VectorXd frozen_noise(const BigramModel& model, const VectorXd& off_support, double batch) {
  const NoiseMoments moments = value_moments(model, model.transition());
  VectorXd sigma2(model.tokens());
  for (Index k = 0; k < model.tokens(); ++k) {
    const double q2 = model.attention_norm2()[k];
    const MatrixXd r = residual_covariance(model, moments, 1, q2 + off_support[k], q2);
    sigma2[k] = moments.s_v.cwiseProduct(r).sum() / (model.stationary()[k] * batch);
  }
  return sigma2;
}

/// E g³ of a sample's gradient g_t = (V δ_{x_t})·r at a position off the support, given the last
/// token k.
///
/// For ξ = V δ_n the residual along ξ is ξ·r = Σ_t a_t f(x_t) + s ξ·Vμ - ξ_y, f(x) = ξ·V δ_x. The
/// next token follows position j with probability q_j; all other positions are independent of it,
/// with mean 0, variance (n_k - a_j²) E f² and third moment Σ_{i≠j} a_i³ E f³.
double noise_third_moment(const BigramModel& model,
                          const MatrixXd& value,
                          Index k,
                          const std::vector<double>& support,
                          double sum,
                          double norm2) {
  const VectorXd& mu = model.stationary();
  const VectorXd v = value * mu;
  const MatrixXd centred = value.colwise() - v;  // columns V δ_n
  const std::vector<double>& weights = model.attention()[static_cast<std::size_t>(k)].weights;
  double cubes = 0;
  for (const double a : support) cubes += a * a * a;
  double third = 0;
  for (Index n = 0; n < mu.size(); ++n) {
    const VectorXd xi = centred.col(n);
    const VectorXd f = centred.transpose() * xi;
    const double f2 = mu.dot(f.cwiseAbs2());
    const double f3 = mu.dot(f.array().cube().matrix());
    const double shift = sum * xi.dot(v);
    // Moments of ξ_y given the token at position j.
    const VectorXd y1 = model.transition().transpose() * xi;
    const VectorXd y2 = model.transition().transpose() * xi.cwiseAbs2();
    const VectorXd y3 = model.transition().transpose() * xi.array().cube().matrix();
    for (std::size_t j = 0; j < support.size(); ++j) {
      const double a = support[j];
      const VectorXd c = (a * f.array() + shift).matrix();
      const double z1 = mu.dot(c - y1);
      const double z3 = mu.dot((c.array().cube() - 3 * c.array().square() * y1.array() +
                                3 * c.array() * y2.array() - y3.array())
                                   .matrix());
      third += mu[n] * weights[j] * (z3 + 3 * z1 * (norm2 - a * a) * f2 + (cubes - a * a * a) * f3);
    }
  }
  return third;
}

}  // namespace

std::string to_string(L1FloorStatus status) {
  switch (status) {
    case L1FloorStatus::settled:
      return "settled";
    case L1FloorStatus::unsettled:
      return "not settled within the allowed sweeps";
    case L1FloorStatus::unstable:
      return "there is none: the learning rate is above the stability limit";
  }
  return "";
}

double L1Floor::stated(double value) const {
  if (status == L1FloorStatus::settled) return value;
  return status == L1FloorStatus::unstable ? std::numeric_limits<double>::infinity()
                                           : std::numeric_limits<double>::quiet_NaN();
}

double l1_second_moment(double k_v, double lambda, double diffusion) {
  return diffusion / k_v * exponential_tilt_moment(lambda / std::sqrt(k_v * diffusion));
}

namespace {

/// Σ_j weights[j] f[i + j] for every i at which all functions f go on so far: many i side by side,
/// which no sum over lanes follows. The last of them are done twice.
template <std::size_t Count>
std::array<VectorXd, Count> sliding_sums(const VectorXd& weights,
                                         const std::array<const VectorXd*, Count>& functions) {
  constexpr Index kTogether = 32;
  using Together = Eigen::Array<double, kTogether, 1>;
  const Index count = functions.front()->size() - weights.size() + 1;
  std::array<VectorXd, Count> sums;
  for (VectorXd& of_function : sums) of_function.resize(count);
  for (Index next = 0; next < count && count >= kTogether; next += kTogether) {
    const Index i = std::min(next, count - kTogether);
    std::array<Together, Count> sum;
    for (Together& one : sum) one.setZero();
    for (Index j = 0; j < weights.size(); ++j) {
      for (std::size_t k = 0; k < Count; ++k) {
        sum[k] += weights[j] * functions[k]->template segment<kTogether>(i + j).array();
      }
    }
    for (std::size_t k = 0; k < Count; ++k) sums[k].template segment<kTogether>(i) = sum[k];
  }
  for (Index i = 0; i < count && count < kTogether; ++i) {
    for (std::size_t k = 0; k < Count; ++k) {
      sums[k][i] = weights.dot(functions[k]->segment(i, weights.size()));
    }
  }
  return sums;
}

}  // namespace

namespace {

/// A number of cells of the grid. @throws Error (numerical) for more than a grid may have
Index whole_cells(double cells) {
  constexpr double kMost = 1e7;
  if (cells <= kMost) return static_cast<Index>(cells);
  throw Error(
      ErrorKind::numerical,
      fmt::format("law of an entry under the l1 penalty: a grid of {:.3g} cells, at most {:g}",
                  cells,
                  kMost));
}

}  // namespace

SoftThresholdChain::SoftThresholdChain(double spacing, double reach)
    : spacing_(spacing), half_(spacing > 0 ? whole_cells(std::ceil(reach / spacing)) : 0) {
  require(spacing > 0, "spacing", spacing, "spacing > 0");
  law_ = VectorXd::Zero(2 * half_ + 1);
  law_[half_] = 1;
  cells_ =
      VectorXd::LinSpaced(law_.size(), -static_cast<double>(half_), static_cast<double>(half_));
}

double SoftThresholdChain::position(Index i) const { return cells_[i] * spacing_; }

SoftThresholdChain::Places SoftThresholdChain::moved(const ChainStep& step) const {
  // A point at the upper end lies below it by less than rounding.
  const auto last = static_cast<double>(2 * half_) - 1e-9;
  const ArrayXd at = step.contraction * cells_.array() + step.drift / spacing_;
  const ArrayXd inside = (at + static_cast<double>(half_)).max(0.0).min(last);
  Places places{
      .low = inside.floor().cast<Index>(), .share = inside, .free_share = at - at.floor()};
  places.share -= inside.floor();
  return places;
}

SoftThresholdChain::Shift SoftThresholdChain::shift(double shrink) const {
  const double cells = std::min(shrink / spacing_, static_cast<double>(half_));
  const auto whole = static_cast<Index>(cells);
  return {whole, cells - static_cast<double>(whole)};
}

void SoftThresholdChain::deposit(VectorXd& target, double x, double mass) const {
  // Shared between the two neighbours so that the mean is kept; the ends collect what is beyond.
  const double at = std::clamp(
      x / spacing_ + static_cast<double>(half_), 0.0, static_cast<double>(2 * half_) - 1e-9);
  const auto low = static_cast<Index>(at);
  const double share = at - static_cast<double>(low);
  target[low] += (1 - share) * mass;
  target[low + 1] += share * mass;
}

VectorXd SoftThresholdChain::before_threshold(double mean, double variance) const {
  VectorXd law(law_.size());
  const double deviation = std::sqrt(variance);
  for (Index i = 0; i < law.size(); ++i) {
    const double x = position(i);
    law[i] = normal_cdf((x - mean + spacing_ / 2) / deviation) -
             normal_cdf((x - mean - spacing_ / 2) / deviation);
  }
  return law;
}

void SoftThresholdChain::start(double mean, double variance, double threshold) {
  law_.setZero();
  if (variance == 0) {
    deposit(law_, std::abs(mean) < threshold ? 0 : mean, 1);
    return;
  }
  const VectorXd before = before_threshold(mean, variance);
  for (Index i = 0; i < law_.size(); ++i) {
    law_[std::abs(position(i)) < threshold ? half_ : i] += before[i];
  }
}

SoftThresholdChain::AtStart SoftThresholdChain::at_start(double mean,
                                                         double variance,
                                                         double threshold,
                                                         const Function& psi) const {
  const VectorXd before = before_threshold(mean, variance);
  double first = 0;
  double second = 0;
  double mixed = 0;
  for (Index i = 0; i < law_.size(); ++i) {
    const double y = psi[std::abs(position(i)) < threshold ? half_ : i];
    first += before[i] * y;
    second += before[i] * y * y;
    mixed += before[i] * y * (position(i) - mean);
  }
  return {second - first * first, mixed};
}

VectorXd SoftThresholdChain::kernel(const ChainStep& step, double added_variance) const {
  const double deviation =
      std::sqrt(std::max(step.noise * step.noise - added_variance - spacing_ * spacing_ / 12, 0.0));
  constexpr double kKernelReach = 6;
  const Index width = whole_cells(std::ceil(kKernelReach * deviation / spacing_)) + 1;
  VectorXd masses = VectorXd::Zero(2 * width + 1);
  if (deviation == 0) {
    masses[width] = 1;
    return masses;
  }
  // F(z) = Φ(z) - (γ/6)(z² - 1) φ(z), γ the skewness: an odd part and an even one beside 1/2.
  const double skewness = step.third / (deviation * deviation * deviation);
  double tail = 0;    // 1 - Φ at the inner edge of the cell
  double skewed = 0;  // (γ/6)(z² - 1) φ there
  for (Index j = 0; j <= width; ++j) {
    const double z = (static_cast<double>(j) + 0.5) * spacing_ / deviation;
    const double next_tail = normal_cdf(-z);
    const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
    const double next_skewed = skewness / 6 * (z * z - 1) * density;
    if (j == 0) {
      masses[width] = 1 - 2 * next_tail;
    } else {
      masses[width + j] = tail - next_tail + skewed - next_skewed;
      masses[width - j] = tail - next_tail - skewed + next_skewed;
    }
    tail = next_tail;
    skewed = next_skewed;
  }
  return masses;
}

VectorXd SoftThresholdChain::backward_kernel(const ChainStep& step) const {
  const double cells = std::abs(step.contraction) < 1 ? 1.0 / 6 : 0;  // E share (1 - share)
  return kernel(step, cells * spacing_ * spacing_);
}

void SoftThresholdChain::step(const ChainStep& step) {
  const Index size = law_.size();
  const Places to = moved(step);
  // By sharing mass between grid points.
  const ArrayXd& share = to.free_share;
  const double added_variance = (law_.array() * share * (1 - share)).sum() * spacing_ * spacing_;
  const VectorXd masses = kernel(step, added_variance);
  const Index width = masses.size() / 2;
  VectorXd padded = VectorXd::Zero(size + 2 * width);
  const ArrayXd upper = to.share * law_.array();
  const ArrayXd lower = law_.array() - upper;
  for (Index i = 0; i < size; ++i) {
    double* point = padded.data() + width + to.low[i];
    point[0] += lower[i];
    point[1] += upper[i];
  }
  const auto [noisy] = sliding_sums<1>(masses.reverse(), {&padded});
  zero_fraction_ = 0;
  if (step.shrink > 0) {
    // The part of the cell x ± spacing/2 that lies within ± shrink.
    zero_fraction_ =
        ((step.shrink / spacing_ + 0.5 - cells_.array().abs()).max(0.0).min(1.0) * noisy.array())
            .sum();
  }
  const auto [whole, rest] = shift(step.shrink);
  const Index moving = half_ - whole;  // points on either side that do not become 0
  const auto above = noisy.tail(moving);
  const auto below = noisy.head(moving);
  law_.setZero();
  law_[half_] = noisy.segment(moving, 2 * whole + 1).sum();
  law_.segment(half_, moving) += rest * above;
  law_.segment(half_ + 1, moving) += (1 - rest) * above;
  law_.segment(whole, moving) += (1 - rest) * below;
  law_.segment(whole + 1, moving) += rest * below;
  // The kernel and the grid end where some 1e-9 of the mass of every step is. Without noise all of
  // it may lie beyond the grid.
  const double total = law_.sum();
  if (total == 0) return;
  law_ /= total;
  zero_fraction_ /= total;
}

SoftThresholdChain::Function SoftThresholdChain::identity() const { return spacing_ * cells_; }

SoftThresholdChain::Backward SoftThresholdChain::backward(const ChainStep& step,
                                                          const VectorXd& masses,
                                                          const Function& psi,
                                                          const VectorXd& law) const {
  // After the threshold, at the grid points before it; interpolation is what `step` turns into.
  const Index size = law_.size();
  const auto [whole, rest] = shift(step.shrink);
  const Index moving = half_ - whole;
  // Averaged over the noise; beyond the ends functions go on as they end.
  const Index width = masses.size() / 2;
  VectorXd wide = VectorXd::Constant(size + 2 * width, psi[half_]);
  wide.segment(width + half_ + whole + 1, moving) =
      rest * psi.segment(half_, moving) + (1 - rest) * psi.segment(half_ + 1, moving);
  wide.segment(width, moving) =
      rest * psi.segment(whole + 1, moving) + (1 - rest) * psi.segment(whole, moving);
  wide.head(width).setConstant(wide[width]);
  wide.tail(width).setConstant(wide[width + size - 1]);
  const VectorXd wide2 = wide.cwiseAbs2();
  const auto [noisy, noisy2] = sliding_sums<2>(masses, {&wide, &wide2});
  const Places from = moved(step);
  Backward result{.mean = Function(size)};
  for (Index i = 0; i < size; ++i) {
    const Index low = from.low[i];
    const double share = from.share[i];
    const double rise = noisy[low + 1] - noisy[low];
    const double mean = noisy[low] + share * rise;
    const double square = noisy2[low] + share * (noisy2[low + 1] - noisy2[low]);
    result.mean[i] = mean;
    result.variance += law[i] * (square - mean * mean);
    result.slope += law[i] * rise / spacing_;
  }
  return result;
}

double SoftThresholdChain::mean() const { return spacing_ * law_.dot(cells_); }

double SoftThresholdChain::second_moment() const {
  return spacing_ * spacing_ * law_.dot(cells_.cwiseAbs2());
}

double SoftThresholdChain::tail(double x) const {
  double sum = 0;
  for (Index i = 0; i < law_.size(); ++i) sum += position(i) >= x ? law_[i] : 0;
  return sum;
}

double column_sum_variance(const SoftThresholdChain& chain,
                           const ChainPast& past,
                           std::size_t steps,
                           double context,
                           double sparsity) {
  const double others = context - sparsity;
  const SoftThresholdChain::Function identity = chain.identity();
  SoftThresholdChain::Function psi = identity;
  double attended = 1;  // ψ of an attended entry is linear
  double variance = 0;
  for (std::size_t m = steps; m-- > 0;) {
    const ChainStep& step = past.steps[m];
    const auto [mean, spread, slope] = chain.backward(step, past.kernels[m], psi, past.laws[m]);
    const double response = (others * slope + sparsity * attended) / context;
    variance +=
        others * spread +
        step.noise * step.noise * (sparsity * attended * attended - context * response * response);
    const double feedback = (1 - step.contraction) * response;
    psi = mean + feedback * identity;
    attended = step.contraction * attended + feedback;
  }
  if (past.variance == 0) return variance;
  // At the start, entries of one variance with a given sum.
  const auto [spread, covariance] = chain.at_start(past.mean, past.variance, past.threshold, psi);
  const double response = (others * covariance / past.variance + sparsity * attended) / context;
  return variance + others * spread +
         past.variance * (sparsity * attended * attended - context * response * response);
}

L1Floor l1_floor_closed_form(
    const BigramModel& model, double eta_a, double lambda, double batch, int most_sweeps) {
  // Floors near the limit are as large as the signal is weak: only growth without end tells.
  constexpr double kNoFloor = 1e15;
  L1Floor floor{.status = L1FloorStatus::unsettled};
  const VectorXd& mu = model.stationary();
  const double k_v = model.k_p();
  VectorXd off_support = VectorXd::Zero(model.tokens());
  VectorXd sigma2;
  while (floor.status == L1FloorStatus::unsettled && floor.sweeps < most_sweeps) {
    ++floor.sweeps;
    sigma2 = frozen_noise(model, off_support, batch);
    VectorXd next(off_support.size());
    for (Index k = 0; k < next.size(); ++k) {
      const auto support = model.attention()[static_cast<std::size_t>(k)].positions.size();
      next[k] = static_cast<double>(model.context() - static_cast<Index>(support)) *
                l1_second_moment(k_v, lambda, eta_a * sigma2[k]) / (1 - eta_a * k_v / 2);
    }
    const double change = (next - off_support).cwiseAbs().maxCoeff();
    off_support = next;
    const double largest = off_support.maxCoeff();
    floor.residual = change > 0 ? change / largest : 0;
    if (change <= kFixedPointTolerance * largest) {
      floor.status = L1FloorStatus::settled;
    } else if (!(largest >= 0 && largest < kNoFloor)) {
      floor.status = L1FloorStatus::unstable;
    }
  }
  const double bias = lambda / k_v;
  for (Index k = 0; k < off_support.size(); ++k) {
    const auto support = model.attention()[static_cast<std::size_t>(k)].positions.size();
    floor.distance_a2 += mu[k] * (off_support[k] + static_cast<double>(support) * bias * bias);
    floor.noise_ratio += lambda / std::sqrt(sigma2[k]) / static_cast<double>(off_support.size());
  }
  return floor;
}

L1MeanField::L1MeanField(const BigramModel& model,
                         const BigramRates& rates,
                         double batch,
                         double lambda,
                         const MatrixXd& value)
    : L1MeanField(model, rates, batch, lambda, value, {}, 0) {}

L1MeanField::L1MeanField(const BigramModel& model,
                         const BigramRates& rates,
                         double batch,
                         double lambda,
                         const BigramSignals& start,
                         double threshold)
    : L1MeanField(model,
                  rates,
                  batch,
                  lambda,
                  (start.alpha_v * (model.transition().colwise() - model.stationary())).colwise() +
                      model.stationary(),
                  start,
                  threshold) {}

L1MeanField::L1MeanField(const BigramModel& model,
                         const BigramRates& rates,
                         double batch,
                         double lambda,
                         MatrixXd value,
                         const BigramSignals& start,
                         double threshold)
    : model_(&model),
      rates_(rates),
      batch_(batch),
      lambda_(lambda),
      value_(std::move(value)),
      noise_v_(start.d_v),
      truth_(std::make_shared<const TruthMoments>(truth_moments(model))),
      shape_v_(model.covariance() / model.covariance().trace()) {
  // The grid must resolve the noise the chain will have once V has grown to P.
  const auto t = static_cast<double>(model.context());
  const VectorXd sigma2 = frozen_noise(model, VectorXd::Zero(model.tokens()), batch);
  for (Index k = 0; k < model.tokens(); ++k) {
    const SparseColumn& q = model.attention()[static_cast<std::size_t>(k)];
    const double noise = rates.eta_a * std::sqrt(sigma2[k]);
    const double variance = start.d_a / t;
    const double reach =
        kReachDeviations *
        std::max(noise / std::sqrt(2 * rates.eta_a * model.k_p()), std::sqrt(variance));
    const double mean = (1 - start.alpha_a) / t;
    Column column{.support = {},
                  .noise = {},
                  .off = SoftThresholdChain(noise / kPointsPerNoise, reach),
                  .past = {.mean = mean, .variance = variance, .threshold = threshold}};
    for (const double w : q.weights) {
      column.support.push_back(mean + start.alpha_a * w);
    }
    const auto attended = static_cast<Index>(q.weights.size());
    column.noise = variance * MatrixXd::Identity(attended, attended);
    column.off.start(mean, variance, threshold);
    columns_.push_back(std::move(column));
  }
}

AttentionSums L1MeanField::sums() const {
  const Index n = model_->tokens();
  AttentionSums sums{VectorXd::Zero(n), VectorXd::Zero(n), VectorXd::Zero(n)};
  for (Index k = 0; k < n; ++k) {
    const Column& column = columns_[static_cast<std::size_t>(k)];
    const std::vector<double>& weights = model_->attention()[static_cast<std::size_t>(k)].weights;
    for (std::size_t j = 0; j < weights.size(); ++j) {
      sums.sum[k] += column.support[j];
      sums.norm2[k] += column.support[j] * column.support[j];
      sums.overlap[k] += weights[j] * column.support[j];
    }
    const auto others = static_cast<double>(model_->context() - static_cast<Index>(weights.size()));
    sums.sum[k] += others * column.off.mean();
    sums.norm2[k] += column.noise.trace() + others * column.off.second_moment();
  }
  return sums;
}

double L1MeanField::k_v() const {
  return (value_ * model_->covariance() * value_.transpose()).trace() + noise_v_;
}

double L1MeanField::k_vp() const {
  return (value_ * model_->covariance() * model_->transition().transpose()).trace();
}

double L1MeanField::alpha_v() const { return k_vp() / model_->k_p(); }

BigramState L1MeanField::state() const {
  BigramState s = bigram_state(*model_, value_, sums());
  s.d_v += noise_v_;
  s.excess_loss = excess_loss();
  s.loss = model_->bayes_loss() + s.excess_loss;
  s.distance_v2 = distance_v2();
  s.k_v = k_v();
  return s;
}

double L1MeanField::distance_v2() const {
  const VectorXd& mu = model_->stationary();
  return k_v() - 2 * k_vp() + model_->k_p() + (value_ * mu - mu).squaredNorm();
}

double L1MeanField::excess_loss() const {
  const VectorXd& mu = model_->stationary();
  const AttentionSums a = sums();
  const MatrixXd mismatch = (value_ * mu * a.sum.transpose()).colwise() - mu;  // s_k Vμ - μ
  return 0.5 * mu.dot(mismatch.colwise().squaredNorm().transpose() + k_v() * a.norm2 -
                      2 * k_vp() * a.overlap + model_->k_p() * model_->attention_norm2());
}

double L1MeanField::zero_fraction() const {
  double sum = 0;
  for (const Column& column : columns_) sum += column.off.zero_fraction();
  return sum / static_cast<double>(columns_.size());
}

BigramRounding L1MeanField::rounded(double share) const {
  const VectorXd& mu = model_->stationary();
  const double alpha_noise = share * noise_alpha_;
  const double slope = 2 * k_vp() / k_v();  // of ln K_V by α_V
  const double shift = lambda_ / k_v() * (1 + slope * slope * alpha_noise);
  double c = 0;
  double c_noise = 0;  // its variance
  double c_slope = 0;  // its derivative by α_V
  double attention = 0;
  for (Index k = 0; k < mu.size(); ++k) {
    const Column& column = columns_[static_cast<std::size_t>(k)];
    const std::vector<double>& weights = model_->attention()[static_cast<std::size_t>(k)].weights;
    const auto q = static_cast<double>(weights.size());
    double sum = q * shift;
    for (const double a : column.support) sum += a;
    c += mu[k] * sum;
    c_noise += mu[k] * mu[k] * column.noise.sum();
    c_slope -= mu[k] * q * shift * slope;
    for (std::size_t j = 0; j < weights.size(); ++j) {
      // Noise δ of the entries moves a = x/s by (δ_j - a Σδ)/s.
      const double a = (column.support[j] + shift) / sum;
      const auto i = static_cast<Index>(j);
      const double noise =
          (column.noise(i, i) - 2 * a * column.noise.col(i).sum() + a * a * column.noise.sum()) /
          (sum * sum);
      attention += mu[k] * ((a - weights[j]) * (a - weights[j]) + noise);
    }
  }
  const VectorXd v = value_ * mu - mu;
  const double k_v_counted = k_v() - (1 - share) * noise_v_;
  c_noise += c_slope * c_slope * alpha_noise;
  const double both = c_slope * alpha_noise;  // covariance of c and α_V
  const double value = (c * c + c_noise) * (k_v_counted + v.squaredNorm()) - 2 * c * k_vp() +
                       model_->k_p() + (4 * c * k_vp() - 2 * model_->k_p()) * both;
  return {.alpha_v = c * alpha_v() + both,
          .value = value / model_->k_p(),
          .attention = attention / model_->k_q()};
}

double L1MeanField::rounding_probability(double keep) const {
  double probability = 1;
  for (const Column& column : columns_) {
    const std::vector<double>& entries = column.support;
    const auto [least, largest] = std::ranges::minmax_element(entries);
    const double most = *largest;
    // The least entry of the support against `keep` times the largest one, both with noise.
    const Index i = least - entries.begin();
    const Index j = largest - entries.begin();
    const double deviation = std::sqrt(column.noise(i, i) + keep * keep * column.noise(j, j) -
                                       2 * keep * column.noise(i, j));
    const double gap = *least - keep * most;
    if (entries.size() > 1) {
      probability *= deviation > 0 ? normal_cdf(gap / deviation) : static_cast<double>(gap >= 0);
    }
    const auto others =
        static_cast<double>(model_->context()) - static_cast<double>(column.support.size());
    probability *= std::pow(std::max(1 - column.off.tail(keep * most), 0.0), others);
  }
  return probability;
}

double L1MeanField::support_probability() const {
  double least = 1;
  for (const Column& column : columns_) {
    for (std::size_t j = 0; j < column.support.size(); ++j) {
      const auto i = static_cast<Index>(j);
      const double deviation = std::sqrt(column.noise(i, i));
      const double mean = column.support[j];
      least = std::min(
          least, deviation > 0 ? normal_cdf(mean / deviation) : static_cast<double>(mean > 0));
    }
  }
  return least;
}

void L1MeanField::keep_laws() { pushes_ = {(value_ * model_->stationary()).squaredNorm()}; }

std::vector<double> L1MeanField::fluctuation_losses(std::span<const std::int64_t> steps) const {
  MatrixXd variances(columns_.size(), steps.size());
  in_parallel(columns_.size() * steps.size(), [&](std::size_t number) {
    const std::size_t k = number % columns_.size();
    const std::size_t record = number / columns_.size();
    const Column& column = columns_[k];
    variances(static_cast<Index>(k), static_cast<Index>(record)) =
        column_sum_variance(column.off,
                            column.past,
                            static_cast<std::size_t>(steps[record]),
                            static_cast<double>(model_->context()),
                            static_cast<double>(column.support.size()));
  });
  std::vector<double> losses;
  for (std::size_t record = 0; record < steps.size(); ++record) {
    const double variance = model_->stationary().dot(variances.col(static_cast<Index>(record)));
    losses.push_back(0.5 * variance * pushes_[static_cast<std::size_t>(steps[record])]);
  }
  return losses;
}

double L1MeanField::fluctuation_loss() const {
  const std::int64_t made = std::ssize(pushes_) - 1;
  return fluctuation_losses(std::span(&made, 1)).front();
}

void L1MeanField::step() {
  const VectorXd& mu = model_->stationary();
  const AttentionSums a = sums();
  const double nbar = mu.dot(a.norm2);
  const double obar = mu.dot(a.overlap);
  const double kv = k_v();
  const double kvp = k_vp();
  NoiseMoments moments = value_moments(*model_, value_);
  add_value_noise(*model_, noise_v_ * shape_v_, moments);
  const double eta = rates_.eta_a;
  MatrixXd r_v = MatrixXd::Zero(mu.size(), mu.size());
  double trace = 0;  // of a sample's noise of V
  std::vector<AttendedColumn> all_attended;
  for (Index k = 0; k < mu.size(); ++k) {
    const MatrixXd r = residual_covariance(*model_, moments, a.sum[k], a.norm2[k], a.overlap[k]);
    r_v += mu[k] * a.norm2[k] * r;
    const double noise = eta * std::sqrt(moments.s_v.cwiseProduct(r).sum() / (mu[k] * batch_));
    Column& column = columns_[static_cast<std::size_t>(k)];
    const std::vector<double>& weights = model_->attention()[static_cast<std::size_t>(k)].weights;
    const AttendedColumn attended{
        .a = Eigen::Map<const VectorXd>(column.support.data(), std::ssize(column.support)),
        .q = Eigen::Map<const VectorXd>(weights.data(), std::ssize(weights)),
        .sum = a.sum[k],
        .norm2 = a.norm2[k],
        .overlap = a.overlap[k]};
    trace += mu[k] * value_noise(*model_, moments, attended);
    all_attended.push_back(attended);
    const double drift = eta * (kv * a.sum[k] - kvp) / static_cast<double>(model_->context());
    for (std::size_t j = 0; j < weights.size(); ++j) {
      column.support[j] += drift - eta * (kv * column.support[j] - kvp * weights[j] + lambda_);
    }
    const double keep = 1 - eta * kv;
    column.noise =
        (keep * keep * column.noise +
         eta * eta / (mu[k] * batch_) * attention_noise(*model_, value_, moments, attended))
            .eval();
    const double third =
        -std::pow(eta, 3) / std::pow(mu[k] * batch_, 2) *
        noise_third_moment(*model_, value_, k, column.support, a.sum[k], a.norm2[k]);
    const ChainStep made{.contraction = keep,
                         .drift = drift,
                         .noise = noise,
                         .third = third,
                         .shrink = eta * lambda_};
    if (!pushes_.empty()) {
      column.past.steps.push_back(made);
      column.past.laws.push_back(column.off.law());
      column.past.kernels.push_back(column.off.backward_kernel(made));
    }
    column.off.step(made);
  }
  const double keep_v = 1 - rates_.eta_v * nbar;
  // The population's hat gradient (I - 11ᵀ/N) (n̄V - ōP) (I - μ1ᵀ).
  const MatrixXd gradient = nbar * value_ - obar * model_->transition();
  MatrixXd update = gradient.colwise() - gradient * mu;
  update.rowwise() -= update.colwise().mean().eval();
  const double fed = rates_.eta_v * rates_.eta_v / batch_;
  const MatrixXd along_p = truth_->w.transpose() * (value_.colwise() - value_ * mu);
  const double along = value_noise_along(*model_, *truth_, along_p, moments, all_attended);
  value_ -= rates_.eta_v * update;
  noise_v_ = keep_v * keep_v * noise_v_ + fed * trace;
  noise_alpha_ = keep_v * keep_v * noise_alpha_ + fed * along / model_->k_p();
  shape_v_ = r_v / r_v.trace();
  if (!pushes_.empty()) pushes_.push_back((value_ * mu).squaredNorm());
}

std::vector<StagedMeanField> staged_mean_field(const BigramModel& model,
                                               const BigramRates& rates,
                                               double batch,
                                               double lambda,
                                               double theta,
                                               double threshold,
                                               std::span<const std::int64_t> steps,
                                               ColumnSums sums) {
  const auto follow = [&](auto& field) {
    std::vector<StagedMeanField> curve;
    std::int64_t step = 0;
    for (const std::int64_t next : steps) {
      for (; step < next; ++step) field.step();
      curve.push_back({next, field.state(), field.noise_v()});
      if constexpr (requires { field.rounded(); }) {
        curve.back().rounded = field.rounded();
        curve.back().sure = field.rounding_probability(theta);
        curve.back().zero_fraction = field.zero_fraction();
      }
    }
    return curve;
  };
  BigramRecursion boosted = boosted_recursion(model, rates, batch, theta);
  if (lambda == 0) return follow(boosted);
  L1MeanField field(model, rates, batch, lambda, boosted.signals(), threshold);
  if (sums == ColumnSums::fixed) return follow(field);
  field.keep_laws();
  std::vector<StagedMeanField> curve = follow(field);
  const std::vector<double> added = field.fluctuation_losses(steps);
  for (std::size_t k = 0; k < curve.size(); ++k) {
    curve[k].state.excess_loss += added[k];
    curve[k].state.loss += added[k];
  }
  return curve;
}

std::vector<BothStages> both_stages(const BigramModel& model,
                                    const BigramRates& rates,
                                    double batch,
                                    double lambda,
                                    double theta,
                                    double threshold,
                                    std::span<const std::int64_t> steps) {
  require(theta > 0 && theta <= 1, "theta", theta, "0 < theta <= 1");
  // The noise of n steps has the share 1 - (1+ω)^{-2n} of the spread that all will have.
  const double growth = 1 + BoostingTheory(constants(model), rates).omega();
  const auto spread = [&](double n) { return std::sqrt(1 - std::pow(growth, -2 * n)); };
  std::vector<BothStages> mean(steps.size());
  for (std::size_t k = 0; k < steps.size(); ++k) mean[k].step = steps[k];
  for (const auto& [start, weight] : boosted_amplitudes(model, rates, batch)) {
    const auto add = [&, share = weight](std::size_t k, double loss, const BigramState& state) {
      mean[k].excess_loss += share * loss;
      mean[k].distance_v2 += share * state.distance_v2;
      mean[k].distance_a2 += share * state.distance_a2;
    };
    BigramRecursion boosting(model, rates, batch);
    const auto ended = [&] { return lambda > 0 && boosting.k_v() >= theta * theta * model.k_p(); };
    std::size_t k = 0;
    for (; k < steps.size(); ++k) {
      while (boosting.steps() < steps[k] && !ended()) {
        boosting.step();
        const auto n = static_cast<double>(boosting.steps());
        boosting.push(start * std::pow(growth, n) * (spread(n) - spread(n - 1)));
      }
      if (boosting.steps() < steps[k]) break;
      const BigramState state = boosting.state();
      add(k, state.excess_loss, state);
    }
    if (k == steps.size()) continue;
    L1MeanField field(model, rates, batch, lambda, boosting.signals(), threshold);
    field.keep_laws();
    std::int64_t made = 0;
    std::vector<std::int64_t> recorded;
    std::vector<BigramState> states;
    for (std::size_t later = k; later < steps.size(); ++later) {
      for (; made < steps[later] - boosting.steps(); ++made) field.step();
      recorded.push_back(made);
      states.push_back(field.state());
    }
    const std::vector<double> sums = field.fluctuation_losses(recorded);
    for (std::size_t j = 0; j < states.size(); ++j) {
      add(k + j, states[j].excess_loss + sums[j], states[j]);
    }
  }
  return mean;
}

}  // namespace attica
