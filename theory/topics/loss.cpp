#include "attica/theory/topics/loss.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/solvers/minimise.hpp"
#include "attica/solvers/newton.hpp"
#include "attica/theory/topics/value.hpp"

namespace attica {
namespace {

/// Tokens that a query treats alike: as keys, and as rows of the output.
struct TokenClass {
  double count;            ///< tokens in the class
  double share;            ///< of each among the shown tokens
  double selected;         ///< of each among those that the selected tokens show
  CommutantClass score;    ///< which score it has
  double target;           ///< probability that the true token is in the class
  bool own_topic = false;  ///< of the query's topic
};

/// A class of queries: class 0 is the mask, then words.
struct QueryClass {
  double probability;
  std::size_t own;  ///< the class that is the shown token itself
  std::vector<TokenClass> tokens;
};

/// The three classes of queries; what has no probability is left out.
std::vector<QueryClass> query_classes(const TopicModel& model) {
  const double v = model.words();
  const double tau = model.tau();
  const double others = model.topics() - tau;
  const double inside = model.shown_inside();
  const double outside = model.shown_outside();
  const double mu = model.mu();
  const double keep = model.keep_rate();
  const double random_inside = model.random_rate() * tau / model.topics();
  const double random_outside = model.random_rate() - random_inside;
  const double masked = model.masked_share();
  const double random_word = model.random_rate() / model.all_words();
  const double chosen = keep / (tau * v) + random_word;  // each of these words among the selected
  std::vector<QueryClass> queries;
  if (model.masked_share() > 0) {
    queries.push_back({model.masked_share(),
                       0,
                       {{1, mu, masked, kMaskMask, 0},
                        {tau * v, inside, chosen, kWordMask, 1},
                        {others * v, outside, random_word, kWordMask, 0}}});
  }
  const double shown = keep + random_inside;
  if (shown > 0) {
    // The true token is the shown one, or any word of the document.
    const double random = random_inside / shown;
    const double each = random / (tau * v);
    queries.push_back({shown,
                       1,
                       {{1, mu, masked, kMaskWord, 0},
                        {1, inside, chosen, kSameWord, keep / shown + each, true},
                        {v - 1, inside, chosen, kSameTopic, (v - 1) * each, true},
                        {(tau - 1) * v, inside, chosen, kOtherTopic, (tau - 1) * v * each},
                        {others * v, outside, random_word, kOtherTopic, 0}}});
  }
  if (random_outside > 0 && others > 0) {
    queries.push_back({random_outside,
                       1,
                       {{1, mu, masked, kMaskWord, 0},
                        {1, outside, random_word, kSameWord, 0, true},
                        {v - 1, outside, random_word, kSameTopic, 0, true},
                        {tau * v, inside, chosen, kOtherTopic, 1},
                        {(others - 1) * v, outside, random_word, kOtherTopic, 0}}});
  }
  return queries;
}

constexpr std::size_t kMostClasses = 5;

/// Loss of one class of queries; adds `probability` times its derivatives.
double class_loss(const QueryClass& query,
                  double v,
                  TopicLoss loss,
                  const Commutant& w,
                  const Commutant& score,
                  double own,
                  ReducedGradient* gradient) {
  const std::vector<TokenClass>& t = query.tokens;
  const std::size_t n = t.size();
  // Attention per token, max-shifted; a class without tokens or share has none.
  std::array<double, kMostClasses> attention{};
  double largest = -std::numeric_limits<double>::infinity();
  const auto weight = [&](std::size_t k) {
    return (1 - own) * t[k].share + (k == query.own ? own : 0);
  };
  for (std::size_t k = 0; k < n; ++k) {
    if (t[k].count > 0 && weight(k) > 0) largest = std::max(largest, score[t[k].score]);
  }
  double total = 0;
  for (std::size_t k = 0; k < n; ++k) {
    if (t[k].count <= 0 || weight(k) <= 0) continue;
    attention[k] = weight(k) * std::exp(score[t[k].score] - largest);
    total += t[k].count * attention[k];
  }
  double own_topic = 0;  // attention on the query's topic
  for (std::size_t k = 0; k < n; ++k) {
    attention[k] /= total;
    if (t[k].own_topic) own_topic += t[k].count * attention[k];
  }
  // Outputs: row r attends to its own word with A(r), to its topic with B(r), to words with 1 -
  // A_0.
  const double mask = attention[0];
  const double same = w[kSameWord] - w[kSameTopic];
  const double topic = w[kSameTopic] - w[kOtherTopic];
  std::array<double, kMostClasses> on_topic{};
  std::array<double, kMostClasses> f{};
  f[0] = w[kMaskMask] * mask + w[kMaskWord] * (1 - mask);
  for (std::size_t r = 1; r < n; ++r) {
    on_topic[r] = t[r].own_topic ? own_topic : v * attention[r];
    f[r] = w[kWordMask] * mask + same * attention[r] + topic * on_topic[r] +
           w[kOtherTopic] * (1 - mask);
  }
  std::array<double, kMostClasses> delta{};  // dL/df, summed over the rows of a class
  double result = 0;
  if (loss == TopicLoss::squared) {
    result = 1;
    for (std::size_t r = 0; r < n; ++r) {
      result += t[r].count * f[r] * f[r] - 2 * t[r].target * f[r];
      delta[r] = 2 * (t[r].count * f[r] - t[r].target);
    }
  } else {
    double top = -std::numeric_limits<double>::infinity();
    for (std::size_t r = 0; r < n; ++r) {
      if (t[r].count > 0) top = std::max(top, f[r]);
    }
    double sum = 0;
    for (std::size_t r = 0; r < n; ++r) {
      delta[r] = t[r].count > 0 ? t[r].count * std::exp(f[r] - top) : 0;
      sum += delta[r];
    }
    result = top + std::log(sum);
    for (std::size_t r = 0; r < n; ++r) {
      delta[r] = delta[r] / sum - t[r].target;
      result -= t[r].target * f[r];
    }
  }
  if (gradient == nullptr) return result;

  Commutant dw = Commutant::Zero();
  dw[kMaskMask] = delta[0] * mask;
  dw[kMaskWord] = delta[0] * (1 - mask);
  double all_words = 0;
  double own_rows = 0;
  for (std::size_t r = 1; r < n; ++r) {
    dw[kSameWord] += delta[r] * attention[r];
    dw[kSameTopic] += delta[r] * (on_topic[r] - attention[r]);
    dw[kOtherTopic] += delta[r] * (1 - mask - on_topic[r]);
    all_words += delta[r];
    if (t[r].own_topic) own_rows += delta[r];
  }
  dw[kWordMask] = mask * all_words;
  // By attention, then through the softmax.
  std::array<double, kMostClasses> h{};
  h[0] = delta[0] * (w[kMaskMask] - w[kMaskWord]) + all_words * (w[kWordMask] - w[kOtherTopic]);
  for (std::size_t k = 1; k < n; ++k) {
    h[k] = delta[k] * same + topic * (t[k].own_topic ? t[k].count * own_rows : v * delta[k]);
  }
  double mean = 0;
  for (std::size_t k = 0; k < n; ++k) mean += h[k] * attention[k];
  gradient->value += query.probability * dw;
  for (std::size_t k = 0; k < n; ++k) {
    gradient->score[t[k].score] += query.probability * attention[k] * (h[k] - t[k].count * mean);
  }
  return result;
}

/// Entries of W_V between one row and the keys of a class.
struct Entries {
  double count;
  CommutantClass place;
};
using Row = std::array<Entries, 3>;

/// Between a row of class r and the keys of class k.
Row entries(const std::vector<TokenClass>& t, double v, std::size_t r, std::size_t k) {
  const double count = t[k].count;
  if (r == 0) return {{{count, k == 0 ? kMaskMask : kMaskWord}}};
  if (k == 0) return {{{count, kWordMask}}};
  const bool own = t[k].own_topic;
  if (r != k) return {{{count, own && t[r].own_topic ? kSameTopic : kOtherTopic}}};
  if (own) return {{{1, kSameWord}, {count - 1, kSameTopic}}};
  return {{{1, kSameWord}, {v - 1, kSameTopic}, {count - v, kOtherTopic}}};
}

/// What a class of queries adds to the gap of finite documents, to order 1/N.
///
/// The query's own token has its full weight: F is the output on the frequencies of the infinite
/// document and 1/N of the own token, and g_i a key's weight relative to their mean. The output of
/// N tokens is F + Σ_i g_i (V_i - F) / Σ_i g_i. Beside the query there are N - 1 independent
/// tokens, as many of them selected as in a document with at least one, less the query. Mean and
/// second moment of the change, with these, make the order 1/N.
double class_gap(const QueryClass& query,
                 const TopicModel& model,
                 TopicLoss loss,
                 const Commutant& w,
                 const Commutant& score,
                 double length) {
  const std::vector<TokenClass>& t = query.tokens;
  const std::size_t n = t.size();
  const double v = model.words();
  const double p = model.mask_rate();
  const double selected = length * p / -std::expm1(length * std::log1p(-p)) - 1;
  // What nothing shows has no weight, however high its score.
  const auto is_key = [&](std::size_t k) {
    return t[k].count > 0 && (t[k].share > 0 || k == query.own);
  };
  double largest = -std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < n; ++k) {
    if (is_key(k)) largest = std::max(largest, score[t[k].score]);
  }
  std::array<double, kMostClasses> g{}, shift{}, f{}, slope{}, curvature{}, own_mean{}, along{};
  double total = 0;
  for (std::size_t k = 0; k < n; ++k) {
    if (!is_key(k)) continue;
    g[k] = std::exp(score[t[k].score] - largest);
    total += (t[k].count * t[k].share + (k == query.own ? 1 / length : 0)) * g[k];
  }
  for (std::size_t k = 0; k < n; ++k) {
    g[k] /= total;
    const double other = p < 1 ? (t[k].share - p * t[k].selected) / (1 - p) : 0;
    shift[k] = selected * t[k].selected + (length - 1 - selected) * other - length * t[k].share;
  }
  const double own_weight = g[query.own] / length;
  const auto each = [&](std::size_t r, const auto& add) {
    for (std::size_t k = 0; k < n; ++k) {
      if (!is_key(k)) continue;
      for (const Entries& e : entries(t, v, r, k)) add(k, e.count, w[e.place]);
    }
  };
  for (std::size_t r = 0; r < n; ++r) {
    const CommutantClass own = r == 0           ? (query.own == 0 ? kMaskMask : kMaskWord)
                               : query.own == 0 ? kWordMask
                               : r == query.own ? kSameWord
                               : t[r].own_topic ? kSameTopic
                                                : kOtherTopic;
    f[r] = own_weight * w[own];
    each(r, [&](std::size_t k, double count, double entry) {
      f[r] += count * t[k].share * g[k] * entry;
    });
    own_mean[r] = own_weight * (w[own] - f[r]);  // minus the mean of g (V - F) over other keys
  }
  double top = -std::numeric_limits<double>::infinity();
  double norm = 0;
  for (std::size_t r = 0; r < n; ++r) {
    if (t[r].count > 0) top = std::max(top, f[r]);
  }
  for (std::size_t r = 0; r < n; ++r) norm += t[r].count * std::exp(f[r] - top);
  for (std::size_t r = 0; r < n; ++r) {
    if (t[r].count <= 0) continue;
    const double target = t[r].target / t[r].count;
    const bool squared = loss == TopicLoss::squared;
    const double softmax = std::exp(f[r] - top) / norm;
    slope[r] = squared ? 2 * (f[r] - target) : softmax - target;
    curvature[r] = squared ? 2 : softmax;
  }
  double sum = 0;
  double own_along = 0;
  for (std::size_t r = 0; r < n; ++r) {
    each(r, [&](std::size_t k, double count, double entry) {
      const double off = entry - f[r];
      const double rows = t[r].count * count;
      const double square = t[k].share * g[k] * g[k];
      // The second term is the covariance with the sum of weights.
      sum += rows * slope[r] * (g[k] * shift[k] - square) * off;
      sum += 0.5 * rows * curvature[r] * square * off * off;
      along[k] += rows / t[k].count * curvature[r] * off;
    });
    sum -= t[r].count * slope[r] * own_mean[r] * (1 - own_weight);
    sum -= 0.5 * t[r].count * curvature[r] * own_mean[r] * own_mean[r];
    own_along += t[r].count * curvature[r] * own_mean[r];
  }
  if (loss == TopicLoss::cross_entropy) {  // the Hessian is diag(softmax) less its outer product
    for (std::size_t k = 0; k < n; ++k) {
      sum -= 0.5 * t[k].count * t[k].share * g[k] * g[k] * along[k] * along[k];
    }
    sum += 0.5 * own_along * own_along;
  }
  return class_loss(query, v, loss, w, score, 1 / (length + 1), nullptr) -
         class_loss(query, v, loss, w, score, 0, nullptr) + sum / length;
}

}  // namespace

void require_population(const TopicModel& model) {
  if (!model.subset()) {
    throw invalid_parameter(
        "prior", "dirichlet", "\"subset\": the population loss is not known for this prior");
  }
  if (!model.infinite()) {
    throw invalid_parameter(
        "length", "finite", "\"infinite\": the population loss is not known for finite documents");
  }
}

double reduced_loss(const TopicModel& model,
                    TopicLoss loss,
                    const Commutant& value,
                    const Commutant& score,
                    ReducedGradient* gradient,
                    double own) {
  require_population(model);
  if (gradient != nullptr) *gradient = {};
  double sum = 0;
  for (const QueryClass& query : query_classes(model)) {
    sum += query.probability * class_loss(query, model.words(), loss, value, score, own, gradient);
  }
  return sum;
}

double length_gap(const TopicModel& model,
                  TopicLoss loss,
                  const Commutant& value,
                  const Commutant& score,
                  double length) {
  require_population(model);
  require(length >= 1, "length", length, "length >= 1");
  double sum = 0;
  for (const QueryClass& query : query_classes(model)) {
    sum += query.probability * class_gap(query, model, loss, value, score, length);
  }
  return sum;
}

double bayes_floor(const TopicModel& model) {
  const double n = model.tau() * model.words();
  const double outside = model.random_rate() * (1 - model.tau() / model.topics());
  // Given a shown word inside, the true token is it or any of the n.
  const double random = model.random_rate() / (model.all_words() * n);
  const double same = model.keep_rate() / n + random;
  const double shown = model.keep_rate() / n + model.random_rate() / model.all_words();
  const double known = shown > 0 ? n * (same * same + (n - 1) * random * random) / shown : 0;
  return 1 - (model.masked_share() / n + outside / n + known);
}

Commutant cross_entropy_optimum(const TopicModel& model, double lambda) {
  require(lambda > 0, "penalty", lambda, "penalty > 0: without it the logits grow for ever");
  const CommutantAlgebra algebra(model.vocabulary());
  const auto gradient = [&](const Eigen::VectorXd& w) -> Eigen::VectorXd {
    ReducedGradient g;
    reduced_loss(model, TopicLoss::cross_entropy, w, Commutant::Zero(), &g);
    return g.value + 2 * lambda * algebra.counts().cwiseProduct(Commutant(w));
  };
  const Commutant w = newton_minimum(gradient, Eigen::VectorXd::Zero(kCommutantClasses));
  constexpr double kEnough = 1e-10;
  if (!(gradient(w).cwiseAbs().maxCoeff() < kEnough)) {
    throw Error(ErrorKind::numerical, "cross-entropy optimum: Newton's method did not converge");
  }
  return w;
}

Commutant first_stage_optimum(const TopicModel& model, TopicLoss loss, double lambda) {
  if (loss == TopicLoss::cross_entropy) return cross_entropy_optimum(model, lambda);
  return value_optimum(CommutantAlgebra(model.vocabulary()), value_moments(model), lambda);
}

Commutant scores(const RelativeAttention& r) {
  Commutant m = Commutant::Zero();
  m[kMaskMask] = std::log(r.mask_query);
  m[kMaskWord] = std::log(r.mask);
  m[kSameWord] = std::log(r.same_word);
  m[kSameTopic] = std::log(r.same_topic);
  return m;
}

RelativeAttention relative_attention(const Commutant& m) {
  return {.same_word = std::exp(m[kSameWord] - m[kOtherTopic]),
          .same_topic = std::exp(m[kSameTopic] - m[kOtherTopic]),
          .mask = std::exp(m[kMaskWord] - m[kOtherTopic]),
          .mask_query = std::exp(m[kMaskMask] - m[kWordMask])};
}

double topic_attention(const TopicModel& model, const RelativeAttention& r) {
  return (r.same_word + (model.words() - 1) * r.same_topic) / model.words();
}

Commutant block_value(const TopicModel& model, double c) {
  Commutant w = Commutant::Zero();
  w[kSameWord] = c / model.words();
  if (model.vocabulary().words > 1) w[kSameTopic] = w[kSameWord];
  return w;
}

Commutant diagonal_value(double c) {
  Commutant w = Commutant::Zero();
  w[kSameWord] = c;
  return w;
}

AttentionOptimum attention_optimum(const TopicModel& model,
                                   TopicLoss loss,
                                   const Commutant& value) {
  constexpr double kRange = 20;  // of log weights
  constexpr int kGrid = 81;
  constexpr double kAccuracy = 1e-6;
  std::vector<double> grid;
  for (int k = 0; k < kGrid; ++k) grid.push_back(-kRange + 2 * kRange * k / (kGrid - 1));
  const auto at = [&](double log_a, double log_s, ReducedGradient* gradient = nullptr) {
    Commutant m = Commutant::Zero();
    m[kSameWord] = log_a;
    m[kSameTopic] = log_s;
    return reduced_loss(model, loss, value, m, gradient);
  };
  // Coarsely by values over the grid, then to rounding by the gradient.
  const bool along_diagonal =
      model.vocabulary().words == 1 || value[kSameWord] == value[kSameTopic];
  AttentionOptimum optimum;
  Eigen::VectorXd x;  // log a = log s, or (log a, log s)
  if (along_diagonal) {
    const Minimum coarse = minimise_on_grid([&](double y) { return at(y, y); }, grid, kAccuracy);
    optimum.at_edge = coarse.at_edge;
    x = Eigen::VectorXd::Constant(1, coarse.x);
  } else {
    const auto best_a = [&](double s) {
      return minimise_on_grid([&](double a) { return at(a, s); }, grid, kAccuracy);
    };
    const Minimum s = minimise_on_grid([&](double y) { return best_a(y).value; }, grid, kAccuracy);
    const Minimum a = best_a(s.x);
    optimum.at_edge = s.at_edge || a.at_edge;
    x = Eigen::Vector2d(a.x, s.x);
  }
  if (!optimum.at_edge) {
    x = newton_minimum(
        [&](const Eigen::VectorXd& y) -> Eigen::VectorXd {
          ReducedGradient g;
          at(y[0], y[y.size() - 1], &g);
          const double a = g.score[kSameWord];
          const double s = g.score[kSameTopic];
          return along_diagonal ? Eigen::VectorXd::Constant(1, a + s)
                                : Eigen::VectorXd(Eigen::Vector2d(a, s));
        },
        x);
  }
  optimum.relative = {.same_word = std::exp(x[0]), .same_topic = std::exp(x[x.size() - 1])};
  optimum.omega = topic_attention(model, optimum.relative);
  optimum.loss = at(x[0], x[x.size() - 1]);
  return optimum;
}

AverageAttention average_attention(const TopicModel& model, const RelativeAttention& r) {
  require_population(model);
  const double v = model.words();
  const double tau = model.tau();
  const double others = model.topics() - tau;
  const double inside = model.shown_inside();
  const double outside = model.shown_outside();
  const double own = r.same_word + (v - 1) * r.same_topic;
  const double all_in = tau * v * inside;
  const double all_out = others * v * outside;
  // Normalisations of a query inside and outside the document's topics.
  const double z_in = inside * (own + (tau - 1) * v) + all_out + model.mu() * r.mask;
  const double z_out = outside * (own + (others - 1) * v) + all_in + model.mu() * r.mask;
  const double pairs = all_in * inside + all_out * outside;
  const double same = (all_in * inside / z_in + all_out * outside / z_out) / pairs;
  const double other_in = all_in * ((tau - 1) * v * inside + all_out);
  const double other_out = others > 0 ? all_out * (all_in + (others - 1) * v * outside) : 0;
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  return {.same_word = r.same_word * same,
          .same_topic = v > 1 ? r.same_topic * same : nothing,
          .other_topic = other_in + other_out > 0
                             ? (other_in / z_in + other_out / z_out) / (other_in + other_out)
                             : nothing};
}

}  // namespace attica
