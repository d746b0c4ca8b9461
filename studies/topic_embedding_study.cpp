/// @file
/// @brief Study topics-embedding: topics in word embeddings, Theorem 1 with a penalty against
/// gradient descent on the embedding.

#include <algorithm>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/sim/topic_sampling.hpp"
#include "attica/studies/topic_setup.hpp"
#include "attica/studies/topic_studies.hpp"
#include "attica/theory/topic_embedding.hpp"

namespace attica {
namespace {

using Eigen::Index;

/// What is read off E: mean inner product of different words of a topic, of words of different
/// topics, and δ, the mean over a topic's words (itself included) minus that over other topics.
struct Contrast {
  double same = 0;
  double other = 0;
  double delta = 0;
};

Contrast contrast_of(const TopicModel& model, const Commutant& e) {
  const double v = model.words();
  const double block = (e[kSameWord] + (v - 1) * e[kSameTopic]) / v;
  return {v > 1 ? e[kSameTopic] : e[kSameWord], e[kOtherTopic], block - e[kOtherTopic]};
}

const std::vector<std::string> kNames = {"delta", "inner_same_topic", "inner_other_topic"};

class Embedding : public TopicExperiment {
 public:
  explicit Embedding(const Configuration& c)
      : model_(topic_model(c)),
        algebra_(model_.vocabulary()),
        penalties_(c.reals("sweep.penalty")),
        eta_(c.real("sim.eta")),
        steps_(c.integer("sim.length")),
        epsilon_(c.real("model.epsilon")) {
    require_squared(c);
    std::sort(penalties_.begin(), penalties_.end());
    static_cast<void>(embedding_contrast(model_, penalties_.front()));
    require_enumerable(model_);
  }

  TheoryResult theory(TheoryGrid grid) const override {
    std::vector<double> penalties = penalties_;
    if (grid == TheoryGrid::run) {
      constexpr int kLine = 60;
      const double top = penalties_.back();
      for (int k = 0; k < kLine; ++k) penalties.push_back(top * k / kLine);
      std::sort(penalties.begin(), penalties.end());
      penalties.erase(std::unique(penalties.begin(), penalties.end()), penalties.end());
    }
    TopicCurves curves(kNames, {}, "penalty");
    for (const double lambda : penalties) {
      const Contrast x = contrast_of(model_, embedding_optimum(model_, lambda).gram);
      curves.record(lambda, {x.delta, x.same, x.other});
    }
    TheoryResult result;
    curves.append_to(result);
    result.diagnostics = {{"limit_without_penalty", 1 / (model_.kappa() * model_.words())}};
    return result;
  }

  std::size_t points() const override { return penalties_.size(); }

 protected:
  bool deterministic(std::size_t) const override { return true; }

  Outcome run(const Piece& piece, std::uint64_t) const override {
    const double lambda = penalties_[piece.point];
    const Index d = model_.vocabulary().size();
    const EmbeddingDescent end = descend_embedding(
        population_batch(model_), epsilon_ * Eigen::MatrixXd::Identity(d, d), eta_, lambda, steps_);
    const Contrast x = contrast_of(model_, algebra_.project(end.gram));
    TopicCurves curves(kNames, {}, "penalty");
    curves.record(lambda, {x.delta, x.same, x.other});
    Outcome outcome;
    curves.append_to(outcome);
    if (piece.point == 0) {
      for (Index i = 0; i < d; ++i) {
        Series row{"gram_entry", {{"row", static_cast<double>(i)}}, "column", {}, {}};
        for (Index j = 0; j < d; ++j) {
          row.x.push_back(static_cast<double>(j));
          row.y.push_back(end.gram(i, j));
        }
        outcome.series.push_back(std::move(row));
      }
    }
    if (!end.gram.allFinite()) {
      outcome.failed = true;
      outcome.status = "diverged";
      outcome.message = "gradient descent on the embedding diverged: sim.eta is too large";
    }
    return outcome;
  }

 private:
  TopicModel model_;
  CommutantAlgebra algebra_;
  std::vector<double> penalties_;
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
                      .x_name = "penalty"},
                     {.x = lambda,
                      .y = {.label = "mean inner product"},
                      .layers = {{.series = "inner_same_topic", .label = "same topic"},
                                 {.series = "inner_other_topic", .label = "other topic"}},
                      .x_name = "penalty"},
                     {.kind = PanelKind::heat_map,
                      .x = {.label = "token"},
                      .y = {.label = "token"},
                      .layers = {{.series = "gram_entry", .theory = false}},
                      .x_name = "column",
                      .y_coordinate = "row",
                      .title = "smallest penalty",
                      .value = {.label = "inner product"}}},
          .columns = 1,
          .caption =
              "Word embeddings trained with uniform attention and a tied decoder: contrast "
              "between words of the same and of other topics, inner products, and the "
              "matrix of inner products. Lines: minimiser in closed form; points: end of "
              "gradient descent on all entries. No randomness, no error bars."};
}

std::vector<AgreementRule> agreement(const Configuration& c) {
  // Descent stops when its last modes still decay: rates of order λ. Inner products are compared on
  // the scale of the contrast.
  constexpr double kDescent = 1e-4;
  const TopicModel model = topic_model(c);
  const double contrast = kDescent / (model.kappa() * model.words());
  std::vector<AgreementRule> rules;
  for (const std::string& name : kNames) {
    rules.push_back({.series = name, .relative = 0, .absolute = contrast, .deterministic = true});
  }
  return rules;
}

}  // namespace

Study topics_embedding() {
  constexpr double kStart = 0.1;
  constexpr double kEta = 0.2;
  constexpr std::int64_t kSteps = 40000;
  std::vector<Parameter> all =
      topic_parameters({.topics = 4, .words = 2, .epsilon = kStart}, {"penalty"});
  const std::vector<Parameter> own = {
      reals_parameter("sweep.penalty",
                      {0.001, 0.003, 0.01, 0.02, 0.03, 0.05, 0.07, 0.09},
                      "lambda of + lambda |W_E|^2",
                      kNotNegative),
      real_parameter("sim.eta", kEta, "learning rate of descent", {.low = 0, .low_open = true}),
      integer_parameter("sim.length", kSteps, "steps of descent"),
      replicates_parameter(8, "independent runs")};
  all.insert(all.end(), own.begin(), own.end());
  return {
      .name = "topics-embedding",
      .question = "Are embeddings of words that share a topic closer?",
      .neglects = "for descent the finite number of steps",
      .parameters = std::move(all),
      .series = {{"delta", "delta", "contrast of E = W_E'W_E between own and other topics"},
                 {"inner_same_topic", "E_ij", "mean over different words of a topic"},
                 {"inner_other_topic", "E_ij", "mean over words of different topics"},
                 {"gram_entry", "E_ij", "all inner products at the smallest penalty"}},
      .presets = {{"quick", "the defaults: T = 4, v = 2", {}},
                  {"paper", "T = 6, v = 5", {{"model.topics", 6}, {"model.words_per_topic", 5}}}},
      .sources = {topic_source("Theorem 1; the penalised version is ours")},
      .make = [](Configuration& c) -> std::unique_ptr<Experiment> {
        return std::make_unique<Embedding>(c);
      },
      .figure = figure,
      .agreement = agreement};
}

}  // namespace attica
