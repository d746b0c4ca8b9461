#include "attica/sim/topics/text_topics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "attica/core/error.hpp"
#include "attica/sim/networks/topic_pairs.hpp"

namespace attica {
namespace {

using Eigen::Index;

constexpr std::size_t kHeldOut = 10;  ///< every so many-th document

void require_pairs(const TextTopics& text) {
  const Eigen::MatrixXd together = document_cooccurrence(text.held_out, text.topics.words);
  const auto topic = [&](Index k) { return text.topics.topics[static_cast<std::size_t>(k)]; };
  double pairs[2] = {0, 0};
  for (Index i = 0; i < together.rows(); ++i) {
    for (Index j = 0; j < i; ++j) pairs[topic(i) == topic(j) ? 1 : 0] += together(i, j);
  }
  if (pairs[0] > 0 && pairs[1] > 0) return;
  throw invalid_parameter(
      "model.file",
      fmt::format("{} held-out documents without two topic words of {} in one of them",
                  text.held_out.size(),
                  pairs[1] > 0 ? "two topics" : "one topic"),
      "a longer text, or a larger model.topic_words");
}

}  // namespace

TextTopics text_topics(TextCorpus corpus, const TextTopicsOptions& options, std::uint64_t seed) {
  TextTopics text{.corpus = std::move(corpus), .training = {}, .held_out = {}, .topics = {}};
  const auto& documents = text.corpus.documents;
  for (std::size_t d = 0; d < documents.size(); ++d) {
    (d % kHeldOut == kHeldOut - 1 ? text.held_out : text.training).push_back(documents[d]);
  }
  if (text.held_out.empty()) text.held_out = text.training;
  const auto words = static_cast<Index>(text.corpus.vocabulary.size());
  const LdaResult lda =
      fit_lda({text.training, words}, options.lda, {.seed = seed, .id = StreamId::sampler});
  text.topics = topic_words(lda.topics, options.share, options.most);
  std::vector<std::int32_t> topics = text.topics.topics;
  topics.erase(std::unique(topics.begin(), topics.end()), topics.end());
  if (topics.size() < 2) {
    throw invalid_parameter(
        "model.share",
        options.share,
        fmt::format("at least 2 topics with 2 words of that share, found {} in {} documents: a "
                    "smaller share, a longer text or another model.lda_topics",
                    topics.size(),
                    documents.size()));
  }
  require_pairs(text);
  return text;
}

}  // namespace attica
