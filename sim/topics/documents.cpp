#include "attica/sim/topics/documents.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::Index;

namespace {

/// Gamma(shape, 1): G. Marsaglia, W. W. Tsang, ACM Trans. Math. Softw. 26, 363 (2000).
double gamma_variate(RandomStream& stream, double shape) {
  if (shape < 1) {
    const double boost = std::pow(stream.uniform(), 1 / shape);
    return boost * gamma_variate(stream, shape + 1);
  }
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = stream.normal();
    const double root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log(stream.uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

/// Shares of shown tokens in an infinite document.
void set_shares(const TopicModel& model,
                const std::vector<double>& theta,
                Eigen::Ref<Eigen::VectorXd> shares) {
  const TopicVocabulary& vocabulary = model.vocabulary();
  shares[0] = model.mu();
  for (Index w = 1; w < vocabulary.size(); ++w) {
    shares[w] =
        model.rho() / model.all_words() +
        model.kappa() * theta[static_cast<std::size_t>(vocabulary.topic(w))] / model.words();
  }
}

}  // namespace

void select_positions(RandomStream& stream,
                      double rate,
                      std::size_t length,
                      std::vector<std::int32_t>& selected) {
  // Gaps between selected positions are geometric.
  const double log_rest = std::log1p(-rate);
  const auto end = static_cast<double>(length);
  selected.clear();
  while (selected.empty()) {
    double position = -1;
    while (true) {
      position += 1 + (rate < 1 ? std::floor(std::log(stream.uniform()) / log_rest) : 0);
      if (position >= end) break;
      selected.push_back(static_cast<std::int32_t>(position));
    }
  }
}

void TopicBatch::start(Index tokens, Index documents) {
  shares.setZero(tokens, documents);
  queries.clear();
  targets.clear();
}

void TopicSampler::draw_weights(RandomStream& stream, std::vector<double>& theta) const {
  const auto topics = static_cast<std::size_t>(model_.vocabulary().topics);
  theta.assign(topics, 0);
  if (model_.subset()) {
    // Sequential sampling: each topic with the probability that fills up τ.
    double wanted = model_.tau();
    for (std::size_t t = 0; t < topics; ++t) {
      if (stream.uniform() * static_cast<double>(topics - t) < wanted) {
        theta[t] = 1 / model_.tau();
        wanted -= 1;
      }
    }
    return;
  }
  double sum = 0;
  while (sum <= 0) {  // all weights of a small concentration may underflow
    for (double& weight : theta) weight = gamma_variate(stream, model_.settings().concentration);
    sum = std::accumulate(theta.begin(), theta.end(), 0.0);
  }
  for (double& weight : theta) weight /= sum;
}

std::int32_t TopicSampler::draw_word(RandomStream& stream,
                                     const std::vector<double>& cumulative) const {
  // One number chooses the topic and, by its place inside the topic's interval, the word.
  const double u = stream.uniform();
  const auto at = std::upper_bound(cumulative.begin(), cumulative.end() - 1, u);
  const double low = at == cumulative.begin() ? 0 : *std::prev(at);
  const Index words = model_.vocabulary().words;
  const auto rank = static_cast<Index>((u - low) / (*at - low) * static_cast<double>(words));
  return static_cast<std::int32_t>(1 + (at - cumulative.begin()) * words +
                                   std::clamp<Index>(rank, 0, words - 1));
}

std::int32_t TopicSampler::corrupted(RandomStream& stream, std::int32_t word) const {
  const double u = stream.uniform();
  if (u < model_.keep_rate()) return word;
  if (u >= 1 - model_.masked_share()) return 0;
  const auto words = static_cast<std::uint64_t>(model_.vocabulary().all_words());
  return static_cast<std::int32_t>(1 + stream.below(words));
}

void TopicSampler::draw(RandomStream& stream,
                        TopicDocument& document,
                        std::vector<double>* weights) const {
  if (model_.infinite()) throw std::logic_error("TopicSampler: documents are infinite");
  std::vector<double> theta;
  draw_weights(stream, theta);
  if (weights != nullptr) *weights = theta;
  std::partial_sum(theta.begin(), theta.end(), theta.begin());
  const auto [low, high] = *model_.settings().length;
  const auto length = static_cast<std::size_t>(
      low + static_cast<std::int64_t>(stream.below(static_cast<std::uint64_t>(high - low + 1))));
  document.truth.resize(length);
  for (std::int32_t& word : document.truth) word = draw_word(stream, theta);
  document.selected.clear();
  document.shown = document.truth;
  corrupt(stream, document);
}

void TopicSampler::corrupt(RandomStream& stream, TopicDocument& document) const {
  for (const std::int32_t j : document.selected) {
    document.shown[static_cast<std::size_t>(j)] = document.truth[static_cast<std::size_t>(j)];
  }
  select_positions(stream, model_.mask_rate(), document.truth.size(), document.selected);
  for (const std::int32_t j : document.selected) {
    std::int32_t& token = document.shown[static_cast<std::size_t>(j)];
    token = corrupted(stream, token);
  }
}

void TopicSampler::draw(RandomStream& stream,
                        Index documents,
                        TopicBatch& batch,
                        Eigen::MatrixXd* limit) const {
  const Index tokens = model_.vocabulary().size();
  batch.start(tokens, documents);
  if (limit != nullptr) limit->resize(tokens, documents);
  TopicDocument document;
  std::vector<double> theta;
  for (Index b = 0; b < documents; ++b) {
    draw(stream, document, &theta);
    append(document, b, 1 / static_cast<double>(documents), batch);
    if (limit != nullptr) set_shares(model_, theta, limit->col(b));
  }
}

void TopicSampler::draw_infinite(RandomStream& stream,
                                 Index documents,
                                 Index queries,
                                 TopicBatch& batch) const {
  batch.start(model_.vocabulary().size(), documents);
  const double weight = 1 / static_cast<double>(documents * queries);
  std::vector<double> theta;
  for (Index b = 0; b < documents; ++b) {
    draw_weights(stream, theta);
    set_shares(model_, theta, batch.shares.col(b));
    std::partial_sum(theta.begin(), theta.end(), theta.begin());
    for (Index q = 0; q < queries; ++q) {
      const std::int32_t word = draw_word(stream, theta);
      batch.targets.push_back({static_cast<Index>(batch.queries.size()), word, weight});
      batch.queries.push_back({b, corrupted(stream, word)});
    }
  }
}

void append(const TopicDocument& document, Index index, double weight, TopicBatch& batch) {
  const double share = 1 / static_cast<double>(document.shown.size());
  for (const std::int32_t token : document.shown) batch.shares(token, index) += share;
  const double each = weight / static_cast<double>(document.selected.size());
  // Positions that show the same token ask the same question.
  const std::size_t first = batch.queries.size();
  for (const std::int32_t j : document.selected) {
    const std::int32_t shown = document.shown[static_cast<std::size_t>(j)];
    std::size_t q = first;
    while (q < batch.queries.size() && batch.queries[q].shown != shown) ++q;
    if (q == batch.queries.size()) batch.queries.push_back({index, shown});
    batch.targets.push_back(
        {static_cast<Index>(q), document.truth[static_cast<std::size_t>(j)], each});
  }
}

void append(const TopicDocument& document, double weight, networks::Batch& batch) {
  const auto first = static_cast<std::int32_t>(batch.tokens.size());
  if (batch.offsets.empty()) batch.offsets.push_back(0);
  batch.tokens.insert(batch.tokens.end(), document.shown.begin(), document.shown.end());
  batch.offsets.push_back(static_cast<std::int32_t>(batch.tokens.size()));
  const double each = weight / static_cast<double>(document.selected.size());
  for (const std::int32_t j : document.selected) {
    batch.sites.push_back(first + j);
    batch.targets.push_back(document.truth[static_cast<std::size_t>(j)]);
    batch.weights.push_back(each);
  }
}

namespace {

void require_infinite_subset(const TopicModel& model) {
  if (!model.subset() || !model.infinite()) {
    throw invalid_parameter(model.subset() ? "length" : "prior",
                            model.subset() ? "finite" : "dirichlet",
                            "infinite documents of the subset prior for population gradients");
  }
}

/// T over τ.
double topic_sets(const TopicModel& model) {
  double number = 1;
  for (double k = 0; k < model.tau(); ++k) number *= (model.topics() - k) / (k + 1);
  return std::round(number);
}

}  // namespace

void require_enumerable(const TopicModel& model) {
  require_infinite_subset(model);
  constexpr double kMostSets = 20000;
  require(topic_sets(model) <= kMostSets,
          "topics_per_document",
          model.tau(),
          "at most 20000 topic sets for population gradients");
}

TopicBatch population_batch(const TopicModel& model, TopicSets sets) {
  if (sets == TopicSets::all) {
    require_enumerable(model);
  } else {
    require_infinite_subset(model);
  }
  const double number = sets == TopicSets::all ? topic_sets(model) : 1;
  const TopicVocabulary& vocabulary = model.vocabulary();
  const auto topics = static_cast<std::size_t>(vocabulary.topics);
  const auto chosen = static_cast<std::size_t>(model.settings().topics_per_document);
  TopicBatch batch;
  batch.start(vocabulary.size(), std::llround(number));
  // Topic sets in lexicographic order, as permutations of τ ones and T - τ zeros.
  std::vector<std::int64_t> in(topics, 0);
  std::fill_n(in.begin(), chosen, 1);
  for (Index document = 0; document < batch.shares.cols(); ++document) {
    std::vector<double> theta(in.begin(), in.end());
    for (double& weight : theta) weight /= model.tau();
    set_shares(model, theta, batch.shares.col(document));
    const double word = 1 / (number * model.tau() * model.words());  // law of the true word
    const auto query = [&](Index shown) {
      batch.queries.push_back({document, shown});
      return static_cast<Index>(batch.queries.size()) - 1;
    };
    const auto is_inside = [&](Index w) {
      return in[static_cast<std::size_t>(vocabulary.topic(w))] != 0;
    };
    for (Index shown = 0; shown < vocabulary.size(); ++shown) {
      const double any =
          shown == 0 ? model.masked_share() : model.random_rate() / model.all_words();
      const bool kept = shown > 0 && is_inside(shown) && model.keep_rate() > 0;
      if (any <= 0 && !kept) continue;
      const Index q = query(shown);
      if (kept) batch.targets.push_back({q, shown, word * model.keep_rate()});
      for (Index x = 1; any > 0 && x < vocabulary.size(); ++x) {
        if (is_inside(x)) batch.targets.push_back({q, x, word * any});
      }
    }
    std::prev_permutation(in.begin(), in.end());
  }
  return batch;
}

}  // namespace attica
