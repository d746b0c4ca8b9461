#include "attica/theory/bigrams/l1.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "attica/core/error.hpp"
#include "attica/theory/bigrams/population.hpp"
#include "attica/theory/bigrams/recursion.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr double kPointsPerNoise = 8;   // grid points per standard deviation of a step's noise
constexpr double kReachDeviations = 6;  // of the stationary law without l1
constexpr double kFixedPointTolerance = 1e-10;

double soft(double x, double h) { return x > h ? x - h : x < -h ? x + h : 0; }

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

/// Σ_j weights[j] f[i + j] for every i at which f goes on so far: many i side by side, which no sum
/// over lanes follows.
VectorXd sliding_sums(const VectorXd& weights, const VectorXd& f) {
  constexpr Index kTogether = 32;
  const Index count = f.size() - weights.size() + 1;
  VectorXd sums(count);
  Index i = 0;
  for (; i + kTogether <= count; i += kTogether) {
    Eigen::Matrix<double, kTogether, 1> sum = Eigen::Matrix<double, kTogether, 1>::Zero();
    for (Index j = 0; j < weights.size(); ++j) sum += weights[j] * f.segment<kTogether>(i + j);
    sums.segment<kTogether>(i) = sum;
  }
  for (; i < count; ++i) sums[i] = weights.dot(f.segment(i, weights.size()));
  return sums;
}

}  // namespace

SoftThresholdChain::SoftThresholdChain(double spacing, double reach)
    : spacing_(spacing), half_(static_cast<Index>(std::ceil(reach / spacing))) {
  require(spacing > 0, "spacing", spacing, "spacing > 0");
  law_ = VectorXd::Zero(2 * half_ + 1);
  law_[half_] = 1;
}

double SoftThresholdChain::position(Index i) const {
  return static_cast<double>(i - half_) * spacing_;
}

std::pair<Index, double> SoftThresholdChain::place(double x) const {
  const double at = std::clamp(
      x / spacing_ + static_cast<double>(half_), 0.0, static_cast<double>(2 * half_) - 1e-9);
  const auto low = static_cast<Index>(at);
  return {low, at - static_cast<double>(low)};
}

void SoftThresholdChain::deposit(VectorXd& target, double x, double mass) const {
  // Shared between the two neighbours so that the mean is kept; the ends collect what is beyond.
  const auto [low, share] = place(x);
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
  const auto width = static_cast<Index>(std::ceil(kKernelReach * deviation / spacing_)) + 1;
  // F(z) = Φ(z) - (γ/6)(z² - 1) φ(z), γ the skewness.
  const double skewness = deviation > 0 ? step.third / (deviation * deviation * deviation) : 0;
  const auto edgeworth = [&](double z) {
    const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
    return normal_cdf(z) - skewness / 6 * (z * z - 1) * density;
  };
  VectorXd masses = VectorXd::Zero(2 * width + 1);
  if (deviation == 0) {
    masses[width] = 1;
    return masses;
  }
  double below = edgeworth((-static_cast<double>(width) - 0.5) * spacing_ / deviation);
  for (Index j = -width; j <= width; ++j) {
    const double above = edgeworth((static_cast<double>(j) + 0.5) * spacing_ / deviation);
    masses[width + j] = above - below;
    below = above;
  }
  return masses;
}

void SoftThresholdChain::step(const ChainStep& step) {
  VectorXd next = VectorXd::Zero(law_.size());
  double added_variance = 0;  // by sharing mass between grid points
  for (Index i = 0; i < law_.size(); ++i) {
    if (law_[i] == 0) continue;
    const double x = step.contraction * position(i) + step.drift;
    const double share = x / spacing_ - std::floor(x / spacing_);
    added_variance += law_[i] * share * (1 - share) * spacing_ * spacing_;
    deposit(next, x, law_[i]);
  }
  const VectorXd reversed = kernel(step, added_variance).reverse();
  const Index width = reversed.size() / 2;
  VectorXd padded = VectorXd::Zero(next.size() + 2 * width);
  padded.segment(width, next.size()) = next;
  const VectorXd noisy = sliding_sums(reversed, padded);
  law_.setZero();
  zero_fraction_ = 0;
  for (Index i = 0; i < next.size(); ++i) {
    const double mass = noisy[i];
    const double x = position(i);
    // The part of the cell x ± spacing/2 that lies within ± shrink.
    const double inside =
        step.shrink > 0 ? std::clamp((step.shrink - std::abs(x)) / spacing_ + 0.5, 0.0, 1.0) : 0;
    zero_fraction_ += inside * mass;
    deposit(law_, soft(x, step.shrink), mass);
  }
  // The kernel and the grid end where some 1e-9 of the mass of every step is. Without noise all of
  // it may lie beyond the grid.
  const double total = law_.sum();
  if (total == 0) return;
  law_ /= total;
  zero_fraction_ /= total;
}

SoftThresholdChain::Function SoftThresholdChain::identity() const {
  Function x(law_.size());
  for (Index i = 0; i < x.size(); ++i) x[i] = position(i);
  return x;
}

SoftThresholdChain::Backward SoftThresholdChain::backward(const ChainStep& step,
                                                          const Function& psi,
                                                          const VectorXd& law) const {
  // After the threshold, at the grid points before it; interpolation is what `deposit` turns into.
  const auto at = [](const VectorXd& f, const std::pair<Index, double>& place) {
    return (1 - place.second) * f[place.first] + place.second * f[place.first + 1];
  };
  const Index size = law_.size();
  VectorXd shrunk(size);
  for (Index i = 0; i < size; ++i) shrunk[i] = at(psi, place(soft(position(i), step.shrink)));
  // Averaged over the noise; beyond the ends functions go on as they end.
  const double cells = std::abs(step.contraction) < 1 ? 1.0 / 6 : 0;  // E share (1 - share)
  const VectorXd masses = kernel(step, cells * spacing_ * spacing_);
  const Index width = masses.size() / 2;
  VectorXd wide(size + 2 * width);
  wide << VectorXd::Constant(width, shrunk[0]), shrunk, VectorXd::Constant(width, shrunk[size - 1]);
  const VectorXd noisy = sliding_sums(masses, wide);
  const VectorXd wide2 = wide.cwiseAbs2();
  const VectorXd noisy2 = sliding_sums(masses, wide2);
  Backward result{.mean = Function(size)};
  for (Index i = 0; i < size; ++i) {
    const auto before = place(step.contraction * position(i) + step.drift);
    result.mean[i] = at(noisy, before);
    result.variance += law[i] * (at(noisy2, before) - result.mean[i] * result.mean[i]);
    result.slope += law[i] * (noisy[before.first + 1] - noisy[before.first]) / spacing_;
  }
  return result;
}

double SoftThresholdChain::mean() const {
  double sum = 0;
  for (Index i = 0; i < law_.size(); ++i) sum += law_[i] * position(i);
  return sum;
}

double SoftThresholdChain::second_moment() const {
  double sum = 0;
  for (Index i = 0; i < law_.size(); ++i) sum += law_[i] * position(i) * position(i);
  return sum;
}

double SoftThresholdChain::tail(double x) const {
  double sum = 0;
  for (Index i = 0; i < law_.size(); ++i) sum += position(i) >= x ? law_[i] : 0;
  return sum;
}

double column_sum_variance(const SoftThresholdChain& chain,
                           const ChainPast& past,
                           double context,
                           double sparsity) {
  const double others = context - sparsity;
  const SoftThresholdChain::Function identity = chain.identity();
  SoftThresholdChain::Function psi = identity;
  double attended = 1;  // ψ of an attended entry is linear
  double variance = 0;
  for (std::size_t m = past.steps.size(); m-- > 0;) {
    const ChainStep& step = past.steps[m];
    const auto [mean, spread, slope] = chain.backward(step, psi, past.laws[m]);
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
    } else if (!(largest >= 0 && largest < static_cast<double>(model.context()))) {
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

BigramSignals L1MeanField::signals() const {
  const BigramState s = bigram_state(*model_, value_, sums());
  return {.alpha_v = s.alpha_v, .alpha_a = s.alpha_a, .d_v = s.d_v + noise_v_, .d_a = s.d_a};
}

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
  const double shift = lambda_ / k_v();
  double c = 0;
  double c_noise = 0;  // its variance
  double attention = 0;
  for (Index k = 0; k < mu.size(); ++k) {
    const Column& column = columns_[static_cast<std::size_t>(k)];
    const std::vector<double>& weights = model_->attention()[static_cast<std::size_t>(k)].weights;
    const auto q = static_cast<double>(weights.size());
    double sum = q * shift;
    for (const double a : column.support) sum += a;
    c += mu[k] * sum;
    c_noise += mu[k] * mu[k] * column.noise.sum();
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
  const double value =
      (c * c + c_noise) * (k_v_counted + v.squaredNorm()) - 2 * c * k_vp() + model_->k_p();
  return {.alpha_v = c * alpha_v(),
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

VectorXd L1MeanField::sum_variance() const {
  VectorXd variances(model_->tokens());
  for (Index k = 0; k < variances.size(); ++k) {
    const Column& column = columns_[static_cast<std::size_t>(k)];
    variances[k] = column_sum_variance(column.off,
                                       column.past,
                                       static_cast<double>(model_->context()),
                                       static_cast<double>(column.support.size()));
  }
  return variances;
}

double L1MeanField::fluctuation_loss() const {
  const VectorXd& mu = model_->stationary();
  return 0.5 * mu.dot(sum_variance()) * (value_ * mu).squaredNorm();
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
    if (keeps_laws_) {
      column.past.steps.push_back(made);
      column.past.laws.push_back(column.off.law());
    }
    column.off.step(made);
  }
  const double keep_v = 1 - rates_.eta_v * nbar;
  // The population's hat gradient (I - 11ᵀ/N) (n̄V - ōP) (I - μ1ᵀ).
  const MatrixXd gradient = nbar * value_ - obar * model_->transition();
  MatrixXd update = gradient.colwise() - gradient * mu;
  update.rowwise() -= update.colwise().mean().eval();
  value_ -= rates_.eta_v * update;
  noise_v_ = keep_v * keep_v * noise_v_ + rates_.eta_v * rates_.eta_v * trace / batch_;
  shape_v_ = r_v / r_v.trace();
}

std::vector<StagedMeanField> staged_mean_field(const BigramModel& model,
                                               const BigramRates& rates,
                                               double batch,
                                               double lambda,
                                               double theta,
                                               double threshold,
                                               std::span<const std::int64_t> steps,
                                               ColumnSums sums) {
  const auto follow = [&](auto field, const auto& added_loss) {
    std::vector<StagedMeanField> curve;
    std::int64_t step = 0;
    for (const std::int64_t next : steps) {
      for (; step < next; ++step) field.step();
      BigramState state = field.state();
      const double added = added_loss(field);
      state.excess_loss += added;
      state.loss += added;
      curve.push_back({next, state, field.noise_v()});
      if constexpr (requires { field.rounded(); }) {
        curve.back().rounded = field.rounded();
        curve.back().sure = field.rounding_probability(theta);
        curve.back().zero_fraction = field.zero_fraction();
      }
    }
    return curve;
  };
  const auto nothing = [](const auto&) { return 0.0; };
  const BigramRecursion boosted = boosted_recursion(model, rates, batch, theta);
  if (lambda == 0) return follow(boosted, nothing);
  L1MeanField field(model, rates, batch, lambda, boosted.signals(), threshold);
  if (sums == ColumnSums::fixed) return follow(std::move(field), nothing);
  field.keep_laws();
  return follow(std::move(field), [](const L1MeanField& f) { return f.fluctuation_loss(); });
}

}  // namespace attica
