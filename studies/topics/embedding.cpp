/// @file
/// @brief Study topics-embedding: topics in word embeddings, Theorem 1 with a penalty against
/// gradient descent on the embedding.

#include "attica/theory/topics/embedding.hpp"

#include "attica/sim/topics/sampling.hpp"
#include "attica/studies/topics/model.hpp"
#include "attica/theory/topics/value.hpp"

namespace attica::topics_embedding {
namespace {

const std::vector<std::string> kNames = {"delta", "inner_same_topic", "inner_other_topic"};

const std::vector<std::string> kEarlyNames = {
    "early_delta", "early_inner", "early_mask", "early_bias", "early_mask_bias"};

/// E of a word with itself less that of other words of the topic, of words of a topic, of mask and
/// word, and the biases of a word and the mask.
std::vector<double> early_of(const Commutant& e, const Eigen::Vector2d& bias) {
  return {e[kSameWord] - e[kOtherTopic], e[kSameTopic], e[kMaskWord], bias[1], bias[0]};
}

/// What is read off E, in the order of kNames: δ, the mean over a topic's words (itself included)
/// minus that over other topics; mean inner product of different words of a topic, and of words of
/// different topics.
std::vector<double> contrast_of(const TopicModel& model, const Commutant& e) {
  const double v = model.words();
  const double block = (e[kSameWord] + (v - 1) * e[kSameTopic]) / v;
  return {block - e[kOtherTopic], v > 1 ? e[kSameTopic] : e[kSameWord], e[kOtherTopic]};
}

/// Recorded early, where all parts still move.
constexpr std::int64_t kEarly = 20;

class Embedding : public PointwiseExperiment {
 public:
  explicit Embedding(const Configuration& c)
      : model_(topic_model(c)),
        algebra_(model_.vocabulary()),
        lambdas_(ascending(c.reals("sweep.lambda"))),
        eta_(c.real("sim.eta")),
        steps_(c.integer("sim.length")),
        epsilon_(c.real("model.epsilon")) {
    require_squared(c);
    static_cast<void>(embedding_contrast(model_, lambdas_.front()));
    require_enumerable(model_);
  }

  TheoryResult theory(TheoryGrid grid) const override {
    TheoryResult result;
    Curves curves({}, "lambda", kNames);
    for (const double lambda : line_from(0, lambdas_, 60, grid)) {
      curves.add(lambda, contrast_of(model_, embedding_optimum(model_, lambda).gram));
    }
    Curves early({}, "lambda", kEarlyNames);
    const ValueMoments moments = value_moments(model_);
    for (const double lambda : lambdas_) {
      TopicEmbedding now{.gram = scalar_commutant(epsilon_ * epsilon_)};
      for (std::int64_t n = 0; n < kEarly; ++n) {
        now = embedding_step(model_, algebra_, moments, now, eta_, lambda);
      }
      early.add(lambda, early_of(now.gram, now.bias));
      if (lambda == lambdas_.front()) {
        add_constant(result, "word_bias", embedding_optimum(model_, lambda).bias[1]);
      }
    }
    curves.into(result);
    early.into(result);
    result.diagnostics = {{"limit_without_penalty", 1 / (model_.kappa() * model_.words())}};
    return result;
  }

  std::size_t points() const override { return lambdas_.size(); }

 protected:
  bool deterministic(std::size_t) const override { return true; }

  Outcome run(const Replicate& replicate) const override {
    const double lambda = lambdas_[replicate.point()];
    const Eigen::Index d = model_.vocabulary().size();
    const EmbeddingDescent end = descend_embedding(
        population_batch(model_), epsilon_ * Eigen::MatrixXd::Identity(d, d), eta_, lambda, steps_);
    if (!end.gram.allFinite()) {
      return {.series = {},
              .status = "diverged",
              .failed = true,
              .message = "gradient descent on the embedding diverged: sim.eta is too large"};
    }
    const EmbeddingDescent early = descend_embedding(
        population_batch(model_), epsilon_ * Eigen::MatrixXd::Identity(d, d), eta_, lambda, kEarly);
    Outcome outcome;
    Curves({}, "lambda", kEarlyNames)
        .add(lambda, early_of(algebra_.project(early.gram), early.bias.head(2)))
        .into(outcome);
    Curves({}, "lambda", kNames)
        .add(lambda, contrast_of(model_, algebra_.project(end.gram)))
        .into(outcome);
    if (replicate.point() == 0) {
      add_matrix(outcome, "gram_entry", end.gram);
      add_constant(outcome, "word_bias", end.bias[1]);
    }
    return outcome;
  }

 private:
  TopicModel model_;
  CommutantAlgebra algebra_;
  std::vector<double> lambdas_;
  double eta_;
  std::int64_t steps_;
  double epsilon_;
};

Figure figure(const Configuration&) {
  const Axis lambda{.label = "penalty {/:Italic λ}"};
  return {.name = "topics-embedding",
          .panels = {{.x = lambda,
                      .y = {.label = "contrast {/:Italic δ}", .low = 0},
                      .layers = {{.series = "delta", .label = "own − other topics"}},
                      .x_name = "lambda"},
                     {.x = lambda,
                      .y = {.label = "mean inner product"},
                      .layers = {{.series = "inner_same_topic", .label = "same topic"},
                                 {.series = "inner_other_topic", .label = "other topic"}},
                      .x_name = "lambda"},
                     gram_panel("smallest penalty")},
          .columns = 1,
          .caption =
              "Word embeddings trained with uniform attention and a tied decoder: contrast between "
              "words of the same and of other topics, inner products, and the matrix of inner "
              "products. Lines: minimiser in closed form; points: end of gradient descent on all "
              "entries. No randomness, no error bars."};
}

std::vector<AgreementRule> agreement(const Configuration& c) {
  // Descent stops when its last modes still decay: rates of order λ. Inner products are compared on
  // the scale of the contrast.
  constexpr double kDescent = 1e-4;
  const TopicModel model = topic_model(c);
  const double contrast = kDescent / (model.kappa() * model.words());
  std::vector<AgreementRule> all =
      rules(kNames, {.series = {}, .relative = 0, .absolute = contrast, .deterministic = true});
  all.push_back({.series = "word_bias", .relative = kDescent, .deterministic = true});
  constexpr double kRounding = 1e-9;  // the same steps, in few numbers and in all
  for (AgreementRule& rule :
       rules(kEarlyNames,
             {.series = {}, .relative = 0, .absolute = kRounding, .deterministic = true})) {
    all.push_back(std::move(rule));
  }
  return all;
}

}  // namespace

Study study() {
  std::vector<SeriesInfo> series = gram_series();
  series.insert(series.begin(),
                {"delta", "delta", "contrast of E = W_E'W_E between own and other topics"});
  series.push_back({"word_bias", "b", "bias of a word at the end, smallest penalty"});
  for (const auto& [name, meaning] :
       {std::pair{"early_delta", "a word with itself less words of other topics"},
        {"early_inner", "words of a topic"},
        {"early_mask", "mask and word"},
        {"early_bias", "bias of a word"},
        {"early_mask_bias", "bias of the mask"}}) {
    series.push_back({name, "E_ij, b", std::string(meaning) + ", after 20 steps"});
  }
  return {
      .name = "topics-embedding",
      .question = "Are embeddings of words that share a topic closer?",
      .neglects = "for descent the finite number of steps",
      .parameters =
          together({topic_parameters({.topics = 4, .words = 2, .epsilon = 0.1}),
                    {reals_parameter("sweep.lambda",
                                     {0.001, 0.003, 0.01, 0.02, 0.03, 0.05, 0.07, 0.09},
                                     "lambda of + lambda |W_E|^2",
                                     kNotNegative),
                     real_parameter("sim.eta", 0.2, "learning rate of descent", kPositive),
                     integer_parameter("sim.length", 40000, "steps of descent"),
                     replicates_parameter(8, "independent runs")}}),
      .series = std::move(series),
      .presets = {{"quick", "the defaults: T = 4, v = 2", {}},
                  {"paper", "T = 6, v = 5", {{"model.topics", 6}, {"model.words_per_topic", 5}}}},
      .sources = {topic_source("Theorem 1; the penalised version is ours")},
      .make = make<Embedding>,
      .figure = figure,
      .agreement = agreement,
      .plants = {{.name = "mask",
                  .values = {{"model.mask_rate", 0.16}},
                  .meaning = "the rate of masking 0.01 off"},
                 {.name = "factor",
                  .series = "delta",
                  .factor = 0.99,
                  .meaning = "a contrast times 0.99"}},
      .renamed = {{"sweep.penalty", "sweep.lambda"}}};
}

}  // namespace attica::topics_embedding
