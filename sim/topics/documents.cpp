#include "attica/sim/topics/documents.hpp"

#include <algorithm>
#include <array>
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

/// @brief Uniform numbers for inner loops, from bulk bits: 64 to a word's price of a few.
class BulkUniform {
 public:
  static constexpr std::size_t kMost = 64;

  explicit BulkUniform(RandomStream& stream) : bits_(stream) {}

  /// @brief At least `wanted` numbers on (0, 1), at most kMost; they live until the next call.
  std::span<const double> draw(std::size_t wanted) {
    constexpr std::size_t kUnit = 16;
    constexpr int kDroppedBits = 11;
    const std::size_t now = std::min(kMost, (wanted + kUnit - 1) / kUnit * kUnit);
    bits_.fill(std::span(words_).first(now));
    for (std::size_t i = 0; i < now; ++i) {
      numbers_[i] = (static_cast<double>(words_[i] >> kDroppedBits) + 0.5) * 0x1.0p-53;
    }
    return std::span(numbers_).first(now);
  }

 private:
  BulkBits bits_;
  std::array<std::uint64_t, kMost> words_{};
  std::array<double, kMost> numbers_{};
};

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

/// Shares of shown tokens in a document whose words are new wherever none is selected.
void set_expected(const TopicModel& model,
                  const std::vector<double>& theta,
                  const TopicDocument& document,
                  Eigen::Ref<Eigen::VectorXd> shares) {
  const TopicVocabulary& vocabulary = model.vocabulary();
  const auto length = static_cast<double>(document.shown.size());
  const double open = length - static_cast<double>(document.selected.size());
  shares[0] = 0;
  for (Index w = 1; w < vocabulary.size(); ++w) {
    shares[w] = open * theta[static_cast<std::size_t>(vocabulary.topic(w))] / model.words();
  }
  for (const std::int32_t j : document.selected) {
    shares[document.shown[static_cast<std::size_t>(j)]] += 1;
  }
  shares /= length;
}

}  // namespace

void select_positions(RandomStream& stream,
                      double rate,
                      std::size_t length,
                      std::vector<std::int32_t>& selected) {
  // Gaps between selected positions are geometric: some more of them at a time than are expected,
  // because logarithms of many numbers cost a few of one.
  constexpr double kMore = 4;
  const double log_rest = std::log1p(-rate);
  const auto end = static_cast<double>(length);
  BulkUniform uniform(stream);
  Eigen::Array<double, BulkUniform::kMost, 1> gaps;
  selected.clear();
  while (selected.empty()) {
    double position = -1;
    while (position < end) {
      const auto u = uniform.draw(static_cast<std::size_t>(rate * (end - position) + kMore));
      const auto drawn = static_cast<Index>(u.size());
      gaps.head(drawn) =
          1 + (Eigen::Map<const Eigen::ArrayXd>(u.data(), drawn).log() / log_rest).floor();
      for (Index i = 0; i < drawn; ++i) {
        position += gaps[i];
        if (position >= end) break;
        selected.push_back(static_cast<std::int32_t>(position));
      }
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

void TopicSampler::draw_words(RandomStream& stream,
                              const std::vector<double>& cumulative,
                              std::span<std::int32_t> words) const {
  // One number chooses the topic and, by its place inside the topic's interval, the word. The topic
  // is counted without branches, which would be guessed wrongly every other time.
  constexpr std::size_t kLanes = BulkUniform::kMost;
  const auto topics = cumulative.size();
  const auto each = static_cast<std::int32_t>(model_.vocabulary().words);
  const auto ranks = static_cast<double>(each);
  BulkUniform uniform(stream);
  std::array<std::int32_t, kLanes> topic;  // NOLINT(*-member-init): filled before use
  while (!words.empty()) {
    const std::size_t now = std::min(kLanes, words.size());
    const std::span<const double> u = uniform.draw(now);
    topic.fill(0);
    for (std::size_t t = 0; t + 1 < topics; ++t) {
      const double border = cumulative[t];
      for (std::size_t i = 0; i < u.size(); ++i) topic[i] += border <= u[i] ? 1 : 0;
    }
    for (std::size_t i = 0; i < now; ++i) {
      const auto at = static_cast<std::size_t>(topic[i]);
      const double low = at == 0 ? 0 : cumulative[at - 1];
      const auto rank = static_cast<std::int32_t>((u[i] - low) / (cumulative[at] - low) * ranks);
      words[i] = 1 + topic[i] * each + std::clamp(rank, 0, each - 1);
    }
    words = words.subspan(now);
  }
}

std::int32_t TopicSampler::corrupted(RandomStream& stream, double u, std::int32_t word) const {
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
  draw_words(stream, theta, document.truth);
  document.selected.clear();
  document.shown = document.truth;
  corrupt(stream, document);
}

void TopicSampler::corrupt(RandomStream& stream, TopicDocument& document) const {
  for (const std::int32_t j : document.selected) {
    document.shown[static_cast<std::size_t>(j)] = document.truth[static_cast<std::size_t>(j)];
  }
  select_positions(stream, model_.mask_rate(), document.truth.size(), document.selected);
  BulkUniform uniform(stream);
  for (std::span<const std::int32_t> rest = document.selected; !rest.empty();) {
    const auto now = rest.first(std::min(BulkUniform::kMost, rest.size()));
    const std::span<const double> fates = uniform.draw(now.size());
    for (std::size_t k = 0; k < now.size(); ++k) {
      std::int32_t& token = document.shown[static_cast<std::size_t>(now[k])];
      token = corrupted(stream, fates[k], token);
    }
    rest = rest.subspan(now.size());
  }
}

void TopicSampler::draw(RandomStream& stream,
                        Index documents,
                        TopicBatch& batch,
                        Eigen::MatrixXd* limit,
                        Eigen::MatrixXd* expected) const {
  const Index tokens = model_.vocabulary().size();
  batch.start(tokens, documents);
  if (limit != nullptr) limit->resize(tokens, documents);
  if (expected != nullptr) expected->resize(tokens, documents);
  TopicDocument document;
  std::vector<double> theta;
  for (Index b = 0; b < documents; ++b) {
    draw(stream, document, &theta);
    append(document, b, 1 / static_cast<double>(documents), batch);
    if (limit != nullptr) set_shares(model_, theta, limit->col(b));
    if (expected != nullptr) set_expected(model_, theta, document, expected->col(b));
  }
}

void TopicSampler::draw_infinite(RandomStream& stream,
                                 Index documents,
                                 Index queries,
                                 TopicBatch& batch) const {
  batch.start(model_.vocabulary().size(), documents);
  const double weight = 1 / static_cast<double>(documents * queries);
  std::vector<double> theta;
  std::vector<std::int32_t> words(static_cast<std::size_t>(queries));
  std::vector<double> fates(words.size());
  for (Index b = 0; b < documents; ++b) {
    draw_weights(stream, theta);
    set_shares(model_, theta, batch.shares.col(b));
    std::partial_sum(theta.begin(), theta.end(), theta.begin());
    draw_words(stream, theta, words);
    stream.fill_uniform(fates);
    for (std::size_t q = 0; q < words.size(); ++q) {
      batch.targets.push_back({static_cast<Index>(batch.queries.size()), words[q], weight});
      batch.queries.push_back({b, corrupted(stream, fates[q], words[q])});
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

}  // namespace

double topic_sets(const TopicModel& model) {
  double number = 1;
  for (double k = 0; k < model.tau(); ++k) number *= (model.topics() - k) / (k + 1);
  return std::round(number);
}

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
