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
  return described({.name = "topics-embedding", .make = make<Embedding>, .agreement = agreement});
}

}  // namespace attica::topics_embedding
