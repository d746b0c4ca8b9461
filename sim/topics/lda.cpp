#include "attica/sim/topics/lda.hpp"

#include <algorithm>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/core/parallel.hpp"
#include "attica/solvers/statistics/distributions.hpp"

namespace attica {

using Eigen::Index;

Index WordDocuments::tokens() const {
  Index sum = 0;
  for (const auto& d : documents) sum += static_cast<Index>(d.size());
  return sum;
}

LdaChain::LdaChain(const WordDocuments& corpus, const LdaOptions& options, RandomStream& stream)
    : corpus_(corpus), options_(options) {
  require(options.topics >= 2, "lda_topics", static_cast<double>(options.topics), "at least 2");
  require(options.alpha > 0, "lda_alpha", options.alpha, "lda_alpha > 0");
  require(options.beta > 0, "lda_beta", options.beta, "lda_beta > 0");
  const auto documents = static_cast<Index>(corpus.documents.size());
  document_topic_.setZero(options.topics, documents);
  topic_word_.setZero(options.topics, corpus.words);
  topic_.setZero(options.topics);
  inverse_ = Eigen::ArrayXf::Constant(
      options.topics, static_cast<float>(1 / (static_cast<double>(corpus.words) * options.beta)));
  for (std::size_t d = 0; d < corpus.documents.size(); ++d) {
    assigned_.emplace_back();
    for (const std::int32_t word : corpus.documents[d]) {
      require(word >= 0 && word < corpus.words, "words", word, "word numbers below `words`");
      assigned_.back().push_back(
          static_cast<std::int32_t>(stream.below(static_cast<std::uint64_t>(options.topics))));
      count(d, word, assigned_.back().back(), 1);
    }
  }
}

void LdaChain::count(std::size_t document, std::int32_t word, std::int32_t topic, float by) {
  document_topic_(topic, static_cast<Index>(document)) += by;
  topic_word_(topic, word) += by;
  topic_[topic] += by;
  inverse_[topic] =
      1 / (topic_[topic] + static_cast<float>(corpus_.words) * static_cast<float>(options_.beta));
}

void LdaChain::assign(const std::vector<std::vector<std::int32_t>>& topics) {
  for (std::size_t d = 0; d < assigned_.size(); ++d) {
    for (std::size_t i = 0; i < assigned_[d].size(); ++i) {
      count(d, corpus_.documents[d][i], assigned_[d][i], -1);
      assigned_[d][i] = topics.at(d).at(i);
      count(d, corpus_.documents[d][i], assigned_[d][i], 1);
    }
  }
}

Eigen::VectorXd LdaChain::conditional(std::size_t document, std::size_t position) {
  const std::int32_t word = corpus_.documents[document][position];
  const std::int32_t own = assigned_[document][position];
  count(document, word, own, -1);
  const Eigen::ArrayXd p =
      ((document_topic_.col(static_cast<Index>(document)) + static_cast<float>(options_.alpha)) *
       (topic_word_.col(word) + static_cast<float>(options_.beta)) * inverse_)
          .cast<double>();
  count(document, word, own, 1);
  return p / p.sum();
}

void LdaChain::sweep(RandomStream& stream) {
  const auto alpha = static_cast<float>(options_.alpha);
  const auto beta = static_cast<float>(options_.beta);
  const float prior = static_cast<float>(corpus_.words) * beta;
  constexpr Index kChunk = 4;
  const Index chunks = (options_.topics + kChunk - 1) / kChunk;
  Eigen::ArrayXf p = Eigen::ArrayXf::Zero(chunks * kChunk);
  for (std::size_t d = 0; d < assigned_.size(); ++d) {
    const std::vector<std::int32_t>& words = corpus_.documents[d];
    std::vector<std::int32_t>& topics = assigned_[d];
    const auto in_document = document_topic_.col(static_cast<Index>(d));
    for (std::size_t i = 0; i < words.size(); ++i) {
      const auto of_word = topic_word_.col(words[i]);
      const Index own = topics[i];
      p.head(options_.topics) = (in_document + alpha) * (of_word + beta) * inverse_;
      // The token itself does not count. Its counts are put right here, not in the tables: what was
      // just written there as numbers would be waited for as vectors.
      const float without =
          (in_document[own] - 1 + alpha) * (of_word[own] - 1 + beta) / (topic_[own] - 1 + prior);
      const float less = p[own] - without;
      float left = static_cast<float>(stream.uniform()) * (p.sum() - less);
      // First the four topics, then the one of them.
      Index chunk = 0;
      for (; chunk < chunks - 1; ++chunk) {
        const float sum =
            p.segment<kChunk>(chunk * kChunk).sum() - (own / kChunk == chunk ? less : 0);
        if (left < sum) break;
        left -= sum;
      }
      p[own] = without;
      Index k = chunk * kChunk;
      const Index last = std::min(k + kChunk, options_.topics) - 1;
      while (k < last && (left -= p[k]) >= 0) ++k;
      if (k == own) continue;
      count(d, words[i], topics[i], -1);
      topics[i] = static_cast<std::int32_t>(k);
      count(d, words[i], topics[i], 1);
    }
  }
}

double LdaChain::log_joint() const {
  const double alpha = options_.alpha;
  const double beta = options_.beta;
  const auto k = static_cast<double>(options_.topics);
  const auto words = static_cast<double>(corpus_.words);
  // Σ log Γ(n + c) - log Γ(c) over counts; those of 0 give 0.
  const auto gammas = [](const Eigen::ArrayXXf& counts, double c) {
    double sum = 0;
    for (Index j = 0; j < counts.cols(); ++j) {
      for (Index i = 0; i < counts.rows(); ++i) {
        if (counts(i, j) > 0) sum += log_gamma(counts(i, j) + c) - log_gamma(c);
      }
    }
    return sum;
  };
  double result = gammas(topic_word_, beta) + gammas(document_topic_, alpha);
  for (Index t = 0; t < topic_.size(); ++t) {
    result += log_gamma(words * beta) - log_gamma(topic_[t] + words * beta);
  }
  for (const auto& document : corpus_.documents) {
    result += log_gamma(k * alpha) - log_gamma(static_cast<double>(document.size()) + k * alpha);
  }
  return result;
}

double LdaChain::perplexity() const {
  const Eigen::MatrixXd phi = topics();
  double sum = 0;
  for (std::size_t d = 0; d < corpus_.documents.size(); ++d) {
    Eigen::VectorXd theta =
        (document_topic_.col(static_cast<Index>(d)).cast<double>() + options_.alpha).matrix();
    theta /= theta.sum();
    for (const std::int32_t word : corpus_.documents[d]) sum += std::log(theta.dot(phi.col(word)));
  }
  return std::exp(-sum / static_cast<double>(corpus_.tokens()));
}

Eigen::MatrixXd LdaChain::topics() const {
  Eigen::MatrixXd phi = (topic_word_.cast<double>() + options_.beta).matrix();
  phi.array().colwise() /=
      topic_.cast<double>() + static_cast<double>(corpus_.words) * options_.beta;
  return phi;
}

LdaResult fit_lda(const WordDocuments& corpus,
                  const LdaOptions& options,
                  const StreamAddress& address) {
  require(options.sweeps >= 1, "lda_sweeps", static_cast<double>(options.sweeps), "at least 1");
  require(
      options.restarts >= 1, "lda_restarts", static_cast<double>(options.restarts), "at least 1");
  std::vector<StreamAddress> addresses(static_cast<std::size_t>(options.restarts), address);
  for (std::size_t restart = 0; restart < addresses.size(); ++restart) {
    addresses[restart].step = restart;
  }
  const auto chains = parallel_map(addresses, [&](const StreamAddress& own) {
    RandomStream stream(own);
    LdaChain chain(corpus, options, stream);
    Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(options.topics, corpus.words);
    double taken = 0;
    for (std::int64_t n = 1; n <= options.sweeps; ++n) {
      chain.sweep(stream);
      const std::int64_t left = options.sweeps - n;
      if (left < options.averaged && left % options.every == 0) {
        sum += chain.topics();
        taken += 1;
      }
    }
    return LdaResult{sum / taken, chain.log_joint()};
  });
  return *std::ranges::max_element(chains, {}, &LdaResult::log_joint);
}

TopicWords topic_words(const Eigen::MatrixXd& topics, double share, Index most) {
  std::vector<std::vector<std::int32_t>> of(static_cast<std::size_t>(topics.rows()));
  for (Index w = 0; w < topics.cols(); ++w) {
    Index topic = 0;
    const double largest = topics.col(w).maxCoeff(&topic);
    if (largest >= share * topics.col(w).sum()) {
      of[static_cast<std::size_t>(topic)].push_back(static_cast<std::int32_t>(w));
    }
  }
  TopicWords chosen;
  for (std::size_t k = 0; k < of.size(); ++k) {
    std::vector<std::int32_t>& words = of[k];
    std::stable_sort(words.begin(), words.end(), [&](auto a, auto b) {
      return topics(static_cast<Index>(k), a) > topics(static_cast<Index>(k), b);
    });
    if (words.size() > static_cast<std::size_t>(most)) words.resize(static_cast<std::size_t>(most));
    if (words.size() < 2) continue;
    chosen.words.insert(chosen.words.end(), words.begin(), words.end());
    chosen.topics.insert(chosen.topics.end(), words.size(), static_cast<std::int32_t>(k));
  }
  return chosen;
}

}  // namespace attica
