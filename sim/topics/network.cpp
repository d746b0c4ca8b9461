#include "attica/sim/topics/network.hpp"

#include <cmath>
#include <limits>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

std::vector<networks::Block> blocks(const TopicNetworkShape& shape) {
  const Index width = shape.width > 0 ? shape.width : shape.tokens;
  std::vector<networks::Block> all = {{.name = "W_V", .rows = width, .columns = width}};
  if (shape.inner > 0) {
    all.push_back({.name = "W_K", .rows = shape.inner, .columns = width});
    all.push_back({.name = "W_Q", .rows = shape.inner, .columns = width});
  }
  if (shape.width > 0) all.push_back({.name = "W_E", .rows = width, .columns = shape.tokens});
  if (shape.decoder == TopicDecoder::free) {
    all.push_back({.name = "W_dec", .rows = shape.tokens, .columns = width});
  }
  if (shape.bias) all.push_back({.name = "b_dec", .rows = shape.tokens});
  return all;
}

/// A tied decoder of one-hot tokens is the identity.
TopicNetworkShape plain(TopicNetworkShape shape) {
  if (shape.width == 0 && shape.decoder == TopicDecoder::tied) {
    shape.decoder = TopicDecoder::identity;
  }
  return shape;
}

}  // namespace

TopicNetwork::TopicNetwork(const TopicNetworkShape& shape)
    : shape_(plain(shape)), parameters_(blocks(shape_)) {
  const bool fits = shape_.decoder != TopicDecoder::identity || shape_.width == 0 ||
                    shape_.width == shape_.tokens;
  require(fits,
          "width",
          static_cast<double>(shape_.width),
          "without a decoder the number of tokens, topics x words + 1");
  std::ranges::fill(parameters_.values(), 0.0);
  gradient_.setZero(static_cast<Index>(parameters_.values().size()));
}

MatrixXd TopicNetwork::scores() const {
  if (shape_.inner == 0) return MatrixXd::Zero(shape_.tokens, shape_.tokens);
  const MatrixXd key = parameters_.matrix("W_K").map();
  const MatrixXd query = parameters_.matrix("W_Q").map();
  if (shape_.width == 0) return shape_.scale * key.transpose() * query;
  const MatrixXd embedding = parameters_.matrix("W_E").map();
  return shape_.scale * (key * embedding).transpose() * (query * embedding);
}

void TopicNetwork::set_map() {
  map_ = parameters_.matrix("W_V").map();
  if (shape_.width > 0) {
    const MatrixXd embedding = parameters_.matrix("W_E").map();
    map_ = map_ * embedding;
    if (shape_.decoder == TopicDecoder::tied) map_ = embedding.transpose() * map_;
  }
  if (shape_.decoder == TopicDecoder::free) map_ = parameters_.matrix("W_dec").map() * map_;
}

void TopicNetwork::start_embedding(const StreamAddress& address) {
  const auto width = static_cast<double>(parameters_.block("W_V").rows);
  for (const char* name : {"W_E", "W_dec"}) {
    const bool there =
        name == std::string("W_E") ? shape_.width > 0 : shape_.decoder == TopicDecoder::free;
    if (!there) continue;
    parameters_.initialise(
        name,
        {.law = networks::InitialValues::Law::normal, .scale = 1 / std::sqrt(width)},
        address);
  }
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
    query.bottomRows(query.cols()).setIdentity();
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
    // All exponentials at once, of scores below the largest of their column.
    const MatrixXd weights =
        (scores->rowwise() - scores->colwise().maxCoeff()).eval().array().exp();
    for (Index q = 0; q < queries; ++q) {
      const auto& [document, shown] = batch.queries[static_cast<std::size_t>(q)];
      const auto shares = batch.shares.col(document).array();
      attention_.col(q) = shares * weights.col(shown).array();
      constexpr double kSmall = 1e-200;  // a document that has none of the words that are asked for
      if (attention_.col(q).sum() < kSmall) {
        const auto score = scores->col(shown).array();
        const double top =
            (shares > 0).select(score, -std::numeric_limits<double>::infinity()).maxCoeff();
        attention_.col(q) = shares * (score - top).min(0).exp();
      }
      attention_.col(q) /= attention_.col(q).sum();
    }
  }
  set_map();
  outputs_.noalias() = map_ * attention_;
  if (shape_.bias) outputs_.colwise() += parameters_.matrix("b_dec").map().col(0);
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
    const Eigen::RowVectorXd top = outputs_.colwise().maxCoeff();
    upstream_ = outputs_.rowwise() - top;
    upstream_ = upstream_.array().exp().matrix();
    for (Index c = 0; c < outputs_.cols(); ++c) {
      const double sum = upstream_.col(c).sum();
      loss += weights_[c] * (top[c] + std::log(sum));
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
  attention_gradient_.noalias() = map_.transpose() * upstream_;
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

networks::MatrixView<double> TopicNetwork::gradient_of(const char* name) {
  const networks::Block& b = parameters_.block(name);
  return {gradient_.data() + b.offset, b.rows, b.columns, b.columns};
}

double TopicNetwork::loss_and_gradient(const TopicBatch& batch, const MatrixXd& scores) {
  const double loss = forward(batch, &scores, true);
  score_backward(batch);
  chain(false);
  return loss;
}

double TopicNetwork::loss_and_gradient(const TopicBatch& batch) {
  const bool attention = shape_.inner > 0;
  MatrixXd score;
  if (attention) score = scores();
  const double loss = forward(batch, attention ? &score : nullptr, true);
  const bool through = attention && (trained("W_K") || trained("W_Q") || shape_.width > 0);
  if (through) score_backward(batch);
  chain(through);
  return loss;
}

/// From the gradients by the map and, with `attention`, by the scores to those by the matrices.
void TopicNetwork::chain(bool attention) {
  const bool embedded = shape_.width > 0;
  const bool decoded = shape_.decoder != TopicDecoder::identity;
  if (shape_.bias) gradient_of("b_dec").map().col(0) = upstream_.rowwise().sum();
  if (!embedded && !decoded) {
    if (trained("W_V")) gradient_of("W_V").map().noalias() = upstream_ * attention_.transpose();
    if (!attention) return;
    gradient_of("W_K").map().noalias() =
        shape_.scale * parameters_.matrix("W_Q").map() * score_gradient_.transpose();
    gradient_of("W_Q").map().noalias() =
        shape_.scale * parameters_.matrix("W_K").map() * score_gradient_;
    return;
  }
  map_gradient_.noalias() = upstream_ * attention_.transpose();
  const MatrixXd value = parameters_.matrix("W_V").map();
  MatrixXd embedding = MatrixXd::Identity(value.cols(), shape_.tokens);
  if (embedded) embedding = parameters_.matrix("W_E").map();
  const MatrixXd hidden = value * embedding;
  // By W_V W_E: through the decoder.
  MatrixXd down = map_gradient_;
  MatrixXd embedding_gradient = MatrixXd::Zero(embedding.rows(), embedding.cols());
  if (shape_.decoder == TopicDecoder::free) {
    gradient_of("W_dec").map().noalias() = map_gradient_ * hidden.transpose();
    down = parameters_.matrix("W_dec").map().transpose() * map_gradient_;
  } else if (shape_.decoder == TopicDecoder::tied) {
    embedding_gradient = hidden * map_gradient_.transpose();
    down = embedding * map_gradient_;
  }
  gradient_of("W_V").map().noalias() = down * embedding.transpose();
  embedding_gradient += value.transpose() * down;
  if (attention) {
    const MatrixXd key = parameters_.matrix("W_K").map();
    const MatrixXd query = parameters_.matrix("W_Q").map();
    const MatrixXd by_key =
        shape_.scale * (query * embedding) * score_gradient_.transpose();  // W_K W_E
    const MatrixXd by_query = shape_.scale * (key * embedding) * score_gradient_;
    gradient_of("W_K").map().noalias() = by_key * embedding.transpose();
    gradient_of("W_Q").map().noalias() = by_query * embedding.transpose();
    embedding_gradient += key.transpose() * by_key + query.transpose() * by_query;
  }
  if (embedded) gradient_of("W_E").map() = embedding_gradient;
}

double descent_slope(TopicNetwork& network, const TopicBatch& batch) {
  constexpr double kStep = 1e-5;
  network.loss_and_gradient(batch);
  const auto found = network.gradient();
  const VectorXd gradient = Eigen::Map<const VectorXd>(found.data(), std::ssize(found));
  const auto values = network.parameters().values();
  Eigen::Map<VectorXd> at(values.data(), std::ssize(values));
  const VectorXd here = at;
  const double h = kStep / gradient.norm();
  const auto loss_at = [&](double along) {
    at = here + along * gradient;
    return network.loss(batch);
  };
  const double slope = (loss_at(h) - loss_at(-h)) / (2 * kStep * gradient.norm());
  at = here;
  return slope;
}

Index inner_dimension(AttentionStart start, Index width) {
  if (start == AttentionStart::zero) return 0;
  return start == AttentionStart::split ? 2 * width : width;
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
    const bool attention = block.name == "W_K" || block.name == "W_Q";
    block.frozen =
        attention ? !training.train_attention : block.name == "W_V" && !training.train_value;
    block.decay_factor = 2 * (attention ? training.attention_penalty : training.value_penalty);
    if (block.name == "b_dec") block.decay_factor = 0;
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
