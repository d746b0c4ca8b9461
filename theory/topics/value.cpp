#include "attica/theory/topics/value.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>
#include <functional>

#include "attica/core/error.hpp"

namespace attica {
namespace {

/// Adds c to the three classes of word pairs.
void add_to_words(Commutant& x, double c) {
  x[kSameWord] += c;
  x[kSameTopic] += c;
  x[kOtherTopic] += c;
}

/// R = E q qᵀ of the true word frequencies q, on pairs of words.
Commutant frequency_moment(const TopicModel& model) {
  const double v2 = model.words() * model.words();
  Commutant r = Commutant::Zero();
  r[kSameWord] = model.theta_squared() / v2;
  r[kSameTopic] = r[kSameWord];
  r[kOtherTopic] = model.theta_product() / v2;
  return r;
}

/// p̂ = μ e_mask + ρ uniform + κ q without fluctuations.
ValueMoments infinite_moments(const TopicModel& model) {
  const double words = model.all_words();
  const double mu = model.mu();
  const double rho = model.rho();
  const double kappa = model.kappa();
  const Commutant r = frequency_moment(model);
  ValueMoments m{.sigma = kappa * kappa * r, .target = kappa * r};
  m.sigma[kMaskMask] = mu * mu;
  m.sigma[kMaskWord] = m.sigma[kWordMask] = mu * (1 - mu) / words;
  add_to_words(m.sigma, (rho * rho + 2 * rho * kappa) / (words * words));
  m.target[kWordMask] = mu / words;
  add_to_words(m.target, rho / (words * words));
  return m;
}

/// Given the number k of selected positions, p̂ is a mean over N independent tokens given θ, k of
/// them corrupted. The first two moments of k, a binomial given k >= 1, are all that enters.
ValueMoments finite_moments(const TopicModel& model, double n) {
  const double words = model.all_words();
  const double pm = model.mask_rate();
  const double pc = model.keep_rate();
  const double pr = model.random_rate();
  const double mask = model.masked_share();
  const double some = -std::expm1(n * std::log1p(-pm));  // P(k >= 1); 1 for p_m = 1
  const double k1 = n * pm / some;
  const double k2 = (n * pm * (1 - pm) + n * n * pm * pm) / some;
  const double e1 = k1 / n;
  const double e2 = k2 / (n * n);
  const double a = 1 - pc;
  const Commutant r = frequency_moment(model);
  const double u2 = 1 / (words * words);

  // The mean of p̂ given k and θ: (k/N) p_M e_mask + (k/N) p_r u + (1 - a k/N) q.
  Commutant sigma = (1 - 2 * a * e1 + a * a * e2) * r;
  sigma[kMaskMask] = mask * mask * e2;
  sigma[kMaskWord] = (mask * pr * e2 + mask * (e1 - a * e2)) / words;
  add_to_words(sigma, (pr * pr * e2 + 2 * pr * (e1 - a * e2)) * u2);
  // Multinomial noise of the selected tokens ...
  const double c1 = k1 / (n * n);
  sigma[kMaskMask] += c1 * mask * (1 - mask);
  sigma[kMaskWord] -= c1 * mask * (pc + pr) / words;
  sigma[kSameWord] += c1 * (pc + pr) / words;
  sigma -= c1 * pc * pc * r;
  add_to_words(sigma, -c1 * (2 * pc * pr + pr * pr) * u2);
  // ... and of the others.
  const double c2 = (n - k1) / (n * n);
  sigma[kSameWord] += c2 / words;
  sigma -= c2 * r;
  sigma[kWordMask] = sigma[kMaskWord];

  // C: the position itself shows its token with p_c; the other N - 1 know of it through θ only.
  Commutant target = (((k1 - 1) * pc + (n - k1)) / n) * r;
  add_to_words(target, k1 * pr * u2 / n);
  target[kSameWord] += pc / (n * words);
  target[kWordMask] = mask * k1 / (n * words);
  return {sigma, target};
}

}  // namespace

ValueMoments value_moments(const TopicModel& model) {
  ValueMoments m{Commutant::Zero(), Commutant::Zero()};
  if (model.infinite()) {
    m = infinite_moments(model);
  } else {
    const auto [low, high] = *model.settings().length;
    const double weight = 1 / static_cast<double>(high - low + 1);
    for (std::int64_t n = low; n <= high; ++n) {
      const ValueMoments at = finite_moments(model, static_cast<double>(n));
      m.sigma += weight * at.sigma;
      m.target += weight * at.target;
    }
  }
  const TopicVocabulary& vocabulary = model.vocabulary();
  for (Commutant* x : {&m.sigma, &m.target}) {
    if (vocabulary.words == 1) (*x)[kSameTopic] = 0;
    if (vocabulary.topics == 1) (*x)[kOtherTopic] = 0;
  }
  return m;
}

double value_loss(const CommutantAlgebra& algebra,
                  const ValueMoments& moments,
                  const Commutant& w) {
  const Commutant quadratic = algebra.product(algebra.product(w, moments.sigma), transposed(w));
  return algebra.trace(quadratic) - 2 * algebra.counts().dot(w.cwiseProduct(moments.target)) + 1;
}

namespace {

/// C f(Σ), f being applied to the eigenvalues of Σ.
Commutant filtered(const CommutantAlgebra& algebra,
                   const ValueMoments& moments,
                   const std::function<double(double eigenvalue, double largest)>& f) {
  const Isotypic sigma = algebra.isotypic(moments.sigma);
  const Isotypic target = algebra.isotypic(moments.target);
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix2d> trivial(sigma.trivial);
  const double largest = std::max({trivial.eigenvalues().maxCoeff(), sigma.topic, sigma.within});
  const Eigen::Vector2d values =
      trivial.eigenvalues().unaryExpr([&](double s) { return f(s, largest); });
  const Eigen::Matrix2d block =
      trivial.eigenvectors() * values.asDiagonal() * trivial.eigenvectors().transpose();
  return algebra.commutant({target.trivial * block,
                            target.topic * f(sigma.topic, largest),
                            target.within * f(sigma.within, largest)});
}

/// 1/(s + λ), λ = 0 meaning λ → 0+.
double inverse(double s, double lambda, double largest) {
  constexpr double kZero = 1e-12;
  return lambda > 0 ? 1 / (s + lambda) : s > kZero * largest ? 1 / s : 0;
}

}  // namespace

Commutant value_optimum(const CommutantAlgebra& algebra,
                        const ValueMoments& moments,
                        double lambda) {
  return filtered(
      algebra, moments, [&](double s, double largest) { return inverse(s, lambda, largest); });
}

Commutant value_left(const CommutantAlgebra& algebra,
                     const ValueMoments& moments,
                     double eta,
                     double lambda,
                     double steps) {
  return filtered(algebra, moments, [&](double s, double largest) {
    return -inverse(s, lambda, largest) * std::pow(std::abs(1 - 2 * eta * (s + lambda)), steps);
  });
}

Commutant mean_value_step(const CommutantAlgebra& algebra,
                          const ValueMoments& moments,
                          const Commutant& w,
                          double eta,
                          double lambda) {
  return w - 2 * eta * (algebra.product(w, moments.sigma) - moments.target + lambda * w);
}

Commutant value_closed_form(const TopicModel& model) {
  if (!model.subset() || !model.infinite()) {
    throw invalid_parameter(model.subset() ? "length" : "prior",
                            model.subset() ? "finite" : "dirichlet",
                            "infinite documents of the subset prior for the closed form");
  }
  require(model.has_topic_signal(),
          "topics_per_document",
          model.tau(),
          "topics_per_document < topics for the closed form");
  const double words = model.all_words();
  const double mu = model.mu();
  const double rho = model.rho();
  const double kappa = model.kappa();
  const double gamma = -(mu * mu * words + (1 - mu) * rho) /
                       (kappa * words * (words * mu * mu + (1 - mu) * (1 - mu)));
  Commutant w = Commutant::Zero();
  w[kSameWord] = 1 / (kappa * model.words()) + gamma;
  w[kSameTopic] = model.vocabulary().words > 1 ? w[kSameWord] : 0;
  w[kOtherTopic] = gamma;
  w[kWordMask] = mu > 0 ? -(rho / (kappa * words) + (1 - mu) * gamma) / mu : 0;
  return w;
}

}  // namespace attica
