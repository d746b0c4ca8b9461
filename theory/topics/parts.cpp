#include "attica/theory/topics/parts.hpp"

namespace attica {
namespace {

/// X = W_EᵀW_V W_E + b 1ᵀ.
Commutant whole_map(const CommutantAlgebra& algebra, const TopicParts& p) {
  Commutant bias;
  bias << p.bias[0], p.bias[0], Eigen::Vector4d::Constant(p.bias[1]);
  bias = (algebra.counts().array() > 0).select(bias, 0);
  return algebra.product(transposed(p.embedding), algebra.product(p.value, p.embedding)) + bias;
}

}  // namespace

double parts_loss(const CommutantAlgebra& algebra,
                  const ValueMoments& moments,
                  const TopicParts& parts) {
  return value_loss(algebra, moments, whole_map(algebra, parts));
}

TopicParts parts_step(const CommutantAlgebra& algebra,
                      const ValueMoments& moments,
                      const TopicParts& p,
                      const TrainedParts& trained,
                      double eta) {
  const auto product = [&](const Commutant& a, const Commutant& b) {
    return algebra.product(a, b);
  };
  const Commutant g = 2 * (product(whole_map(algebra, p), moments.sigma) - moments.target);
  TopicParts next = p;
  if (trained.value) {
    next.value -= eta * product(p.embedding, product(g, transposed(p.embedding)));
  }
  if (trained.embedding) {
    next.embedding -= eta * (product(p.value, product(p.embedding, transposed(g))) +
                             product(transposed(p.value), product(p.embedding, g)));
  }
  // Sums of the mask's row and of a word's.
  const Commutant sums = g.cwiseProduct(algebra.counts());
  next.bias[0] -= eta * sums.head<2>().sum();
  next.bias[1] -=
      eta * sums.tail<4>().sum() / static_cast<double>(algebra.vocabulary().all_words());
  return next;
}

double parts_optimum(const CommutantAlgebra& algebra,
                     const ValueMoments& moments,
                     const Commutant& value,
                     const TrainedParts& trained) {
  const Isotypic sigma = algebra.isotypic(moments.sigma);
  const Isotypic target = algebra.isotypic(moments.target);
  const Isotypic w = algebra.isotypic(value);
  const auto words = static_cast<double>(algebra.vocabulary().all_words());
  const auto contrast = [&](double s, double c, double x) {
    constexpr double kNone =
        1e-12;  // documents without such a contrast: σ = c = 0 but for rounding
    if (s < kNone * sigma.trivial.trace()) return 0.0;
    const double best = c / s;
    if (trained.value) {
      x = best;
    } else if (trained.embedding) {
      x = best * x > 0 ? best : 0;
    }
    return s * x * x - 2 * c * x;
  };
  double loss = 1 - 1 / words +
                algebra.topic_multiplicity() * contrast(sigma.topic, target.topic, w.topic) +
                algebra.within_multiplicity() * contrast(sigma.within, target.within, w.within);
  if (!trained.value && !trained.embedding) {
    // The bias takes away the mean. The number of masks still varies, p̂ along (1, -1/(Tv), ...),
    // and tells nothing about the word.
    const Eigen::Vector2d direction(1, -1 / std::sqrt(words));
    const double mean = sigma.trivial(0, 0) + std::sqrt(words) * sigma.trivial(0, 1);
    loss += (sigma.trivial(0, 0) - mean * mean) * (w.trivial * direction).squaredNorm();
  }
  return loss;
}

double copying_gain(const TopicModel& model) {
  const double keep = model.keep_rate();
  if (keep == 0) return 0;
  const double shown = keep + model.random_rate();  // of selected tokens, as words
  const double word = 1 / model.all_words();
  const double kappa = model.kappa();
  const double rho = model.rho();
  const double repeated = model.topics() * model.theta_squared() / model.words();  // S/v
  // Of words that are kept, and of those that are drawn at random: the share p̂_y.
  const double of_kept = kappa * repeated + rho * word;
  const double of_drawn = (kappa + rho) * word;
  const double share = (keep * of_kept + model.random_rate() * of_drawn) / shown;
  const double squared =
      kappa * kappa * repeated + rho * (2 * kappa + rho) * word + model.mu() * model.mu();
  const double right = keep * (1 - repeated);
  return right * right / shown / (1 - 2 * share + squared);
}

}  // namespace attica
