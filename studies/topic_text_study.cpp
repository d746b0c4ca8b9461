/// @file
/// @brief Study topics-text: do embeddings and attention of a transformer trained on real text
/// group the words of topics found by latent Dirichlet allocation?

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>

#include "attica/core/error.hpp"
#include "attica/core/text_corpus.hpp"
#include "attica/sim/topic_text.hpp"
#include "attica/studies/topic_setup.hpp"
#include "attica/studies/topic_studies.hpp"

namespace attica {
namespace {

using Eigen::Index;
using Network = networks::Transformer<float>;

constexpr double kLevel = 0.01;   ///< of the permutation tests
constexpr double kPurity = 0.95;  ///< asked of a planted corpus
constexpr double kFlat = 0.1;     ///< largest contrast of a network that is not trained
/// The p-value at which a corpus is as extreme as all permutations is 1/1001.
constexpr std::int64_t kPermutations = 1000;
constexpr std::int64_t kHeldOut = 10;  ///< every so many-th document

/// What all replicates share: the corpus, its split, its topics.
struct Material {
  TextCorpus corpus;
  std::vector<std::vector<std::int32_t>> training;
  std::vector<std::vector<std::int32_t>> held_out;
  TopicWords topics;
  double purity = 0;  ///< planted corpus only
};

class Text : public TopicExperiment {
 public:
  explicit Text(const Configuration& c)
      : seed_(static_cast<std::uint64_t>(c.integer("sim.seed"))),
        planted_(!c.has("model.file")),
        share_(c.real("model.share")),
        most_(c.integer("model.topic_words")) {
    const std::string& units = c.text("model.documents");
    text_ = {.units = units == "lines"        ? TextUnits::lines
                      : units == "paragraphs" ? TextUnits::paragraphs
                                              : TextUnits::words,
             .unit_size = c.integer("model.unit_size"),
             .most_words = c.integer("model.vocabulary"),
             .least_count = c.integer("model.least_count")};
    lda_ = {.topics = c.integer("model.lda_topics"),
            .alpha = c.real("model.lda_alpha"),
            .beta = c.real("model.lda_beta"),
            .sweeps = c.integer("model.lda_sweeps"),
            .restarts = c.integer("model.lda_restarts")};
    training_ = {.width = static_cast<int>(c.integer("model.width")),
                 .layers = static_cast<int>(c.integer("model.layers")),
                 .heads = static_cast<int>(c.integer("model.heads")),
                 .tied = c.text("model.decoder") == "tied",
                 .learning_rate = c.real("sim.eta"),
                 .batch = c.integer("sim.batch"),
                 .steps = c.integer("sim.length"),
                 .mask_rate = c.real("model.mask_rate"),
                 .keep_rate = c.real("model.keep_rate"),
                 .random_rate = c.real("model.random_rate")};
    require(training_.keep_rate + training_.random_rate <= 1,
            "model.random_rate",
            training_.random_rate,
            "keep_rate + random_rate <= 1");
    require(training_.width % training_.heads == 0,
            "model.heads",
            training_.heads,
            "a divisor of model.width");
    if (c.has("model.stop_words")) text_.stop_words = words_of(c.input_text("model.stop_words"), 1);
    if (!planted_) {
      corpus_ = read_text(c.input_text("model.file"), text_);
    } else {
      // 600 documents of 100 tokens from 10 topics of 20 words: the study's own test.
      text_.units = TextUnits::paragraphs;
    }
  }

  TheoryResult theory(TheoryGrid grid) const override {
    if (grid == TheoryGrid::requested) {
      throw Error(ErrorKind::input, "topics-text has no theory, only claims: use attica run");
    }
    return {};
  }

  std::size_t points() const override { return 1; }

  std::vector<std::string> warnings() const override {
    std::vector<std::string> all;
    if (corpus_.bad_bytes > 0) {
      all.push_back(
          fmt::format("model.file: {} bytes are not UTF-8, read as spaces", corpus_.bad_bytes));
    }
    std::int64_t read = 0;
    for (const auto& document : corpus_.documents) {
      read += static_cast<std::int64_t>(document.size());
    }
    if (corpus_.cut_tokens > read / 10) {
      all.push_back(
          fmt::format("model.file: {} words are read and {} are not, which lie beyond the first {} "
                      "of their document: make documents shorter by model.documents and unit_size",
                      read,
                      corpus_.cut_tokens,
                      text_.most_tokens));
    }
    if (!planted_ && lda_.topics > static_cast<Index>(corpus_.documents.size())) {
      all.push_back(fmt::format("model.lda_topics = {} is above the number of documents, {}",
                                lda_.topics,
                                corpus_.documents.size()));
    }
    return all;
  }

  Table diagnostics() const override {
    if (planted_) return {};
    return {{"documents", corpus_.documents.size()}, {"vocabulary", corpus_.vocabulary.size()}};
  }

 protected:
  Outcome run(const Piece& piece, std::uint64_t replicate) const override {
    const Material& m = material();
    const StreamAddress address = step_address(piece, replicate, 0);
    const auto words = static_cast<Index>(m.corpus.vocabulary.size());
    const auto network = text_network(words, training_, address);
    Outcome outcome;
    measure(*network, m, "untrained", address, outcome);
    const auto end = train_text(
        *network, m.training, training_, address, [&] { return piece.stop.stop_requested(); });
    measure(*network, m, "trained", address, outcome);
    outcome.series.push_back({"topic_words", {}, "none", {0}, {double(m.topics.words.size())}});
    if (planted_) outcome.series.push_back({"purity", {}, "none", {0}, {m.purity}});
    mark_end(outcome, end);
    return outcome;
  }

 private:
  /// The corpus and its topics are those of the master seed, the same for all replicates.
  const Material& material() const {
    std::call_once(once_, [&] { material_ = prepare(); });
    return material_;
  }

  Material prepare() const {
    Material m;
    m.corpus = corpus_;
    if (planted_) {
      constexpr Index kTopics = 10;
      constexpr Index kWords = 20;
      constexpr Index kDocuments = 600;
      constexpr Index kLength = 100;
      constexpr double kConcentration = 0.1;
      RandomStream stream({.seed = seed_, .id = StreamId::model});
      m.corpus = read_text(
          planted_text(kTopics, kWords, kDocuments, kLength, kConcentration, stream), text_);
    }
    for (std::size_t d = 0; d < m.corpus.documents.size(); ++d) {
      const bool held = d % kHeldOut == kHeldOut - 1;
      (held ? m.held_out : m.training).push_back(m.corpus.documents[d]);
    }
    if (m.held_out.empty()) m.held_out = m.training;
    const auto words = static_cast<Index>(m.corpus.vocabulary.size());
    const LdaResult lda =
        fit_lda({m.training, words}, lda_, {.seed = seed_, .id = StreamId::sampler});
    m.topics = topic_words(lda.topics, share_, most_);
    std::vector<std::int32_t> topics = m.topics.topics;
    topics.erase(std::unique(topics.begin(), topics.end()), topics.end());
    if (topics.size() < 2) {
      throw invalid_parameter(
          "model.share",
          share_,
          fmt::format("at least 2 topics with 2 words of that share, found {} in {} documents: a "
                      "smaller share, a longer text or another model.lda_topics",
                      topics.size(),
                      m.corpus.documents.size()));
    }
    require_pairs(m);
    if (planted_) m.purity = topic_purity(m.topics, m.corpus.vocabulary);
    return m;
  }

  /// Attention is measured where two topic words stand in one document: of one topic, and of two.
  static void require_pairs(const Material& m) {
    const Eigen::MatrixXd together = document_cooccurrence(m.held_out, m.topics.words);
    double pairs[2] = {0, 0};
    for (Index i = 0; i < together.rows(); ++i) {
      for (Index j = 0; j < i; ++j) {
        const auto topic = [&](Index k) { return m.topics.topics[static_cast<std::size_t>(k)]; };
        pairs[topic(i) == topic(j) ? 1 : 0] += together(i, j);
      }
    }
    if (pairs[0] > 0 && pairs[1] > 0) return;
    throw invalid_parameter(
        "model.file",
        fmt::format("{} held-out documents without two topic words of {} in one of them",
                    m.held_out.size(),
                    pairs[1] > 0 ? "two topics" : "one topic"),
        "a longer text, or a larger model.topic_words");
  }

  void measure(Network& network,
               const Material& m,
               const std::string& name,
               const StreamAddress& address,
               Outcome& outcome) const {
    const Point point = {{"network", name}};
    // Where all of the most co-occurring pairs share a topic some means are empty.
    const auto put = [&](const std::string& series, double value) {
      if (std::isfinite(value)) outcome.series.push_back({series, point, "none", {0}, {value}});
    };
    const Eigen::MatrixXd together = document_cooccurrence(m.corpus.documents, m.topics.words);
    const std::vector<TextAttention> heads = text_attention(network, m.held_out, m.topics.words);
    const TextAttention attention = mean_attention(heads);
    const std::array<std::pair<const char*, PairValues>, 4> quantities = {
        {{"cosine", embedding_cosines(network, m.topics.words)},
         {"product", embedding_products(network, m.topics.words)},
         {"attention", attention.by_words()},
         {"attention_positions", attention.by_positions()}}};
    std::uint64_t number = 0;
    for (const auto& [quantity, pairs] : quantities) {
      StreamAddress own = address;
      own.id = StreamId::bootstrap;
      own.step = number++;
      RandomStream stream(own);
      const TopicContrast contrast = topic_contrast(pairs, m.topics.topics, kPermutations, stream);
      const std::string q = quantity;
      put(q + "_same_topic", contrast.same);
      put(q + "_other_topic", contrast.other);
      put(q + "_p", contrast.p);
      if (q == "product" || q == "attention_positions") continue;
      // For the figure: classes of pairs side by side.
      Series bars{q, point, "class", {1, 2}, {contrast.same, contrast.other}};
      if (name == "untrained") {
        outcome.series.push_back(std::move(bars));
        continue;
      }
      const CooccurrenceControl control = cooccurrence_control(pairs, m.topics.topics, together);
      put(q + "_top_cooccurring", control.top);
      put(q + "_top_other_topic", control.top_other);
      put(q + "_matched_difference", control.matched);
      put(q + "_coefficient_topic", control.coefficient);
      put(q + "_coefficient_cooccurrence", control.cooccurrence);
      if (q == "cosine") put("cooccurrence_overlap", control.overlap);
      bars.x.push_back(3);
      bars.y.push_back(control.top);
      if (std::isfinite(control.top_other)) {
        bars.x.push_back(4);
        bars.y.push_back(control.top_other);
      }
      outcome.series.push_back(std::move(bars));
    }
    put("attention_same_word", attention.same_word());
    if (heads.size() == 1) return;
    for (std::size_t k = 0; k < heads.size(); ++k) {
      const auto each = static_cast<std::size_t>(training_.heads);
      const Point place = {{"network", name},
                           {"layer", static_cast<double>(k / each + 1)},
                           {"head", static_cast<double>(k % each + 1)}};
      StreamAddress own = address;
      own.id = StreamId::bootstrap;
      own.step = number++;
      RandomStream stream(own);
      const TopicContrast contrast =
          topic_contrast(heads[k].by_words(), m.topics.topics, kPermutations, stream);
      outcome.series.push_back({"head_same_topic", place, "none", {0}, {contrast.same}});
      outcome.series.push_back({"head_other_topic", place, "none", {0}, {contrast.other}});
      outcome.series.push_back({"head_p", place, "none", {0}, {contrast.p}});
    }
  }

  std::uint64_t seed_;
  bool planted_;
  double share_;
  Index most_;
  TextOptions text_;
  LdaOptions lda_;
  TextTraining training_;
  TextCorpus corpus_;
  mutable std::once_flag once_;
  mutable Material material_;
};

Figure figure(const Configuration& c) {
  const auto panel = [](const char* series, const char* label) {
    return Panel{.kind = PanelKind::scatter,
                 .x = {.label = "class of word pairs", .low = 0.5, .high = 4.5},
                 .y = {.label = label},
                 .layers = {{.series = series,
                             .label = "trained",
                             .theory = false,
                             .only = {{"network", std::string("trained")}}},
                            {.series = series,
                             .label = "before training",
                             .theory = false,
                             .only = {{"network", std::string("untrained")}}}},
                 .x_name = "class"};
  };
  return {
      .name = "topics-text",
      .panels = {panel("cosine", "cosine"), panel("attention", "{/:Italic N} × attention")},
      .columns = 1,
      .caption = fmt::format(
          "Pairs of topic words in a one-layer transformer trained on {}: 1, words of the same "
          "topic; "
          "2, of two topics; 3, the pairs of highest co-occurrence in documents; 4, those of class "
          "3 whose topics differ, left out where there are none. Top: cosine of their embeddings; "
          "bottom: attention between them, in units of 1/N. Mean and standard error over training "
          "seeds; before training only classes 1 and 2 are shown, which are level.",
          c.has("model.file") ? c.text("model.file") : "a planted corpus")};
}

/// All replicates' values of a constant.
std::vector<double> values_of(const Observed& observed,
                              const std::string& name,
                              const std::string& network) {
  for (const ObservedCurve& curve : observed.simulation) {
    if (curve.mean.name != name || curve.values.empty()) continue;
    if (network.empty() || curve.mean.point == Point{{"network", network}}) {
      return curve.values.front();
    }
  }
  return {};
}

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  std::vector<ClaimResult> all;
  const auto add = [&](std::string name, std::string statement, bool holds, std::string detail) {
    all.push_back({std::move(name),
                   std::move(statement),
                   holds ? Verdict::agree : Verdict::disagree,
                   std::move(detail)});
  };
  const auto mean = [](const std::vector<double>& x) { return summarise(x).mean; };
  for (const std::string quantity : {"cosine", "attention"}) {
    const auto same = values_of(observed, quantity + "_same_topic", "trained");
    const auto other = values_of(observed, quantity + "_other_topic", "trained");
    const auto p = values_of(observed, quantity + "_p", "trained");
    const auto flat_same = values_of(observed, quantity + "_same_topic", "untrained");
    const auto flat_other = values_of(observed, quantity + "_other_topic", "untrained");
    if (same.empty()) continue;
    bool holds = true;
    bool flat = true;
    for (std::size_t k = 0; k < same.size(); ++k) {
      holds = holds && same[k] > other[k] && p[k] <= kLevel;
      flat = flat && std::abs(flat_same[k] - flat_other[k]) < kFlat;
    }
    const std::string what = quantity == "cosine" ? "embedding cosines" : "attention of word pairs";
    add(quantity,
        fmt::format("{}: same topic above other topics with p <= {} in every run", what, kLevel),
        holds,
        fmt::format("same {:.3f}, other {:.3f}, largest p {:.4f}",
                    mean(same),
                    mean(other),
                    *std::max_element(p.begin(), p.end())));
    add(quantity + "-untrained",
        fmt::format("{}: no difference above {} before training", what, kFlat),
        flat,
        fmt::format("same {:.3f}, other {:.3f}", mean(flat_same), mean(flat_other)));
    // Information without a verdict: the paper finds attention below that of co-occurring pairs.
    const double gap =
        mean(same) - mean(values_of(observed, quantity + "_top_cooccurring", "trained"));
    all.push_back(
        {.name = quantity + "-cooccurrence",
         .statement = fmt::format("{}: same topic against the most co-occurring pairs", what),
         .verdict = Verdict::none,
         .detail =
             fmt::format("same topic {} by {:+.3f}; same - other at equal co-occurrence {:+.3f}; "
                         "overlap of the "
                         "two sets {:.2f}",
                         gap > 0 ? "above" : "not above",
                         gap,
                         mean(values_of(observed, quantity + "_matched_difference", "trained")),
                         mean(values_of(observed, "cooccurrence_overlap", "trained")))});
  }
  const auto purity = values_of(observed, "purity", "");
  if (!c.has("model.file") && !purity.empty()) {
    add("purity",
        fmt::format("topic words of the planted corpus name one topic, purity >= {}", kPurity),
        purity.front() >= kPurity,
        fmt::format("{:.3f}", purity.front()));
  }
  return all;
}

std::vector<Parameter> parameters() {
  constexpr double kAlpha = 0.1;
  constexpr double kBeta = 0.01;
  constexpr double kShare = 0.6;
  constexpr double kEta = 3e-3;
  constexpr double kMaskRate = 0.15;
  constexpr double kOtherRate = 0.1;
  const Range positive{.low = 0, .low_open = true};
  const Range share{.low = 0, .high = 1};
  return {
      {.key = "model.file",
       .type = ParameterType::file,
       .fallback = std::nullopt,
       .meaning = "a plain text, UTF-8; unset: a planted corpus of 10 topics"},
      word_parameter("model.documents",
                     "paragraphs",
                     "a document: lines of a paragraph, a paragraph, or a run of words",
                     {"lines", "paragraphs", "words"}),
      integer_parameter("model.unit_size", 10, "lines or words of a document"),
      integer_parameter(
          "model.vocabulary", 1000, "most frequent words that are kept", {.low = 10, .high = 1e9}),
      integer_parameter("model.least_count", 10, "occurrences that a kept word has at least"),
      integer_parameter("model.lda_topics",
                        10,
                        "K, topics of latent Dirichlet allocation",
                        {.low = 2, .high = 1e9}),
      real_parameter("model.lda_alpha", kAlpha, "of documents' topic weights", positive),
      real_parameter("model.lda_beta", kBeta, "of topics' word weights", positive),
      integer_parameter("model.lda_sweeps", 200, "Gibbs sweeps"),
      integer_parameter("model.lda_restarts", 3, "chains, the most probable of which is kept"),
      real_parameter(
          "model.share", kShare, "a topic word has at least this share of its topic", share),
      integer_parameter("model.topic_words",
                        10,
                        "words of each topic that are looked at",
                        {.low = 2, .high = 1e9}),
      {.key = "model.stop_words",
       .type = ParameterType::file,
       .fallback = std::nullopt,
       .meaning = "a file of words to drop besides the usual ones"},
      integer_parameter("model.width", 64, "width of the network"),
      integer_parameter("model.layers", 1, "layers; more than one have residual connections"),
      integer_parameter("model.heads", 1, "heads of each layer"),
      word_parameter("model.decoder", "tied", "the embedding, or its own matrix", {"tied", "free"}),
      real_parameter("model.mask_rate",
                     kMaskRate,
                     "probability that a position is selected",
                     {.low = 0, .high = 1, .low_open = true}),
      real_parameter("model.keep_rate", kOtherRate, "a selected token stays what it is", share),
      real_parameter("model.random_rate", kOtherRate, "it becomes a random word", share),
      real_parameter("sim.eta", kEta, "learning rate of Adam", positive),
      integer_parameter("sim.batch", 16, "documents per step"),
      integer_parameter("sim.length", 1000, "steps"),
      replicates_parameter(5, "independent runs")};
}

}  // namespace

Study topics_text() {
  std::vector<SeriesInfo> series = {
      {"cosine",
       "cos",
       "embeddings of pairs; class 1 same topic, 2 other topic, 3 most co-occurring, "
       "4 those of them with different topics"},
      {"attention", "N A", "attention of word pairs, held-out documents; the same classes"},
      {"topic_words", "", "words looked at"},
      {"purity", "", "share of topic words whose planted topic is their topic's most frequent one"},
      {"cooccurrence_overlap", "", "share of the most co-occurring pairs that share a topic"},
      {"attention_same_word", "N A", "attention between equal words"},
      {"head_same_topic", "N A", "attention of word pairs of a topic, each of several heads"},
      {"head_other_topic", "N A", "attention of word pairs of two topics, each of several heads"},
      {"head_p", "p", "permutation test of their difference"}};
  for (const std::string quantity : {"cosine", "product", "attention", "attention_positions"}) {
    series.push_back({quantity + "_same_topic", "", "mean over pairs of a topic"});
    series.push_back({quantity + "_other_topic", "", "mean over pairs of two topics"});
    series.push_back({quantity + "_p", "p", "permutation test of their difference, one-sided"});
    if (quantity == "product" || quantity == "attention_positions") continue;
    series.push_back({quantity + "_top_cooccurring", "", "mean over the most co-occurring pairs"});
    series.push_back({quantity + "_top_other_topic", "", "those of them with different topics"});
    series.push_back({quantity + "_matched_difference", "", "same - other at equal co-occurrence"});
    series.push_back({quantity + "_coefficient_topic", "", "regression: of sharing a topic"});
    series.push_back({quantity + "_coefficient_cooccurrence", "", "of log(1 + co-occurrence)"});
  }
  return {.name = "topics-text",
          .question = "Do embeddings and attention group the topic words of a real text?",
          .neglects = "there is no theory: claims only",
          .parameters = parameters(),
          .series = std::move(series),
          .presets = {{"quick", "planted corpus, 10 topics, 500 steps", {{"sim.length", 500}}},
                      {"paper",
                       "a long text: give model.file; blocks of 10 lines, K = 20, 1000 steps",
                       {{"model.documents", "lines"},
                        {"model.lda_topics", 20},
                        {"model.lda_restarts", 1}}}},
          .sources = {topic_source("topic structure of networks trained on real text")},
          .make = [](Configuration& c) -> std::unique_ptr<Experiment> {
            return std::make_unique<Text>(c);
          },
          .figure = figure,
          .agreement = [](const Configuration&) { return std::vector<AgreementRule>{}; },
          .claims = claims};
}

}  // namespace attica
