/// @file
/// @brief Study topics-value-length: the optimal value matrix under uniform attention against the
/// length of documents.

#include <algorithm>
#include <cmath>

#include "attica/sim/topics/sampling.hpp"
#include "attica/studies/topics/model.hpp"
#include "attica/theory/topics/value.hpp"

namespace attica::topics_value_length {
namespace {

using Eigen::Index;

/// model.prior or, unset, both.
std::vector<std::string> priors(const Configuration& c) {
  if (c.has("model.prior")) return {c.text("model.prior")};
  return {"subset", "dirichlet"};
}

/// Allowed for of the largest g, which passes through zero. Its standard error is up to 0.14 % of
/// it.
constexpr double kShare = 0.006;

class Length : public PointwiseExperiment {
 public:
  explicit Length(const Configuration& c)
      : lengths_(ascending(c.integers("sweep.length"))),
        lambda_(topic_penalty(c)),
        tokens_(c.integer("sim.tokens")),
        documents_(c.integer("sim.documents")),
        masks_(c.integer("sim.masks")) {
    require_squared(c);
    TopicSettings settings = topic_settings(c);
    for (const std::string& prior : priors(c)) {
      settings.prior = prior == "subset" ? TopicPrior::subset : TopicPrior::dirichlet;
      priors_.emplace_back(prior, settings);
    }
    require(topic_model(c).vocabulary().topics >= 2, "topics", 1, "topics >= 2");
    for (const auto& [prior, s] : priors_) static_cast<void>(TopicModel(s));
  }

  TheoryResult theory(TheoryGrid grid) const override {
    TheoryResult result;
    std::vector<std::int64_t> lengths;
    for (const double n : line_through(as_reals(lengths_), 60, AxisScale::log, grid)) {
      lengths.push_back(std::llround(n));
    }
    for (const auto& of_prior : priors_) {
      // clang 14 captures no structured bindings.
      const auto& prior = of_prior.first;
      const auto& settings = of_prior.second;
      const CommutantAlgebra algebra(settings.vocabulary);
      const auto optimum = [&](std::int64_t n) -> Commutant {
        return at_point({{"prior", prior}, {"length", static_cast<double>(n)}}, [&] {
          return value_optimum(algebra, value_moments(at_length(settings, n)), lambda_);
        });
      };
      Curves curves({{"prior", prior}}, "length", value_names());
      for (const std::int64_t n : ascending(lengths)) {
        curves.add(static_cast<double>(n), all_values(optimum(n)));
      }
      curves.allow_share(kShare, "value_g").into(result);
      Curves shown({{"prior", prior}}, "length", kShown);
      const double kept = kept_share(settings);
      for (const std::int64_t n : ascending(lengths)) {
        const TopicModel model = at_length(settings, n);
        shown.add(static_cast<double>(n),
                  {{value_moments(model).sigma[kMaskMask], 0, model.masked_share() > 0},
                   {kept, 0, kept > 0}});
      }
      shown.into(result);
      word_shares(prior, settings.vocabulary, [&](Index) {
        return 1 / static_cast<double>(settings.vocabulary.words);
      }).into(result);
      // Of N, not at N = infinity: without a penalty these differ, as within topics both moments
      // are of order 1/N.
      constexpr std::int64_t kLong = 10000000;
      const Commutant limit = optimum(kLong);
      for (const auto& [entry, kind] :
           {std::pair{"d", kSameWord}, {"s", kSameTopic}, {"g", kOtherTopic}, {"b", kWordMask}}) {
        add_constant(
            result, "limit", limit[kind], {{"prior", prior}, {"entry", std::string(entry)}});
      }
    }
    return result;
  }

  std::size_t points() const override { return priors_.size() * lengths_.size(); }

 protected:
  double flops(std::size_t point) const override {
    constexpr double kOfDocument = 3000;  // some 70 ns
    constexpr double kOfToken = 50;
    const std::int64_t n = lengths_[point % lengths_.size()];
    return static_cast<double>(masks_ * documents_of(n)) *
           (kOfDocument + kOfToken * static_cast<double>(n));
  }

  Outcome run(const Replicate& replicate) const override {
    const auto& [prior, settings] = priors_[replicate.point() / lengths_.size()];
    const std::int64_t n = lengths_[replicate.point() % lengths_.size()];
    const TopicModel model = at_length(settings, n);
    const CommutantAlgebra algebra(model.vocabulary());
    RandomStream stream = replicate.stream();
    const SampledMoments m = sample_moments(TopicSampler(model), documents_of(n), masks_, stream);
    Outcome outcome;
    Curves({{"prior", prior}}, "length", compared_value_names(model))
        .add(static_cast<double>(n), compared_values(model, fit_value(algebra, m, lambda_)))
        .into(outcome);
    Curves({{"prior", prior}}, "length", kShown)
        .add(static_cast<double>(n), {m.shown[kMaskMask], m.kept})
        .into(outcome);
    if (n == lengths_.back()) {
      word_shares(prior, model.vocabulary(), [&](Index word) {
        return m.word_shares[word];
      }).into(outcome);
    }
    return outcome;
  }

 private:
  inline static const std::vector<std::string> kShown = {"mask_square", "kept_share"};

  Index documents_of(std::int64_t length) const { return std::max(documents_, tokens_ / length); }

  /// A random word is the true one in one case of Tv.
  static double kept_share(const TopicSettings& settings) {
    const auto words = static_cast<double>(settings.vocabulary.topics * settings.vocabulary.words);
    return settings.keep_rate + settings.random_rate / words;
  }

  /// What the longest documents show of every word, beside the other words of its topic.
  template <class Share>
  static Curves word_shares(const std::string& prior,
                            const TopicVocabulary& vocabulary,
                            const Share& share) {
    Curves curves({{"prior", prior}}, "word", {"word_share"});
    for (Index word = 0; word + 1 < vocabulary.size(); ++word) {
      curves.add(static_cast<double>(word + 1), {share(word)});
    }
    return curves;
  }

  std::vector<std::int64_t> lengths_;
  double lambda_;
  Index tokens_;     ///< of a sample: short documents say less each, and there are more of them
  Index documents_;  ///< fewest of a sample
  Index masks_;      ///< corruptions of each
  std::vector<std::pair<std::string, TopicSettings>> priors_;
};

Figure figure(const Configuration& c) {
  Figure figure{.name = "topics-value-length",
                .panels = {},
                .columns = 1,
                .caption =
                    "Optimal value matrix under uniform attention against the length of "
                    "documents. Lines: exact; dashed: their limit; points: least "
                    "squares on sampled documents, mean and standard error over samples."};
  for (const std::string& prior : priors(c)) {
    Panel panel{.x = {.label = "length {/:Italic N}", .scale = AxisScale::log},
                .y = {.label = "entry of {/:Italic W}*"},
                .layers = value_layers(c),
                .x_name = "length",
                .title = (prior == "dirichlet" ? "Dirichlet" : prior) + " prior"};
    panel.layers.push_back(
        {.series = "limit", .label = "limit of long documents", .reference = true});
    for (Layer& layer : panel.layers) layer.only = {{"prior", prior}};
    figure.panels.push_back(panel);
  }
  return figure;
}

/// The theory is exact for every length; least squares is biased by order 1/documents, below the
/// margin. What documents show has no bias, and tells what W* hardly knows: how the number of masks
/// scatters, and how often a token is kept.
std::vector<AgreementRule> agreement(const Configuration& c) {
  // Without a penalty outputs add up to 1, which makes b = 1/(Tv) for any sample.
  const bool exact = topic_penalty(c) == 0;
  // Standard errors at the defaults: up to 0.29 % of d, 0.19 % of s.
  std::vector<AgreementRule> all =
      value_rules(topic_model(c), {.d = 0.012, .g = 0.003, .b = exact ? 1e-9 : 0.005, .s = 0.008});
  for (AgreementRule& rule : all) {
    if (rule.series == "value_b") rule.deterministic = exact;
  }
  // A share of its topic has none of the spread of topics: that of a sample is as of M draws, M the
  // tokens of the longest documents. The standard error is 0.09 of it at the defaults.
  const auto longest = static_cast<double>(ascending(c.integers("sweep.length")).back());
  const double tokens = std::max(static_cast<double>(c.integer("sim.documents")) * longest,
                                 static_cast<double>(c.integer("sim.tokens")));
  const TopicVocabulary words = topic_settings(c).vocabulary;
  const double spread = std::sqrt(static_cast<double>((words.words - 1) * words.topics) / tokens);
  constexpr double kOfSpread = 0.6;
  all.push_back({.series = "word_share",
                 .relative = 1e-9 + kOfSpread * spread,
                 .deterministic = c.integer("model.words_per_topic") == 1});
  // Five standard errors or more at the defaults.
  constexpr double kShownSquare = 0.003;
  constexpr double kKept = 0.004;
  const TopicModel model = at_length(topic_settings(c), 1);
  all.push_back({.series = "mask_square",
                 .relative = kShownSquare,
                 .deterministic = model.mask_rate() == 1 && model.masked_share() == 1});
  all.push_back(
      {.series = "kept_share", .relative = kKept, .deterministic = model.keep_rate() == 1});
  return all;
}

}  // namespace

Study study() {
  return described({.name = "topics-value-length",
                    .make = make<Length>,
                    .figure = figure,
                    .agreement = agreement});
}

}  // namespace attica::topics_value_length
