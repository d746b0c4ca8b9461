// Latent Dirichlet allocation by collapsed Gibbs sampling, one thread.
//
// topics_lda: one sweep over all tokens; the counter is tokens resampled per second. Peer:
// bench/peers/topics_lda_sklearn.py, one pass of scikit-learn's variational updates over the same
// number of documents, words and tokens.
// topics_lda_perplexity: chains of a second of CPU time each; the counter is the training
// perplexity of the most probable one. The peer prints its own for the same time beside it.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>
#include <limits>

#include "attica/sim/topics/lda.hpp"

namespace {

using namespace attica;

/// Documents of 60 tokens from K topics of words/K words each, two topics a document.
WordDocuments corpus(std::int64_t documents, std::int64_t words, std::int64_t topics) {
  constexpr int kLength = 60;
  RandomStream stream({.seed = 1, .id = StreamId::model});
  WordDocuments result{.documents = {}, .words = words};
  const auto per_topic = static_cast<std::uint64_t>(words / topics);
  for (std::int64_t d = 0; d < documents; ++d) {
    const std::uint64_t pair[] = {stream.below(static_cast<std::uint64_t>(topics)),
                                  stream.below(static_cast<std::uint64_t>(topics))};
    result.documents.emplace_back();
    for (int i = 0; i < kLength; ++i) {
      result.documents.back().push_back(
          static_cast<std::int32_t>(pair[stream.below(2)] * per_topic + stream.below(per_topic)));
    }
  }
  return result;
}

void topics_lda(benchmark::State& state) {
  const WordDocuments documents = corpus(state.range(0), state.range(1), state.range(2));
  RandomStream stream({.seed = 1, .id = StreamId::sampler});
  LdaChain chain(documents, {.topics = state.range(2)}, stream);
  for (auto _ : state) chain.sweep(stream);
  state.counters["tokens_per_second"] = benchmark::Counter(
      static_cast<double>(state.iterations() * documents.tokens()), benchmark::Counter::kIsRate);
}
BENCHMARK(topics_lda)
    ->ArgNames({"documents", "words", "K"})
    ->Args({3000, 1000, 20})
    ->Args({3000, 4000, 100})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(topics_lda)
    ->Name("growth/topics_lda/documents")
    ->ArgNames({"documents", "words", "K"})
    ->ArgsProduct({{500, 2000, 8000}, {1000}, {20}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(topics_lda)
    ->Name("growth/topics_lda/K")
    ->ArgNames({"documents", "words", "K"})
    ->ArgsProduct({{2000}, {2000}, {10, 40, 160}})
    ->Unit(benchmark::kMillisecond);

void topics_lda_perplexity(benchmark::State& state) {
  constexpr std::int64_t kTopics = 20;
  const WordDocuments documents = corpus(3000, 1000, kTopics);
  // Chains end in local optima, with topics merged: one a second, of which the most probable one
  // counts, as in fit_lda.
  const auto chains = static_cast<std::uint64_t>(state.range(0));
  double perplexity = 0;
  for (auto _ : state) {
    double best = -std::numeric_limits<double>::infinity();
    for (std::uint64_t chain = 0; chain < chains; ++chain) {
      const std::clock_t end = std::clock() + CLOCKS_PER_SEC;
      RandomStream stream({.seed = 1, .id = StreamId::sampler, .step = chain});
      LdaChain gibbs(documents, {.topics = kTopics}, stream);
      while (std::clock() < end) gibbs.sweep(stream);
      const double log_joint = gibbs.log_joint();
      if (log_joint > best) perplexity = gibbs.perplexity();
      best = std::max(best, log_joint);
    }
  }
  state.counters["perplexity"] = perplexity;
}
BENCHMARK(topics_lda_perplexity)
    ->ArgName("seconds")
    ->Arg(1)
    ->Arg(4)
    ->Iterations(1)
    ->Unit(benchmark::kSecond);

}  // namespace
