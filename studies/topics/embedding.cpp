/// @file
/// @brief Study topics-embedding: topics in word embeddings, Theorem 1 with a penalty against
/// gradient descent on the embedding.

#include "attica/theory/topics/embedding.hpp"

#include "attica/sim/topics/sampling.hpp"
#include "attica/studies/topics/model.hpp"

namespace attica::topics_embedding {
namespace {

const std::vector<std::string> kNames = {"delta", "inner_same_topic", "inner_other_topic"};

/// What is read off E, in the order of kNames: δ, the mean over a topic's words (itself included)
/// minus that over other topics; mean inner product of different words of a topic, and of words of
/// different topics.
std::vector<double> contrast_of(const TopicModel& model, const Commutant& e) {
  const double v = model.words();
  const double block = (e[kSameWord] + (v - 1) * e[kSameTopic]) / v;
  return {block - e[kOtherTopic], v > 1 ? e[kSameTopic] : e[kSameWord], e[kOtherTopic]};
}

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
    Curves curves({}, "lambda", kNames);
    for (const double lambda : line_from(0, lambdas_, 60, grid)) {
      curves.add(lambda, contrast_of(model_, embedding_optimum(model_, lambda).gram));
    }
    TheoryResult result;
    curves.into(result);
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
    Outcome outcome;
    Curves({}, "lambda", kNames)
        .add(lambda, contrast_of(model_, algebra_.project(end.gram)))
        .into(outcome);
    if (replicate.point() == 0) add_matrix(outcome, "gram_entry", end.gram);
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
  return rules(kNames, {.series = {}, .relative = 0, .absolute = contrast, .deterministic = true});
}

}  // namespace

Study study() {
  std::vector<SeriesInfo> series = gram_series();
  series.insert(series.begin(),
                {"delta", "delta", "contrast of E = W_E'W_E between own and other topics"});
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
