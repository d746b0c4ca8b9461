#include "attica/sim/topic_network.hpp"

#include <cmath>
#include <limits>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;

namespace {

std::vector<networks::Block> blocks(const TopicNetworkShape& shape) {
  std::vector<networks::Block> all = {
      {.name = "W_V", .rows = shape.tokens, .columns = shape.tokens}};
  if (shape.inner > 0) {
    all.push_back({.name = "W_K", .rows = shape.inner, .columns = shape.tokens});
    all.push_back({.name = "W_Q", .rows = shape.inner, .columns = shape.tokens});
  }
  return all;
}

}  // namespace

TopicNetwork::TopicNetwork(const TopicNetworkShape& shape)
    : shape_(shape), parameters_(blocks(shape)) {
  std::ranges::fill(parameters_.values(), 0.0);
  gradient_.setZero(static_cast<Index>(parameters_.values().size()));
}

MatrixXd TopicNetwork::scores() const {
  if (shape_.inner == 0) return MatrixXd::Zero(shape_.tokens, shape_.tokens);
  return shape_.scale * parameters_.matrix("W_K").map().transpose() *
         parameters_.matrix("W_Q").map();
}

void TopicNetwork::start_attention(AttentionStart start,
                                   double epsilon,
                                   const StreamAddress& address) {
  using Law = networks::InitialValues::Law;
  if (start == AttentionStart::zero) return;
  if (start == AttentionStart::split) {
    parameters_.matrix("W_K").map().setIdentity();
    parameters_.matrix("W_K").map() *= epsilon;
    auto query = parameters_.matrix("W_Q").map();
    query.setZero();
    query.bottomRows(shape_.tokens).setIdentity();
    query *= epsilon;
    return;
  }
  const double deviation = epsilon / std::sqrt(static_cast<double>(shape_.inner));
  for (const char* name : {"W_K", "W_Q"}) {
    const networks::InitialValues rule =
        start == AttentionStart::identity  ? networks::InitialValues{Law::identity, epsilon}
        : start == AttentionStart::uniform ? networks::InitialValues{Law::positive, epsilon}
                                           : networks::InitialValues{Law::normal, deviation};
    parameters_.initialise(name, rule, address);
  }
}

double TopicNetwork::forward(const TopicBatch& batch, const MatrixXd* scores, bool backward) {
  const auto queries = static_cast<Index>(batch.queries.size());
  if (scores == nullptr) {
    attention_ = batch.shares;
  } else {
    attention_.resize(shape_.tokens, queries);
    for (Index q = 0; q < queries; ++q) {
      const auto& [document, shown] = batch.queries[static_cast<std::size_t>(q)];
      const auto shares = batch.shares.col(document).array();
      const auto score = scores->col(shown).array();
      const double top =
          (shares > 0).select(score, -std::numeric_limits<double>::infinity()).maxCoeff();
      attention_.col(q) = shares * (score - top).min(0).exp();
      attention_.col(q) /= attention_.col(q).sum();
    }
  }
  outputs_.noalias() = parameters_.matrix("W_V").map() * attention_;
  const auto column = [&](Index query) {
    return scores == nullptr ? batch.queries[static_cast<std::size_t>(query)].document : query;
  };
  weights_.setZero(outputs_.cols());
  for (const TopicBatch::Target& t : batch.targets) weights_[column(t.query)] += t.weight;
  double loss = 0;
  if (shape_.loss == networks::Loss::squared) {
    loss = weights_.dot(outputs_.colwise().squaredNorm().transpose());
    for (const TopicBatch::Target& t : batch.targets) {
      loss += t.weight * (1 - 2 * outputs_(t.word, column(t.query)));
    }
    if (backward) upstream_.noalias() = 2 * outputs_ * weights_.asDiagonal();
  } else {
    upstream_.resize(outputs_.rows(), outputs_.cols());
    for (Index c = 0; c < outputs_.cols(); ++c) {
      const double top = outputs_.col(c).maxCoeff();
      upstream_.col(c) = (outputs_.col(c).array() - top).exp();
      const double sum = upstream_.col(c).sum();
      loss += weights_[c] * (top + std::log(sum));
      upstream_.col(c) *= weights_[c] / sum;
    }
    for (const TopicBatch::Target& t : batch.targets) {
      loss -= t.weight * outputs_(t.word, column(t.query));
    }
  }
  if (backward) {
    const double factor = shape_.loss == networks::Loss::squared ? 2 : 1;
    for (const TopicBatch::Target& t : batch.targets) {
      upstream_(t.word, column(t.query)) -= factor * t.weight;
    }
  }
  return loss;
}

void TopicNetwork::score_backward(const TopicBatch& batch) {
  attention_gradient_.noalias() = parameters_.matrix("W_V").map().transpose() * upstream_;
  score_gradient_.setZero(shape_.tokens, shape_.tokens);
  for (Index q = 0; q < attention_.cols(); ++q) {
    const auto a = attention_.col(q).array();
    const auto h = attention_gradient_.col(q).array();
    score_gradient_.col(batch.queries[static_cast<std::size_t>(q)].shown).array() +=
        a * (h - (a * h).sum());
  }
}

double TopicNetwork::loss(const TopicBatch& batch) {
  if (shape_.inner == 0) return forward(batch, nullptr, false);
  const MatrixXd score = scores();
  return forward(batch, &score, false);
}

double TopicNetwork::loss_and_gradient(const TopicBatch& batch, const MatrixXd& scores) {
  const double loss = forward(batch, &scores, true);
  const networks::Block& value = parameters_.block("W_V");
  Eigen::Map<networks::RowMatrix<double>>(
      gradient_.data() + value.offset, value.rows, value.columns)
      .noalias() = upstream_ * attention_.transpose();
  score_backward(batch);
  return loss;
}

double TopicNetwork::loss_and_gradient(const TopicBatch& batch) {
  const auto gradient = [&](const networks::Block& b) {
    return Eigen::Map<networks::RowMatrix<double>>(gradient_.data() + b.offset, b.rows, b.columns);
  };
  const bool attention = shape_.inner > 0;
  MatrixXd score;
  if (attention) score = scores();
  const double loss = forward(batch, attention ? &score : nullptr, true);
  const networks::Block& value = parameters_.block("W_V");
  if (!value.frozen) gradient(value).noalias() = upstream_ * attention_.transpose();
  if (!attention) return loss;
  const networks::Block& key = parameters_.block("W_K");
  const networks::Block& query = parameters_.block("W_Q");
  if (key.frozen && query.frozen) return loss;
  score_backward(batch);
  gradient(key).noalias() =
      shape_.scale * parameters_.matrix("W_Q").map() * score_gradient_.transpose();
  gradient(query).noalias() = shape_.scale * parameters_.matrix("W_K").map() * score_gradient_;
  return loss;
}

Index inner_dimension(AttentionStart start, Index tokens) {
  if (start == AttentionStart::zero) return 0;
  return start == AttentionStart::split ? 2 * tokens : tokens;
}

Eigen::Vector3d measured_attention(const TopicVocabulary& vocabulary,
                                   const MatrixXd& scores,
                                   const MatrixXd& shares) {
  Eigen::Vector3d attention = Eigen::Vector3d::Zero();
  Eigen::Vector3d pairs = Eigen::Vector3d::Zero();
  const Eigen::ArrayXXd weights =
      (scores.array().rowwise() - scores.array().colwise().maxCoeff()).exp();
  for (Index document = 0; document < shares.cols(); ++document) {
    const auto share = shares.col(document).array();
    for (Index query = 1; query < vocabulary.size(); ++query) {
      if (share[query] <= 0) continue;
      const double total = (share * weights.col(query)).sum();
      for (Index key = 1; key < vocabulary.size(); ++key) {
        const Index kind = key == query                                       ? 0
                           : vocabulary.topic(key) == vocabulary.topic(query) ? 1
                                                                              : 2;
        pairs[kind] += share[query] * share[key];
        attention[kind] += share[query] * share[key] * weights(key, query) / total;
      }
    }
  }
  return attention.cwiseQuotient(pairs);
}

networks::TrainingResult train_topics(
    TopicNetwork& network,
    const TopicTraining& training,
    const std::function<const TopicBatch&(std::uint64_t step)>& batch,
    const std::function<void(std::uint64_t step, const TopicNetwork&)>& observe,
    const std::function<bool()>& stop) {
  networks::OptimiserOptions options = training.optimiser;
  options.weight_decay = 1;  // each block's own: the gradient of λ |W|² is 2 λ W
  network.parameters().configure("*", [&](networks::Block& block) {
    const bool value = block.name == "W_V";
    block.frozen = !(value ? training.train_value : training.train_attention);
    block.decay_factor = 2 * (value ? training.value_penalty : training.attention_penalty);
  });
  networks::Optimiser<double> optimiser(network.parameters(), options);
  networks::TrainingState state;
  networks::TrainingPlan plan{.recorded = training.recorded};
  plan.observe = [&](const networks::TrainingRecord& record, networks::TrainingState&) {
    observe(record.step, network);
  };
  plan.stop = stop;
  return networks::train<double>(
      network.parameters(), network.gradient(), optimiser, state, plan, [&](std::uint64_t step) {
        return network.loss_and_gradient(batch(step));
      });
}

}  // namespace attica
