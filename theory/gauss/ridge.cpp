#include "attica/theory/gauss/ridge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "attica/core/error.hpp"
#include "attica/theory/gauss/ridge_first_order.hpp"
#include "attica/theory/ridge_kappa.hpp"

// How C_i is reached from Σ = Q ℓ Qᵀ. Let R = (Σ+κ)⁻¹, r_k = 1/(ℓ_k+κ), w_k = Q_ik² and
//   g_p = (R^p)_ii = Σ w_k r_k^p,   p_k = w_k r_k/g_1  (Σ p_k = 1),   E_p[x] = Σ p_k x_k.
// Deleting row and column i from Σ+κ multiplies its determinant by g_1, so with d/dκ of the
// logarithm
//   tr (C_i+κ)⁻¹ = Σ r - g_2/g_1 = Σ r_k (1-p_k),
//   df1 = Σ ℓ_k r_k (1-p_k),
//   Σ s/(s+κ)² = -d df1/dκ = Σ ℓ_k r_k² (1-2p_k) + E_p[ℓr] E_p[r].
// The ridge predictor at population level, a = (1 at site i, -(C_i+κ)⁻¹b_i elsewhere), is R
// e_i/g_1, hence
//   B + σ² = aᵀΣa = Σ w ℓ r²/g_1².
// With two reference points, l^ = Σwℓr/g_1 and l~ = E_p[ℓr]/E_p[r], sums of squares follow for
//   bᵀ(C+κ)⁻¹b  = Σ w (ℓ-l^)² r = m,      bᵀ(C+κ)⁻²b = Σ w (ℓ-l^)² r²,
//   bᵀ(C+κ)⁻²Cb = Σ w (ℓ-l^)² ℓ r² = q - γ E_test,
//   B = κ²σ² E_p[r]²/(g_1 E_p[ℓr]) Σ w r² (ℓ-l~)²/ℓ,
// the last being κ²σ² times the covariance of r and 1/ℓ under p. Nothing cancels in them.
//
// Of the terms of order 1/M. With ρ = κr and π = ℓr the derivatives of log g_1 give the power sums
// Σ q^j = Σ ρ^j - P_j over the eigenvalues of C_i, where Newton's identities make P_j of e_j =
// E_p[ρ^j] (P_j = j e_j - Σ_{i<j} e_{j-i} P_i), and the derivatives of B + σ² give
//   V_2 = E_p[(ρ-ρ̄)²]/g_1,     V_3 = E_p[(ρ-ρ̄)² π]/g_1.
//
// Where one p_k is near 1, 1-p_k cancels. That matters only for the largest r, that of the smallest
// eigenvalue (index 0), because for any other such k the terms of index 0 dominate; so 1-p_0 is
// summed from the other p_k.

namespace attica {
namespace {

constexpr Eigen::Index kParts = 8;
using Parts = Eigen::Array<double, kParts, 1>;

/// Sums over the spectrum for T = double, or eight partial sums for T = Parts.
template <class T>
struct SpectralSums {
  T r, lr, lr2, wr, wlr, wr2, wlr2, wlr3;

  explicit SpectralSums(const T& zero)
      : r(zero), lr(zero), lr2(zero), wr(zero), wlr(zero), wr2(zero), wlr2(zero), wlr3(zero) {}

  /// Adds one term (or eight) and returns its w r².
  T add(const T& l, const T& w, double kappa) {
    const T term_r = 1.0 / (l + kappa);
    const T term_lr = l * term_r;
    const T term_wr = w * term_r;
    const T term_lr2 = term_lr * term_r;
    const T term_wr2 = term_wr * term_r;
    r += term_r;
    lr += term_lr;
    lr2 += term_lr2;
    wr += term_wr;
    wlr += w * term_lr;
    wr2 += term_wr2;
    wlr2 += l * term_wr2;
    wlr3 += term_wr * term_lr2;
    return term_wr2;
  }
};

/// Sums of powers of ρ for T = double, or eight partial sums for T = Parts.
template <class T>
struct PowerSums {
  static constexpr std::size_t kPowers = 4;
  std::array<T, kPowers> plain, weighted;  // Σ ρ^j, Σ p ρ^j

  explicit PowerSums(const T& zero) {
    plain.fill(zero);
    weighted.fill(zero);
  }

  void add(const T& rho, const T& p) {
    T power = rho;
    for (std::size_t j = 0; j < kPowers; ++j) {
      plain[j] += power;
      weighted[j] += p * power;
      power *= rho;
    }
  }
};

/// Eigenvectors of one eigenvalue are any basis of its space: only the sum of their weights is a
/// site's own.
/// @param weights column i: squared i-th components of the eigenvectors
std::vector<SiteKind> kinds_of_sites(const Eigen::ArrayXXd& weights,
                                     const Eigen::ArrayXd& inverse_spectrum,
                                     const Eigen::ArrayXd& noise_variances) {
  constexpr double kRounding = 1e-12;
  const Eigen::Index sites = weights.cols();
  const double share = 1 / static_cast<double>(sites);
  Eigen::ArrayXXd spaces(weights.rows(), sites);  // the first `count` rows
  Eigen::ArrayXd inverses(weights.rows());
  Eigen::Index count = 0;
  for (Eigen::Index k = 0; k < weights.rows(); ++k) {
    const double inverse = inverse_spectrum[k];
    if (count > 0 && std::abs(inverses[count - 1] - inverse) <= kRounding * inverse) {
      spaces.row(count - 1) += weights.row(k);
    } else {
      spaces.row(count) = weights.row(k);
      inverses[count++] = inverse;
    }
  }
  // The components along the largest eigenvalue alone tell most sites apart.
  const Eigen::ArrayXd top = spaces.row(count - 1).transpose();
  const auto alike = [&](Eigen::Index i, Eigen::Index j) {
    if (std::abs(top[i] - top[j]) > kRounding ||
        std::abs(noise_variances[i] - noise_variances[j]) > kRounding * noise_variances[j]) {
      return false;
    }
    const Eigen::ArrayXd difference = (spaces.col(i) - spaces.col(j)).head(count).abs();
    return difference.sum() <= kRounding &&
           (difference * inverses.head(count)).sum() <=
               kRounding * (spaces.col(j) * inverses).head(count).sum();
  };
  std::vector<SiteKind> kinds;
  for (Eigen::Index i = 0; i < sites; ++i) {
    const auto found = std::find_if(
        kinds.begin(), kinds.end(), [&](const SiteKind& kind) { return alike(i, kind.site); });
    if (found == kinds.end()) {
      kinds.push_back({.site = i, .share = share});
    } else {
      found->share += share;
    }
  }
  return kinds;
}

/// Starting values of κ along a curve: cubic Hermite extrapolation of log κ in log M, with the
/// slope d log κ/d log M = -(1-λ/κ)/(1-γ).
class KappaExtrapolation {
 public:
  void add(double log_samples, double lambda, const RidgeSite& site) {
    previous_ = last_;
    const bool usable = site.kappa > 0 && site.one_minus_gamma > 0;
    last_ = usable ? Node{.x = log_samples,
                          .y = std::log(site.kappa),
                          .slope = (lambda / site.kappa - 1) / site.one_minus_gamma,
                          .known = true}
                   : Node{};
  }

  /// 0 if nothing is known.
  double predict(double log_samples) const {
    if (!last_.known) return 0;
    const double step = log_samples - last_.x;
    const double linear = last_.y + last_.slope * step;
    const double h = last_.x - previous_.x;
    if (!previous_.known || h == 0) return std::exp(linear);
    const double t = step / h;  // previous node at -1, last at 0
    const double chord = last_.y - previous_.y;
    const double curvature = 2 * last_.slope * h + previous_.slope * h - 3 * chord;
    const double third = last_.slope * h + previous_.slope * h - 2 * chord;
    return std::exp(linear + t * t * (curvature + t * third));
  }

 private:
  struct Node {
    double x = 0;
    double y = 0;
    double slope = 0;
    bool known = false;
  };
  Node previous_;
  Node last_;
};

constexpr auto kAveraged = std::to_array<std::pair<double RidgeSite::*, double RidgePoint::*>>({
    {&RidgeSite::one_minus_gamma, &RidgePoint::one_minus_gamma},
    {&RidgeSite::bias, &RidgePoint::bias},
    {&RidgeSite::sampling_variance, &RidgePoint::sampling_variance},
    {&RidgeSite::noise_variance, &RidgePoint::noise_variance},
    {&RidgeSite::bayes_error, &RidgePoint::bayes_error},
    {&RidgeSite::test_error, &RidgePoint::test_error},
    {&RidgeSite::train_error, &RidgePoint::train_error},
    {&RidgeSite::overlap_m, &RidgePoint::overlap_m},
    {&RidgeSite::overlap_q, &RidgePoint::overlap_q},
    {&RidgeSite::weight_norm2, &RidgePoint::weight_norm2},
    {&RidgeSite::signal, &RidgePoint::signal},
});

constexpr auto kAllowances = std::to_array<std::pair<double RidgeSite::*, double RidgePoint::*>>({
    {&RidgeSite::finite_size_test, &RidgePoint::finite_size_test},
    {&RidgeSite::finite_size_train, &RidgePoint::finite_size_train},
    {&RidgeSite::finite_size_overlap_m, &RidgePoint::finite_size_overlap_m},
    {&RidgeSite::finite_size_overlap_q, &RidgePoint::finite_size_overlap_q},
    {&RidgeSite::finite_size_weight_norm2, &RidgePoint::finite_size_weight_norm2},
});

/// Adds a site's share of the average.
void add_share(const RidgeSite& site, double share, RidgeOrder order, RidgePoint& point) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kTrainFactor = 3;
  for (const auto& [from, to] : kAveraged) point.*to += share * site.*from;
  point.status = std::max(point.status, site.status);
  if (order == RidgeOrder::first) {
    for (const auto& [from, to] : kAllowances) point.*to += share * site.*from;
    return;
  }
  const double degrees_left = point.samples * site.one_minus_gamma;
  const bool bounded = degrees_left > 0;
  point.finite_size_test += bounded ? share * site.test_error / degrees_left : kInfinity;
  point.finite_size_train +=
      bounded ? share * kTrainFactor * site.train_error / degrees_left : kInfinity;
  point.finite_size_overlap_m += bounded ? share * site.overlap_m / degrees_left : kInfinity;
  point.finite_size_overlap_q += bounded ? share * site.overlap_q / degrees_left : kInfinity;
  point.finite_size_weight_norm2 += bounded ? share * site.weight_norm2 / degrees_left : kInfinity;
}

}  // namespace

/// @brief One site: what its equations need of the spectrum. The smallest eigenvalue stands apart.
class GaussianRidge::SiteView {
 public:
  SiteView(const GaussianRidge& ridge, Eigen::Index site)
      // A kernel that does not touch the site is not seen by C_i either.
      : first_(ridge.spectrum_[0] == 0 && ridge.weights_(0, site) == 0 ? 1 : 0),
        rest_(ridge.spectrum_.size() - first_ - 1),
        l_(ridge.spectrum_.data() + first_),
        inverse_l_(ridge.inverse_spectrum_.data() + first_),
        w_(ridge.weights_.col(site).data() + first_),
        variance_(ridge.variances_[site]),
        noise_(ridge.noise_variances_[site]),
        trace_(std::max(ridge.variances_.sum() - variance_, 0.0)),
        determined_(l_[0] == 0),
        spectral_noise_(
            determined_ ? 0 : 1 / (Values(w_, rest_ + 1) * Values(inverse_l_, rest_ + 1)).sum()),
        wr2_(rest_ + 1) {}

  /// Rank of C_i.
  double rank() const { return static_cast<double>(rest_); }

  KappaEquation equation(double samples, double lambda) const {
    return {.lambda = lambda, .highest = lambda + trace_ / samples};
  }

  /// Sums over the spectrum at κ; what follows below refers to the last call.
  void evaluate(double kappa) {
    SpectralSums<Parts> lanes{Parts::Zero()};
    Eigen::Index k = 1;
    for (; k + kParts <= rest_ + 1; k += kParts) {
      Eigen::Map<Parts>(wr2_.data() + k) =
          lanes.add(Eigen::Map<const Parts>(l_ + k), Eigen::Map<const Parts>(w_ + k), kappa);
    }
    SpectralSums<double> sums{0};
    for (; k <= rest_; ++k) wr2_[k] = sums.add(l_[k], w_[k], kappa);

    const double l0 = l_[0];
    const double r0 = 1 / (l0 + kappa);
    wr2_[0] = w_[0] * r0 * r0;
    // That of a kernel is 1/κ² and may be beyond the largest number: such a one stands apart.
    beyond_ = determined_ && std::isinf(wr2_[0]) ? r0 : 0;
    if (beyond_ > 0) wr2_[0] = 0;
    const double wr = lanes.wr.sum() + sums.wr;
    g1_ = w_[0] * r0 + wr;
    const double p0 = w_[0] * r0 / g1_;
    const double others = wr / g1_;                               // 1 - p_0
    const double mean_r = (lanes.wr2.sum() + sums.wr2) / g1_;     // E_p[r] but for k = 0
    const double mean_lr = (lanes.wlr2.sum() + sums.wlr2) / g1_;  // E_p[ℓr] but for k = 0
    mean_r_ = p0 * r0 + mean_r;
    mean_lr_ = p0 * l0 * r0 + mean_lr;
    predictor_reference_ = (w_[0] * l0 * r0 + lanes.wlr.sum() + sums.wlr) / g1_;
    inverse_trace_ = (lanes.r.sum() + sums.r) - mean_r + r0 * others;
    df1_ = (lanes.lr.sum() + sums.lr) - mean_lr + l0 * r0 * others;
    df1_slope_ = (lanes.lr2.sum() + sums.lr2) - 2 * (lanes.wlr3.sum() + sums.wlr3) / g1_ +
                 l0 * r0 * r0 * others * others + p0 * r0 * (l0 * mean_r + mean_lr) +
                 mean_r * mean_lr;
  }

  KappaTrial trial(double samples, double kappa) {
    evaluate(kappa);
    // With N = rank C_i, N - df1 = κ tr (C_i+κ)⁻¹: no cancellation near the threshold.
    const double share = 2 * samples < rank()
                             ? 1 - df1_ / samples
                             : (samples - rank() + kappa * inverse_trace_) / samples;
    return {share, share + kappa / samples * df1_slope_};
  }

  /// All quantities at the root.
  RidgeSite solution(double samples, double lambda, const KappaRoot& root, RidgeOrder order) {
    RidgeSite site = leading(samples, lambda, root);
    const bool learnt = site.kappa == 0 && determined_;
    if (order == RidgeOrder::leading || learnt) return site;
    if (site.status == RidgeStatus::converged) {
      add_first_order(moments(samples, lambda, site), site);
    } else {
      for (const auto& allowance : kAllowances) {
        site.*allowance.first = std::numeric_limits<double>::infinity();
      }
    }
    return site;
  }

 private:
  RidgeSite leading(double samples, double lambda, const KappaRoot& root) {
    const double kappa = root.kappa;
    RidgeSite site{.kappa = kappa, .bayes_error = noise_, .signal = variance_ - noise_};
    if (kappa == 0 && determined_) {
      // Neither noise nor penalty: the site is learnt exactly, and E_test/M tr C⁺ vanishes.
      site.one_minus_gamma = 1 - rank() / samples;
      site.overlap_m = site.overlap_q = site.signal;
      site.weight_norm2 = 1 / w_[0] - 1;
      return site;
    }
    evaluate(kappa);
    const double train_factor = kappa > 0 ? lambda / kappa : 1 - rank() / samples;
    site.one_minus_gamma = train_factor + kappa / samples * df1_slope_;
    const double gamma = 1 - site.one_minus_gamma;

    const Values l(l_, rest_ + 1);
    const Values wr2(wr2_.data(), rest_ + 1);
    const double bias_reference = mean_lr_ / mean_r_;
    const double spread =
        (wr2 * (l - bias_reference).square() * Values(inverse_l_, rest_ + 1)).sum();
    // A site with a share in the kernel has no noise: B itself is Σ w ℓ r²/g_1².
    site.bias = determined_ ? mean_lr_ / g1_
                            : kappa * kappa * spectral_noise_ * mean_r_ * mean_r_ /
                                  (g1_ * mean_lr_) * spread;
    const double weight2 = predictor_weight2();
    const double signal2 = (wr2 * (l - predictor_reference_).square() * l).sum();
    site.overlap_m = signal2 + kappa * weight2;

    if (site.one_minus_gamma == 0) {
      constexpr double kInfinity = std::numeric_limits<double>::infinity();
      site.noise_variance = site.test_error = kInfinity;
      site.overlap_q = site.weight_norm2 = kInfinity;
      site.status = RidgeStatus::divergent;
      return site;
    }
    site.sampling_variance = site.bias * gamma / site.one_minus_gamma;
    site.noise_variance = noise_ * gamma / site.one_minus_gamma;
    site.test_error = (site.bias + noise_) / site.one_minus_gamma;
    site.train_error = train_factor * train_factor * site.test_error;
    site.overlap_q = signal2 + gamma * site.test_error;
    site.weight_norm2 = weight2 + site.test_error / samples * df1_slope_;
    if (!root.converged || !std::isfinite(site.test_error + site.overlap_q + site.weight_norm2)) {
      site.status = RidgeStatus::not_converged;
    }
    return site;
  }

  /// At the κ of the last call of evaluate, where `site` holds the leading order.
  RidgeMoments moments(double samples, double lambda, const RidgeSite& site) const {
    const double kappa = site.kappa;
    const Values l(l_, rest_ + 1);
    const Values wr2(wr2_.data(), rest_ + 1);
    using Sums = PowerSums<double>;
    PowerSums<Parts> lanes{Parts::Zero()};
    Eigen::Index k = 0;
    for (; k + kParts <= l.size(); k += kParts) {
      const Parts shifted = l.segment<kParts>(k) + kappa;
      lanes.add(kappa / shifted, wr2.segment<kParts>(k) * shifted / g1_);
    }
    Sums sums{0};
    for (; k < l.size(); ++k) sums.add(kappa / (l[k] + kappa), wr2[k] * (l[k] + kappa) / g1_);
    if (beyond_ > 0) {  // its ρ is 1, counted above with p = 0
      for (double& weighted : sums.weighted) weighted += w_[0] * beyond_ / g1_;
    }
    std::array<double, Sums::kPowers> mean{};   // e_j
    std::array<double, Sums::kPowers> below{};  // P_j
    std::array<double, Sums::kPowers> power{};  // Σ q^j over the eigenvalues of C_i
    for (std::size_t j = 0; j < power.size(); ++j) {
      mean[j] = sums.weighted[j] + lanes.weighted[j].sum();
      below[j] = static_cast<double>(j + 1) * mean[j];
      for (std::size_t i = 0; i < j; ++i) below[j] -= mean[j - 1 - i] * below[i];
      power[j] = sums.plain[j] + lanes.plain[j].sum() - below[j];
    }
    const double centre = kappa * mean_r_;
    // p (ρ - ρ̄)² = w r² (κ - ρ̄ (ℓ+κ))² / (g_1 (ℓ+κ))
    const Eigen::ArrayXd from_mean2 =
        wr2 * (kappa - centre * (l + kappa)).square() / (g1_ * (l + kappa));
    RidgeMoments result{.samples = samples,
                        .lambda_share = kappa > 0 ? lambda / kappa : 1 - rank() / samples,
                        .slope1 = df1_slope_ / samples};
    result.slope2 = result.slope3 = result.slope1;
    if (kappa > 0) {
      const double q2p = (power[1] - power[2]) / (kappa * samples);
      const double q3p = (power[2] - power[3]) / (kappa * samples);
      result.slope2 -= q2p;
      result.slope3 += q3p - 2 * q2p;
    }
    result.bias2 = from_mean2.sum() / g1_;
    result.bias3 = (from_mean2 * l / (l + kappa)).sum() / g1_;
    result.weight2 = predictor_weight2();
    return result;
  }

  /// Σ w (ℓ-l^)² r² at the last κ.
  double predictor_weight2() const {
    const Values l(l_, rest_ + 1);
    const double kernel = beyond_ * predictor_reference_;
    return (Values(wr2_.data(), rest_ + 1) * (l - predictor_reference_).square()).sum() +
           w_[0] * kernel * kernel;
  }

  using Values = Eigen::Map<const Eigen::ArrayXd>;

  Eigen::Index first_;
  Eigen::Index rest_;  // number of eigenvalues without the smallest
  const double* l_;
  const double* inverse_l_;
  const double* w_;
  double variance_;
  double noise_;
  double trace_;           // tr C_i
  bool determined_;        // the site has a share in the kernel of Σ
  double spectral_noise_;  // σ² from the eigenvalues, so that its rounding cancels in B
  Eigen::ArrayXd wr2_;     // w_k r_k² of the last evaluation
  double beyond_ = 0;      // r_0 if r_0² is not a number, else 0
  double g1_ = 0;
  double mean_r_ = 0;
  double mean_lr_ = 0;
  double predictor_reference_ = 0;  // l^
  double inverse_trace_ = 0;        // tr (C_i+κ)⁻¹
  double df1_ = 0;
  double df1_slope_ = 0;  // Σ s/(s+κ)²
};

GaussianRidge::GaussianRidge(const GaussianMlm& problem, RidgeOrder order)
    : order_(order),
      variances_(problem.covariance().diagonal()),
      noise_variances_(problem.noise_variances()),
      mean_eigenvalue_(problem.mean_eigenvalue()) {
  const Eigen::Index kernel = problem.sites() - problem.rank();
  const Eigen::Index offset = kernel > 0 ? 1 : 0;
  const Eigen::Index rank = problem.rank();
  spectrum_.setZero(offset + rank);
  spectrum_.tail(rank) = problem.eigenvalues().tail(rank);
  inverse_spectrum_.setZero(offset + rank);
  inverse_spectrum_.tail(rank) = spectrum_.tail(rank).inverse();
  weights_.resize(offset + rank, problem.sites());
  weights_.bottomRows(rank) = problem.eigenvectors().rightCols(rank).transpose().array().square();
  if (kernel > 0) weights_.row(0) = problem.kernel_weights().transpose();
  kinds_ = kinds_of_sites(weights_, inverse_spectrum_, noise_variances_);
}

RidgeSite GaussianRidge::solve(SiteView& view, double samples, double lambda, double start) const {
  // Without penalty and with enough samples κ = 0 is the largest root.
  if (lambda == 0 && samples >= view.rank()) {
    return view.solution(samples, lambda, {.kappa = 0, .converged = true}, order_);
  }
  const KappaRoot root = solve_kappa(view.equation(samples, lambda), start, [&](double kappa) {
    return view.trial(samples, kappa);
  });
  return view.solution(samples, lambda, root, order_);
}

RidgeSite GaussianRidge::site(Eigen::Index site, double samples, double lambda) const {
  require(site >= 0 && site < sites(),
          "site",
          static_cast<double>(site),
          fmt::format("0 <= site < {}", sites()));
  require_samples(samples);
  lambda = checked_penalty(lambda);
  SiteView view(*this, site);
  return solve(view, samples, lambda, 0);
}

std::vector<RidgeSite> GaussianRidge::all_sites(double samples, double lambda) const {
  require_samples(samples);
  lambda = checked_penalty(lambda);
  std::vector<RidgeSite> result;
  result.reserve(static_cast<std::size_t>(sites()));
  double start = 0;
  for (Eigen::Index i = 0; i < sites(); ++i) {
    SiteView view(*this, i);
    result.push_back(solve(view, samples, lambda, start));
    start = result.back().kappa;
  }
  return result;
}

std::vector<RidgePoint> GaussianRidge::curve(std::span<const double> samples, double lambda) const {
  lambda = checked_penalty(lambda);
  std::vector<RidgePoint> points(samples.size());
  std::vector<double> log_samples(samples.size());
  for (std::size_t j = 0; j < samples.size(); ++j) {
    require_samples(samples[j]);
    points[j].samples = samples[j];
    log_samples[j] = std::log(samples[j]);
  }
  double first_kappa = 0;
  for (const auto& [kind, share] : kinds_) {
    SiteView view(*this, kind);
    KappaExtrapolation extrapolation;
    for (std::size_t j = 0; j < samples.size(); ++j) {
      const double start = j == 0 ? first_kappa : extrapolation.predict(log_samples[j]);
      const RidgeSite site = solve(view, samples[j], lambda, start);
      if (j == 0) first_kappa = site.kappa;  // that of the next kind is close
      extrapolation.add(log_samples[j], lambda, site);
      add_share(site, share, order_, points[j]);
    }
  }
  return points;
}

RidgePoint GaussianRidge::average(double samples, double lambda) const {
  return curve(std::span(&samples, 1), lambda).front();
}

}  // namespace attica
