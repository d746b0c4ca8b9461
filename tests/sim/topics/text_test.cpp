// Text to topics: reading, Gibbs sampling, pairs of words.

#include "attica/sim/topics/text.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <iterator>

#include "attica/core/error.hpp"
#include "attica/core/text/corpus.hpp"
#include "attica/sim/networks/topic_pairs.hpp"
#include "attica/sim/topics/lda.hpp"
#include "reference_values.hpp"

using namespace attica;
using Catch::Matchers::Contains;
using Eigen::Index;

TEST_CASE("read_text: lines, paragraphs and runs of words", "[core][topics]") {
  std::string text;
  for (int k = 0; k < 12; ++k)
    text += "alpha beta gamma delta epsilon zeta eta theta iota kappa lamb\n";
  TextOptions options{
      .units = TextUnits::lines, .unit_size = 5, .least_count = 1, .least_tokens = 3};
  CHECK(read_text(text, options).documents.size() == 3);  // 5 + 5 + 2 lines
  options.units = TextUnits::paragraphs;
  CHECK(read_text(text + "\n\n" + text, options).documents.size() == 2);
  options.units = TextUnits::words;
  options.unit_size = 11;
  CHECK(read_text(text, options).documents.size() == 12);
  options.most_tokens = 4;
  CHECK(read_text(text, options).documents.front().size() == 4);
  CHECK(read_text(text, options).cut_tokens == 12 * (11 - 4));
  CHECK_THROWS_WITH(read_text("too few words here", options),
                    Contains("'model.file' = a text with 1 words") && Contains("at least 10"));
  CHECK_THROWS_WITH(read_text("f\xfcnf W\xf6rter", options),
                    Contains("byte 0xFC at line 1, column 2 is not UTF-8"));
  options.least_tokens = 12;
  CHECK_THROWS_WITH(read_text(text, options), Contains("longest document has 11 words"));
  options.least_tokens = 3;
  options.stop_words = {"alpha"};
  CHECK_FALSE(read_text(text, options).vocabulary.front() == "alpha");
  CHECK(is_stop_word("unto"));
  CHECK_FALSE(is_stop_word("temple"));
}

TEST_CASE("LdaChain: conditionals, joint probability and co-occurrence match the reference",
          "[sim][topics]") {
  const auto c = attica::testing::reference_values("topics")["lda_gibbs"];
  const WordDocuments corpus{c["docs"], c["V"].get<Index>()};
  const LdaOptions options{.topics = c["K"], .alpha = c["alpha"], .beta = c["beta"]};
  RandomStream stream({.seed = 1});
  LdaChain chain(corpus, options, stream);
  chain.assign(c["z"]);
  constexpr double kSingle = 1e-6;  // weights are kept in single precision
  for (const auto& [name, p] : c["conditional"].items()) {
    const std::size_t d = static_cast<std::size_t>(name[1] - '0');
    const std::size_t i = static_cast<std::size_t>(name[4] - '0');
    const Eigen::VectorXd found = chain.conditional(d, i);
    CHECK(found[0] == Approx(p[0].get<double>()).epsilon(kSingle));
    CHECK(found[1] == Approx(p[1].get<double>()).epsilon(kSingle));
  }
  CHECK(chain.log_joint() == Approx(c["log_joint"].get<double>()).epsilon(kSingle));
  CHECK((chain.topics().rowwise().sum().array() - 1).abs().maxCoeff() < kSingle);
  const Eigen::MatrixXd together = document_cooccurrence(c["docs"], {0, 1, 2, 3, 4});
  for (Index i = 0; i < 5; ++i)
    for (Index j = 0; j < 5; ++j)
      CHECK(together(i, j) ==
            c["document_cooccurrence"][static_cast<std::size_t>(i)][static_cast<std::size_t>(j)]
                .get<double>());
  CHECK_THROWS_WITH(LdaChain(corpus, {.topics = 1}, stream), Contains("lda_topics"));
}

TEST_CASE("LdaChain: a long run visits states with their probability", "[sim][topics]") {
  // One document of two tokens, two words, two topics: four states, weights by the joint.
  const WordDocuments corpus{{{0, 1}}, 2};
  const LdaOptions options{.topics = 2, .alpha = 0.5, .beta = 0.4};
  RandomStream stream({.seed = 5});
  LdaChain chain(corpus, options, stream);
  const auto weight = [&](int a, int b) {
    chain.assign({{a, b}});
    return std::exp(chain.log_joint());
  };
  const double together = weight(0, 0) + weight(1, 1);
  const double apart = weight(0, 1) + weight(1, 0);
  const double expected = together / (together + apart);
  double seen = 0;
  constexpr int kSweeps = 40000;  // standard error below 0.004 with the chain's correlations
  for (int n = 0; n < kSweeps; ++n) {
    chain.sweep(stream);
    // Tokens share a topic if and only if the joint is that of the states together.
    const Eigen::MatrixXd phi = chain.topics();
    seen += std::abs(phi(0, 0) - phi(0, 1)) < 1e-6 ? 1.0 / kSweeps : 0;
  }
  CHECK(seen == Approx(expected).margin(0.015));
}

TEST_CASE("LdaChain: a sweep draws a token's topic by its conditional", "[sim][topics]") {
  // The first token's word, 3, is found nowhere else and word 4 not at all: where the first has a
  // larger share than the second is the token's topic.
  const WordDocuments corpus{{{3, 0, 1, 0, 2}, {1, 2, 2, 0, 0, 1}, {0, 1, 2}}, 5};
  const LdaOptions options{.topics = 7, .alpha = 0.3, .beta = 0.05};
  const std::vector<std::vector<std::int32_t>> start = {
      {1, 0, 4, 4, 6}, {2, 6, 6, 3, 0, 5}, {4, 5, 2}};
  RandomStream stream({.seed = 6});
  LdaChain chain(corpus, options, stream);
  chain.assign(start);
  const Eigen::VectorXd expected = chain.conditional(0, 0);
  Eigen::VectorXd seen = Eigen::VectorXd::Zero(options.topics);
  constexpr int kSweeps = 40000;
  for (int n = 0; n < kSweeps; ++n) {
    chain.assign(start);
    chain.sweep(stream);
    Index topic = 0;
    const Eigen::MatrixXd phi = chain.topics();
    (phi.col(3) - phi.col(4)).maxCoeff(&topic);
    seen[topic] += 1.0 / kSweeps;
  }
  for (Index k = 0; k < options.topics; ++k) {
    const double error = std::sqrt(expected[k] * (1 - expected[k]) / kSweeps);
    CHECK(seen[k] == Approx(expected[k]).margin(4 * error));
  }
}

TEST_CASE("topic_contrast: finds a planted difference and not its absence", "[sim][topics]") {
  const std::vector<std::int32_t> topics = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2};
  RandomStream stream({.seed = 2});
  const auto n = static_cast<Index>(topics.size());
  Eigen::MatrixXd noise =
      Eigen::MatrixXd::NullaryExpr(n, n, [&](Index, Index) { return stream.normal(); });
  const Eigen::MatrixXd ones = Eigen::MatrixXd::Ones(n, n);
  const TopicContrast none = topic_contrast({noise, ones}, topics, 500, stream);
  CHECK(none.p > 0.02);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j)
      if (topics[static_cast<std::size_t>(i)] == topics[static_cast<std::size_t>(j)])
        noise(i, j) += 2;
  // All pairs of words 0 and 3, of one topic: most exchanges leave that topic without a pair.
  Eigen::MatrixXd few = Eigen::MatrixXd::Zero(n, n);
  few(0, 3) = few(0, 4) = few(0, 8) = 1;
  CHECK(topic_contrast({noise, few}, topics, 500, stream).p > 0.1);
  const TopicContrast some = topic_contrast({noise, ones}, topics, 500, stream);
  CHECK(some.p < 0.01);
  CHECK(some.same - some.other == Approx(2).margin(0.6));
  // A regression on co-occurrence that has nothing to do with it leaves the difference.
  const Eigen::MatrixXd together = Eigen::MatrixXd::NullaryExpr(
      n, n, [](Index i, Index j) { return static_cast<double>((i * j) % 5); });
  const CooccurrenceControl control = cooccurrence_control({noise, ones}, topics, together);
  CHECK(control.coefficient == Approx(2).margin(0.8));
  CHECK(std::abs(control.cooccurrence) < 0.6);
}

TEST_CASE("planted text: LDA finds the topics that the words name", "[sim][topics]") {
  RandomStream stream({.seed = 1, .id = StreamId::model});
  const std::string text = planted_text(5, 8, 150, 60, 0.1, stream);
  const TextCorpus corpus = read_text(text, {.units = TextUnits::paragraphs});
  CHECK(corpus.documents.size() == 150);
  CHECK(corpus.vocabulary.size() == 40);
  const LdaResult lda = fit_lda({corpus.documents, 40},
                                {.topics = 5, .sweeps = 60, .averaged = 20, .restarts = 3},
                                {.seed = 1, .id = StreamId::sampler});
  const TopicWords chosen = topic_words(lda.topics, 0.6, 8);
  CHECK(topic_purity(chosen, corpus.vocabulary) >= 0.95);
  CHECK(chosen.words.size() >= 30);
}

TEST_CASE("excerpt: the text that comes with attica has documents and topic words",
          "[sim][topics]") {
  std::ifstream in(std::string(ATTICA_SOURCE_DIR) + "/data/psalms.txt", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const TextCorpus corpus = read_text(
      text, {.units = TextUnits::lines, .unit_size = 10, .most_words = 300, .least_count = 5});
  CHECK(corpus.warnings.empty());
  CHECK(corpus.documents.size() > 50);
  CHECK(corpus.vocabulary.front() == "lord");
}
