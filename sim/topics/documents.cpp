#include "attica/sim/topics/documents.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <stdexcept>

#include "attica/core/error.hpp"
#include "attica/sim/chi_squared.hpp"

namespace attica {

using Eigen::Index;

namespace {

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

DocumentDraws::DocumentDraws(RandomStream& stream, double rate)
    : stream_(&stream), bits_(stream), rate_(rate) {}

std::span<const double> DocumentDraws::uniform(std::size_t wanted) {
  if (next_number_ + wanted > kMost) {
    constexpr int kDroppedBits = 11;
    bits_.fill(words_);
    for (std::size_t i = 0; i < kMost; ++i) {
      numbers_[i] = (static_cast<double>(words_[i] >> kDroppedBits) + 0.5) * 0x1.0p-53;
    }
    next_number_ = 0;
  }
  next_number_ += wanted;
  return std::span(numbers_).subspan(next_number_ - wanted, wanted);
}

void DocumentDraws::select(std::size_t length, std::vector<std::int32_t>& selected) {
  constexpr std::size_t kWordBits = 64;
  if (!chosen_) chosen_.emplace(*stream_, rate_);
  selected.clear();
  while (selected.empty()) {
    for (std::size_t first = 0; first < length;) {
      if (left_ == 0) {
        if (++next_word_ >= positions_.size()) {
          positions_ = chosen_->draw();
          next_word_ = 0;
        }
        left_ = kWordBits;
      }
      // The bits that are left are a word's lowest ones.
      const std::size_t now = std::min(left_, length - first);
      std::uint64_t& word = positions_[next_word_];
      std::uint64_t some = word & (~std::uint64_t{0} >> (kWordBits - now));
      for (; some != 0; some &= some - 1) {
        selected.push_back(static_cast<std::int32_t>(first) + std::countr_zero(some));
      }
      word = now < kWordBits ? word >> now : 0;
      left_ -= now;
      first += now;
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
  while (sum <= 0) {  // all weights of a small concentration may underflow; their scale drops out
    for (double& weight : theta) weight = chi_squared(2 * model_.settings().concentration, stream);
    sum = std::accumulate(theta.begin(), theta.end(), 0.0);
  }
  for (double& weight : theta) weight /= sum;
}

void TopicSampler::draw_words(DocumentDraws& draws,
                              const std::vector<double>& cumulative,
                              std::span<std::int32_t> words) const {
  // One number chooses the topic and, by its place inside the topic's interval, the word. Topics
  // are gone through without branches, which would be guessed wrongly every other time.
  constexpr std::size_t kLanes = DocumentDraws::kMost;
  const double each = model_.words();
  // NOLINTBEGIN(*-member-init): filled before use
  std::array<double, kLanes> first;  // word of the topic
  std::array<double, kLanes> low;    // border of its interval
  std::array<double, kLanes> scale;  // words over the interval's length
  // NOLINTEND(*-member-init)
  while (!words.empty()) {
    const std::size_t now = std::min(kLanes, words.size());
    const std::span<const double> u = draws.uniform(now);
    first.fill(1);
    low.fill(0);
    scale.fill(each / cumulative[0]);
    for (std::size_t t = 1; t < cumulative.size(); ++t) {
      const double border = cumulative[t - 1];
      const double number = 1 + static_cast<double>(t) * each;
      const double factor = each / (cumulative[t] - border);
      for (std::size_t i = 0; i < now; ++i) {
        const bool beyond = border <= u[i];
        first[i] = beyond ? number : first[i];
        low[i] = beyond ? border : low[i];
        scale[i] = beyond ? factor : scale[i];
      }
    }
    for (std::size_t i = 0; i < now; ++i) {
      words[i] =
          static_cast<std::int32_t>(first[i] + std::min(each - 1, (u[i] - low[i]) * scale[i]));
    }
    words = words.subspan(now);
  }
}

void TopicSampler::corrupt_tokens(std::span<const double> u, std::span<std::int32_t> tokens) const {
  // By its place among the random ones the same number chooses the word.
  const double words = model_.all_words();
  const double keep = model_.keep_rate();
  const double mask = 1 - model_.masked_share();
  const double scale = model_.random_rate() > 0 ? words / model_.random_rate() : 0;
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    const double place = std::clamp((u[k] - keep) * scale, 0.0, words - 1);
    const std::int32_t changed = u[k] >= mask ? 0 : static_cast<std::int32_t>(1 + place);
    tokens[k] = u[k] < keep ? tokens[k] : changed;
  }
}

void TopicSampler::draw(DocumentDraws& draws,
                        TopicDocument& document,
                        std::vector<double>* weights) const {
  if (model_.infinite()) throw std::logic_error("TopicSampler: documents are infinite");
  RandomStream& stream = draws.stream();
  std::vector<double> theta;
  draw_weights(stream, theta);
  if (weights != nullptr) *weights = theta;
  std::partial_sum(theta.begin(), theta.end(), theta.begin());
  const auto [low, high] = *model_.settings().length;
  const auto length = static_cast<std::size_t>(
      low + static_cast<std::int64_t>(stream.below(static_cast<std::uint64_t>(high - low + 1))));
  document.truth.resize(length);
  draw_words(draws, theta, document.truth);
  document.selected.clear();
  document.shown = document.truth;
  corrupt(draws, document);
}

void TopicSampler::corrupt(DocumentDraws& draws, TopicDocument& document) const {
  for (const std::int32_t j : document.selected) {
    document.shown[static_cast<std::size_t>(j)] = document.truth[static_cast<std::size_t>(j)];
  }
  draws.select(document.truth.size(), document.selected);
  for (std::span<const std::int32_t> rest = document.selected; !rest.empty();) {
    const auto now = rest.first(std::min(DocumentDraws::kMost, rest.size()));
    std::array<std::int32_t, DocumentDraws::kMost>
        some;  // NOLINT(*-member-init): filled just below
    const std::span tokens = std::span(some).first(now.size());
    for (std::size_t k = 0; k < now.size(); ++k) {
      tokens[k] = document.truth[static_cast<std::size_t>(now[k])];
    }
    corrupt_tokens(draws.uniform(now.size()), tokens);
    for (std::size_t k = 0; k < now.size(); ++k) {
      document.shown[static_cast<std::size_t>(now[k])] = tokens[k];
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
  DocumentDraws from = draws(stream);
  TopicDocument document;
  std::vector<double> theta;
  for (Index b = 0; b < documents; ++b) {
    draw(from, document, &theta);
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
  const auto all_words = static_cast<std::uint64_t>(model_.vocabulary().all_words());
  for (Index b = 0; b < documents; ++b) {
    draw_weights(stream, theta);
    set_shares(model_, theta, batch.shares.col(b));
    std::partial_sum(theta.begin(), theta.end(), theta.begin());
    DocumentDraws from = draws(stream);
    draw_words(from, theta, words);
    stream.fill_uniform(fates);
    for (std::size_t q = 0; q < words.size(); ++q) {
      batch.targets.push_back({static_cast<Index>(batch.queries.size()), words[q], weight});
      std::int32_t shown = words[q];
      if (fates[q] >= model_.keep_rate()) {
        const bool masked = fates[q] >= 1 - model_.masked_share();
        shown = masked ? 0 : static_cast<std::int32_t>(1 + stream.below(all_words));
      }
      batch.queries.push_back({b, shown});
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
