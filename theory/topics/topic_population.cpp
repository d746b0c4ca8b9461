#include "attica/theory/topics/topic_population.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "attica/theory/topics/loss.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// All sets of `chosen` of `topics` topics, ascending.
std::vector<std::vector<Index>> topic_sets_of(Index topics, Index chosen) {
  std::vector<std::vector<Index>> sets;
  std::vector<Index> set;
  for (Index t = 0; t < chosen; ++t) set.push_back(t);
  while (true) {
    sets.push_back(set);
    Index k = chosen - 1;
    while (k >= 0 && set[static_cast<std::size_t>(k)] == topics - chosen + k) --k;
    if (k < 0) return sets;
    Index next = set[static_cast<std::size_t>(k)] + 1;
    for (; k < chosen; ++k) set[static_cast<std::size_t>(k)] = next++;
  }
}

}  // namespace

TopicPositions::TopicPositions(const TopicModel& model,
                               const TopicDynamics& dynamics,
                               TopicMatrices start)
    : dynamics_(dynamics), start_(std::move(start)) {
  require_population(model);
  parameters_ = (dynamics.train_value ? start_.value.size() : 0) +
                (dynamics.train_attention ? start_.key.size() + start_.query.size() : 0);
  const TopicVocabulary& vocabulary = model.vocabulary();
  const auto sets = topic_sets_of(vocabulary.topics, model.settings().topics_per_document);
  const double word = 1 / (model.tau() * model.words());  // each word's probability in a document
  const double random = model.random_rate() / model.all_words();
  std::vector<double> weights;
  shares_.resize(vocabulary.size(), static_cast<Index>(sets.size()));
  for (Index s = 0; s < shares_.cols(); ++s) {
    VectorXd inside = VectorXd::Zero(vocabulary.size());
    for (const Index topic : sets[static_cast<std::size_t>(s)]) {
      inside.segment(1 + topic * vocabulary.words, vocabulary.words).setOnes();
    }
    shares_.col(s) =
        model.shown_outside() + (model.shown_inside() - model.shown_outside()) * inside.array();
    shares_(0, s) = model.mu();
    for (Index shown = 0; shown < vocabulary.size(); ++shown) {
      const auto first = static_cast<Index>(words_.size());
      for (Index x = 1; x < vocabulary.size(); ++x) {
        if (inside[x] == 0) continue;
        const double chance =
            (shown == 0 ? model.masked_share() : random) + (shown == x ? model.keep_rate() : 0);
        if (chance <= 0) continue;
        words_.push_back(x);
        weights.push_back(word * chance / static_cast<double>(sets.size()));
      }
      const Index count = static_cast<Index>(words_.size()) - first;
      if (count > 0) queries_.push_back({s, shown, first, count});
    }
  }
  weights_ = Eigen::Map<const VectorXd>(weights.data(), std::ssize(weights));
}

VectorXd TopicPositions::theta_of(const TopicMatrices& w) const {
  VectorXd theta(parameters_);
  Index at = 0;
  const auto add = [&](const MatrixXd& m) {
    theta.segment(at, m.size()) = m.reshaped();
    at += m.size();
  };
  if (dynamics_.train_value) add(w.value);
  if (dynamics_.train_attention) {
    add(w.key);
    add(w.query);
  }
  return theta;
}

TopicMatrices TopicPositions::matrices(const VectorXd& theta) const {
  TopicMatrices w = start_;
  Index at = 0;
  const auto take = [&](MatrixXd& m) {
    m.reshaped() = theta.segment(at, m.size());
    at += m.size();
  };
  if (dynamics_.train_value) take(w.value);
  if (dynamics_.train_attention) {
    take(w.key);
    take(w.query);
  }
  return w;
}

TopicPositions::Outputs TopicPositions::outputs(const TopicMatrices& w) const {
  const MatrixXd scores = dynamics_.scale * w.key.transpose() * w.query;
  const auto count = static_cast<Index>(queries_.size());
  Outputs out;
  out.attention.resize(shares_.rows(), count);
  for (Index q = 0; q < count; ++q) {
    const Query& query = queries_[static_cast<std::size_t>(q)];
    const auto share = shares_.col(query.set).array();
    const auto score = scores.col(query.shown).array();
    const double top =
        (share > 0).select(score, -std::numeric_limits<double>::infinity()).maxCoeff();
    auto column = out.attention.col(q).array();
    column = share * (score - top).min(0).exp();
    column /= column.sum();
  }
  out.values.noalias() = w.value * out.attention;
  if (squared()) {
    out.own = out.values.colwise().squaredNorm().transpose().array() + 1;
  } else {
    const Eigen::RowVectorXd top = out.values.colwise().maxCoeff();
    const MatrixXd weights = (out.values.rowwise() - top).array().exp();
    out.own = top.array() + weights.colwise().sum().array().log();
  }
  return out;
}

void TopicPositions::set_losses(const Outputs& out, VectorXd& losses) const {
  const double factor = squared() ? 2 : 1;
  losses.resize(weights_.size());
  for (Index q = 0; q < out.own.size(); ++q) {
    const Query& query = queries_[static_cast<std::size_t>(q)];
    for (Index k = query.first; k < query.first + query.count; ++k) {
      losses[k] = out.own[q] - factor * out.values(words_[static_cast<std::size_t>(k)], q);
    }
  }
}

double TopicPositions::penalty(const TopicMatrices& w) const {
  double sum = 0;
  if (dynamics_.train_value) sum += dynamics_.value_penalty * w.value.squaredNorm();
  if (dynamics_.train_attention) {
    sum += dynamics_.attention_penalty * (w.key.squaredNorm() + w.query.squaredNorm());
  }
  return sum;
}

double TopicPositions::loss(const VectorXd& theta) const {
  VectorXd losses;
  set_losses(outputs(matrices(theta)), losses);
  return weights_.dot(losses);
}

void TopicPositions::pass(const VectorXd& theta,
                          VectorXd& losses,
                          const VectorXd* weights,
                          VectorXd* gradient) const {
  const TopicMatrices w = matrices(theta);
  const Outputs out = outputs(w);
  set_losses(out, losses);
  losses.array() += penalty(w);
  if (weights == nullptr) return;

  // By F of every query.
  const double factor = squared() ? 2 : 1;
  MatrixXd by_output = squared()
                           ? MatrixXd(2 * out.values)
                           : MatrixXd((out.values.rowwise() - out.own.transpose()).array().exp());
  for (Index q = 0; q < out.own.size(); ++q) {
    const Query& query = queries_[static_cast<std::size_t>(q)];
    by_output.col(q) *= weights->segment(query.first, query.count).sum();
    for (Index k = query.first; k < query.first + query.count; ++k) {
      by_output(words_[static_cast<std::size_t>(k)], q) -= factor * (*weights)[k];
    }
  }
  const double penalised = 2 * weights->sum();
  TopicMatrices g = w;
  if (dynamics_.train_value) {
    g.value *= penalised * dynamics_.value_penalty;
    g.value.noalias() += by_output * out.attention.transpose();
  }
  if (dynamics_.train_attention) {
    const MatrixXd by_attention = w.value.transpose() * by_output;
    MatrixXd by_score = MatrixXd::Zero(shares_.rows(), shares_.rows());
    for (Index q = 0; q < out.own.size(); ++q) {
      const auto a = out.attention.col(q);
      const double mean = a.dot(by_attention.col(q));
      by_score.col(queries_[static_cast<std::size_t>(q)].shown).array() +=
          a.array() * (by_attention.col(q).array() - mean);
    }
    const double decay = penalised * dynamics_.attention_penalty;
    g.key = decay * w.key + dynamics_.scale * w.query * by_score.transpose();
    g.query = decay * w.query + dynamics_.scale * w.key * by_score;
  }
  *gradient = theta_of(g);
}

GroupedPopulation TopicPositions::documents() const {
  const Index sets = shares_.cols();
  const Index count = weights_.size() / sets;
  const double chance = 1 / static_cast<double>(sets);
  GroupedPopulation::Members members(count, sets);
  for (Index k = 0; k < weights_.size(); ++k) members(k % count, k / count) = k;
  return {*this,
          std::move(members),
          MatrixXd(weights_.reshaped(count, sets) / chance),
          VectorXd::Constant(sets, chance)};
}

}  // namespace attica
