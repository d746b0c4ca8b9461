/// @file
/// @brief Study topics-text: do embeddings and attention of a transformer trained on real text
/// group the words of topics found by latent Dirichlet allocation?

#include "attica/sim/topics/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "attica/sim/topics/text_topics.hpp"
#include "attica/solvers/statistics/replicates.hpp"
#include "attica/studies/topics/model.hpp"

namespace attica::topics_text {
namespace {

using Eigen::Index;
using Network = networks::Transformer<float>;

constexpr double kLevel = 0.01;  ///< of the permutation tests
constexpr Index kPlantedTopics = 10;
constexpr double kPurity = 0.95;  ///< asked of a planted corpus
constexpr double kFlat = 0.1;     ///< largest contrast of a network that is not trained
/// The p-value at which a corpus is as extreme as all permutations is 1/1001.
constexpr std::int64_t kPermutations = 1000;

const Choices<TextUnits> kUnits = {{"lines", TextUnits::lines},
                                   {"paragraphs", TextUnits::paragraphs},
                                   {"words", TextUnits::words}};

/// 600 documents of 100 tokens from 10 topics of 20 words: the study's own test.
TextCorpus planted_corpus(const TextOptions& options, std::uint64_t seed) {
  constexpr Index kWords = 20;
  constexpr Index kDocuments = 600;
  constexpr Index kLength = 100;
  constexpr double kConcentration = 0.1;
  RandomStream stream({.seed = seed, .id = StreamId::model});
  return read_text(
      planted_text(kPlantedTopics, kWords, kDocuments, kLength, kConcentration, stream), options);
}

class Text : public PointwiseExperiment {
 public:
  explicit Text(const Configuration& c)
      : planted_(!c.has("model.file")),
        training_{.width = c.integer<int>("model.width"),
                  .layers = c.integer<int>("model.layers"),
                  .heads = c.integer<int>("model.heads"),
                  .tied = c.text("model.decoder") == "tied",
                  .learning_rate = c.real("sim.eta"),
                  .batch = c.integer("sim.batch"),
                  .steps = c.integer("sim.length"),
                  .mask_rate = c.real("model.mask_rate"),
                  .keep_rate = c.real("model.keep_rate"),
                  .random_rate = c.real("model.random_rate")} {
    require(training_.keep_rate + training_.random_rate <= 1,
            "model.random_rate",
            training_.random_rate,
            "keep_rate + random_rate <= 1");
    require(training_.width % training_.heads == 0,
            "model.heads",
            training_.heads,
            "a divisor of model.width");
    TextOptions text{.units = kUnits.of(c, "model.documents"),
                     .unit_size = c.integer("model.unit_size"),
                     .most_words = c.integer("model.vocabulary"),
                     .least_count = c.integer("model.least_count")};
    if (c.has("model.stop_words")) {
      text.stop_words = read_stop_words(c.input_text("model.stop_words"), "model.stop_words");
    }
    TextCorpus corpus;
    if (planted_) {
      text.units = TextUnits::paragraphs;
    } else {
      corpus = read_text(c.input_text("model.file"), text);
      diagnostics_ = {{"documents", corpus.documents.size()},
                      {"vocabulary", corpus.vocabulary.size()}};
      warn(corpus, text, c.integer("model.lda_topics"));
    }
    const TextTopicsOptions options{.lda = {.topics = c.integer("model.lda_topics"),
                                            .alpha = c.real("model.lda_alpha"),
                                            .beta = c.real("model.lda_beta"),
                                            .sweeps = c.integer("model.lda_sweeps"),
                                            .restarts = c.integer("model.lda_restarts")},
                                    .share = c.real("model.share"),
                                    .most = c.integer("model.topic_words")};
    const auto seed = c.seed();
    // The corpus and its topics are those of the master seed, the same for all replicates.
    text_ = std::make_unique<Lazy<TextTopics>>(
        [planted = planted_, corpus = std::move(corpus), text, options, seed] {
          return text_topics(planted ? planted_corpus(text, seed) : corpus, options, seed);
        });
  }

  TheoryResult theory(TheoryGrid grid) const override {
    if (grid == TheoryGrid::requested) {
      throw Error(ErrorKind::input, "topics-text has no theory, only claims: use attica run");
    }
    return {};
  }

  void prepare() const override { text_->get(); }

 protected:
  Outcome run(const Replicate& replicate) const override {
    const TextTopics& text = text_->get();
    const StreamAddress address = replicate.address();
    const auto words = static_cast<Index>(text.corpus.vocabulary.size());
    const auto network = text_network(words, training_, address);
    Outcome outcome;
    measure(*network, text, "untrained", address, outcome);
    const auto end = train_text(
        *network, text.training, training_, address, [&] { return replicate.stopped(); });
    if (end.status == networks::TrainingStatus::finished) {
      measure(*network, text, "trained", address, outcome);
    }
    add_constant(outcome, "topic_words", static_cast<double>(text.topics.words.size()));
    if (planted_) {
      add_constant(outcome, "purity", topic_purity(text.topics, text.corpus.vocabulary));
    }
    mark_end(outcome, end);
    return outcome;
  }

 private:
  void warn(const TextCorpus& corpus, const TextOptions& text, Index topics) {
    warnings_ = corpus.warnings;
    std::int64_t read = 0;
    for (const auto& document : corpus.documents) read += std::ssize(document);
    if (corpus.cut_tokens > read / 10) {
      warnings_.push_back(
          fmt::format("model.file: {} words are read and {} are not, which lie beyond the first {} "
                      "of their document: make documents shorter by model.documents and unit_size",
                      read,
                      corpus.cut_tokens,
                      text.most_tokens));
    }
    if (topics > std::ssize(corpus.documents)) {
      warnings_.push_back(fmt::format("model.lda_topics = {} is above the number of documents, {}",
                                      topics,
                                      corpus.documents.size()));
    }
  }

  void measure(Network& network,
               const TextTopics& m,
               const std::string& name,
               const StreamAddress& address,
               Outcome& outcome) const {
    const Point point = {{"network", name}};
    // Where all of the most co-occurring pairs share a topic some means are empty.
    const auto put = [&](const std::string& series, double value) {
      if (std::isfinite(value)) add_constant(outcome, series, value, point);
    };
    StreamAddress own = address;
    own.id = StreamId::bootstrap;
    const auto contrast_of = [&](const PairValues& pairs) {
      RandomStream stream(own);
      ++own.step;
      return topic_contrast(pairs, m.topics.topics, kPermutations, stream);
    };
    const Eigen::MatrixXd together = document_cooccurrence(m.corpus.documents, m.topics.words);
    const std::vector<TextAttention> heads = text_attention(network, m.held_out, m.topics.words);
    const TextAttention attention = mean_attention(heads);
    const std::array<std::pair<const char*, PairValues>, 4> quantities = {
        {{"cosine", embedding_cosines(network, m.topics.words)},
         {"product", embedding_products(network, m.topics.words)},
         {"attention", attention.by_words()},
         {"attention_positions", attention.by_positions()}}};
    for (const auto& [quantity, pairs] : quantities) {
      const TopicContrast contrast = contrast_of(pairs);
      const std::string q = quantity;
      put(q + "_same_topic", contrast.same);
      put(q + "_other_topic", contrast.other);
      put(q + "_p", contrast.p);
      if (q == "product" || q == "attention_positions") continue;
      // For the figure: classes of pairs side by side.
      Curves bars(point, "class", {q});
      bars.add(1, {contrast.same}).add(2, {contrast.other});
      if (name == "untrained") {
        bars.into(outcome);
        continue;
      }
      const CooccurrenceControl control = cooccurrence_control(pairs, m.topics.topics, together);
      put(q + "_top_cooccurring", control.top);
      put(q + "_top_other_topic", control.top_other);
      put(q + "_matched_difference", control.matched);
      put(q + "_coefficient_topic", control.coefficient);
      put(q + "_coefficient_cooccurrence", control.cooccurrence);
      if (q == "cosine") put("cooccurrence_overlap", control.overlap);
      bars.add(3, {control.top});
      if (std::isfinite(control.top_other)) bars.add(4, {control.top_other});
      bars.into(outcome);
    }
    put("attention_same_word", attention.same_word());
    if (heads.size() == 1) return;
    for (std::size_t k = 0; k < heads.size(); ++k) {
      const auto each = static_cast<std::size_t>(training_.heads);
      const std::size_t layer = k / each + 1;
      const Point place = {{"network", name},
                           {"layer", static_cast<double>(layer)},
                           {"head", static_cast<double>(k % each + 1)}};
      const TopicContrast contrast = contrast_of(heads[k].by_words());
      Curves(place, "none", {"head_same_topic", "head_other_topic", "head_p"})
          .add(0, {contrast.same, contrast.other, contrast.p})
          .into(outcome);
    }
  }

  bool planted_;
  TextTraining training_;
  std::unique_ptr<Lazy<TextTopics>> text_;
};

Figure figure(const Configuration& c) {
  const auto panel = [](const char* series, const char* label) {
    return Panel{.kind = PanelKind::scatter,
                 .x = {.label = "word pairs: 1 one topic, 2 two topics, 3 most co-occurring, "
                                "4 those of two topics",
                       .low = 0.5},
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
          "topic; 2, of two topics; 3, the pairs of highest co-occurrence in documents; 4, those "
          "of class 3 whose topics differ, left out where there are none. Top: cosine of their "
          "embeddings; bottom: attention between them, in units of 1/N. Mean and standard error "
          "over training seeds; before training only classes 1 and 2 are shown, which are level.",
          c.has("model.file") ? c.text("model.file") : "a synthetic corpus")};
}

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  std::vector<ClaimResult> all;
  const auto mean = [](const std::vector<double>& x) { return summarise(x).mean; };
  const auto values = [&](const std::string& series, const std::string& network) {
    return observed.last(series, {{"network", network}});
  };
  for (const std::string quantity : {"cosine", "attention"}) {
    const auto same = values(quantity + "_same_topic", "trained");
    const auto other = values(quantity + "_other_topic", "trained");
    const auto p = values(quantity + "_p", "trained");
    const auto flat_same = values(quantity + "_same_topic", "untrained");
    const auto flat_other = values(quantity + "_other_topic", "untrained");
    const std::string what = quantity == "cosine" ? "embedding cosines" : "attention of word pairs";
    if (same.empty()) continue;
    if (other.size() != same.size() || p.size() != same.size() || flat_same.size() != same.size() ||
        flat_other.size() != same.size()) {
      all.push_back(claim_open(quantity,
                               what + ": same topic above other topics",
                               "not all of its series were recorded"));
      continue;
    }
    const auto trained = [&](const char* end) {
      return ObservedAt(quantity + end, {{"network", std::string("trained")}});
    };
    const auto runs =
        by_replicate(observed, {trained("_same_topic"), trained("_other_topic"), trained("_p")});
    // Uniform attention is 1/N; embeddings are at right angles.
    const double level = quantity == "cosine" ? 0 : 1;
    std::vector<double> off;
    for (std::size_t k = 0; k < flat_same.size(); ++k) {
      off.push_back(std::max(std::abs(flat_same[k] - level), std::abs(flat_other[k] - level)));
    }
    all.push_back(
        claim_rate(quantity,
                   fmt::format("{}: same topic above other topics with p <= {}", what, kLevel),
                   runs.where([](double of_same, double of_other, double p_value) {
                     return of_same > of_other && p_value <= kLevel;
                   }),
                   fmt::format("same {:.3f}, other {:.3f}, largest p {:.4f}",
                               mean(same),
                               mean(other),
                               *std::max_element(p.begin(), p.end())),
                   kHalf));
    all.push_back(
        claim_below(quantity + "-untrained",
                    fmt::format("{}: within {} of {} before training", what, kFlat, level),
                    off,
                    kFlat,
                    fmt::format("same {:.3f}, other {:.3f}", mean(flat_same), mean(flat_other))));
    const auto matched = values(quantity + "_matched_difference", "trained");
    // With more topics than were planted, words of two topics may be of one that was planted.
    const bool one_to_one = !c.has("model.file") && c.integer("model.lda_topics") == kPlantedTopics;
    if (one_to_one && !matched.empty()) {
      all.push_back(claim_above(
          quantity + "-matched",
          fmt::format(
              "{}: same topic above other topics by {} at equal co-occurrence", what, kFlat),
          matched,
          kFlat));
    }
    // Information without a verdict: the paper finds attention below that of co-occurring pairs.
    const double gap = mean(same) - mean(values(quantity + "_top_cooccurring", "trained"));
    all.push_back(
        {.name = quantity + "-cooccurrence",
         .statement = fmt::format("{}: same topic against the most co-occurring pairs", what),
         .verdict = Verdict::none,
         .detail =
             fmt::format("same topic {} by {:+.3f}; same - other at equal co-occurrence {:+.3f}; "
                         "overlap of the two sets {:.2f}",
                         gap > 0 ? "above" : "not above",
                         gap,
                         mean(matched),
                         mean(values("cooccurrence_overlap", "trained")))});
  }
  const auto purity = observed.last("purity");
  // Fewer topics than were planted hold words of several.
  const bool enough = c.integer("model.lda_topics") >= kPlantedTopics;
  if (!c.has("model.file") && enough && !purity.empty()) {
    // One corpus, and its topics are found once.
    all.push_back(claim_certain(
        "purity",
        fmt::format("topic words of the synthetic corpus name one topic, purity >= {}", kPurity),
        purity.front() >= kPurity,
        fmt::format("{:.3f}", purity.front())));
  }
  return all;
}

}  // namespace

Study study() {
  return described({.name = "topics-text", .make = make<Text>, .figure = figure, .claims = claims});
}

}  // namespace attica::topics_text
