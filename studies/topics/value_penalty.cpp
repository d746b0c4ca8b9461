/// @file
/// @brief Study topics-value-penalty: the optimal value matrix under uniform attention against the
/// penalty.

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "attica/studies/topics/model.hpp"
#include "attica/theory/topics/loss.hpp"
#include "attica/theory/topics/value.hpp"

namespace attica::topics_value_penalty {
namespace {

/// Of a curve's largest value: what is left of the start and of the noise of 24 runs is 0.02 %.
constexpr double kShare = 0.001;

/// Of the norm of the optimum, after 4000 steps of descent on the population.
constexpr double kDescent = 1e-6;
constexpr std::uint64_t kDescentSteps = 4000;

class Penalty : public PointwiseExperiment {
 public:
  explicit Penalty(const Configuration& c)
      : model_(topic_model(c)),
        algebra_(model_.vocabulary()),
        loss_(attica::topic_loss(c)),
        lambdas_(ascending(c.reals("sweep.lambda"))),
        eta_(c.real("sim.eta")),
        source_(source_options(c, model_)),
        steps_(c.integer<std::uint64_t>("sim.length")) {
    if (model_.infinite() && model_.subset()) require_enumerable(model_);
    if (loss_ == TopicLoss::cross_entropy) {
      require_population(model_);
      require(lambdas_.front() > 0,
              "sweep.lambda",
              lambdas_.front(),
              "penalties > 0: without one the logits of the cross-entropy grow for ever");
    }
    warnings_ = topic_warnings(model_, false);
  }

  TheoryResult theory(TheoryGrid grid) const override {
    Curves entries({}, "lambda", value_names());
    Curves descent({}, "lambda", {"norm_V", "descent_distance"});
    for (const double lambda : line_through(lambdas_, 60, AxisScale::log, grid)) {
      const Commutant w = first_stage_optimum(model_, loss_, lambda);
      const bool averaged = arrives(lambda, steps_ / 2, kShare);
      std::vector<PredictedValue> told;
      for (const double entry : all_values(w)) told.emplace_back(entry, 0, averaged);
      entries.add(lambda, told);
      const bool arrived = arrives(lambda, kDescentSteps, kDescent);
      descent.add(lambda, {{std::sqrt(algebra_.squared_norm(w)), 0, arrived}, {0, 0, arrived}});
    }
    TheoryResult result;
    entries.allow_share(kShare).into(result);
    descent.into(result);
    return result;
  }

  /// SGD at each penalty, then, where the population gradient is known, descent at each.
  std::size_t points() const override {
    return (model_.infinite() && model_.subset() ? 2 : 1) * lambdas_.size();
  }

 protected:
  bool deterministic(std::size_t point) const override { return point >= lambdas_.size(); }

  double flops(std::size_t) const override {
    constexpr double kOfDocument = 8000;
    constexpr double kOfToken = 1000;
    const double tokens =
        model_.infinite() ? 0 : static_cast<double>(model_.settings().length->second);
    return static_cast<double>(source_.batch) * static_cast<double>(steps_) *
           (kOfDocument + kOfToken * tokens);
  }

  Outcome run(const Replicate& replicate) const override {
    const double lambda = lambdas_[replicate.point() % lambdas_.size()];
    return deterministic(replicate.point()) ? descend(lambda) : average(lambda, replicate);
  }

 private:
  TopicNetwork network() const {
    return TopicNetwork({.tokens = model_.vocabulary().size(), .loss = network_loss(loss_)});
  }
  /// Whether so many steps leave less than this share of the optimum's norm. The cross-entropy
  /// flattens out as logits grow; what is sure is that every step brings W nearer by 1 - 2 η λ.
  bool arrives(double lambda, std::uint64_t steps, double share) const {
    const auto n = static_cast<double>(steps);
    if (loss_ != TopicLoss::squared)
      return std::pow(std::max(1 - 2 * eta_ * lambda, 0.0), n) <= share;
    const ValueMoments moments = value_moments(model_);
    const double left = algebra_.squared_norm(value_left(algebra_, moments, eta_, lambda, n));
    return left <= share * share * algebra_.squared_norm(value_optimum(algebra_, moments, lambda));
  }

  TopicTraining training(double lambda, std::vector<std::uint64_t> recorded) const {
    return {.optimiser = {.kind = networks::OptimiserKind::sgd, .learning_rate = eta_},
            .recorded = std::move(recorded),
            .value_penalty = lambda};
  }

  /// Population gradient descent on all entries until they stand still.
  Outcome descend(double lambda) const {
    const TopicBatch batch = population_batch(model_);
    TopicNetwork net = network();
    const Eigen::MatrixXd goal = algebra_.dense(first_stage_optimum(model_, loss_, lambda));
    Curves curves({}, "lambda", {"descent_distance", "norm_V"});
    const auto end = train_topics(
        net,
        training(lambda, {kDescentSteps}),
        [&](std::uint64_t) -> const TopicBatch& { return batch; },
        [&](std::uint64_t, const TopicNetwork& now) {
          curves.add(lambda, {(now.value() - goal).norm() / goal.norm(), now.value().norm()});
        });
    return recorded_run({curves}, end);
  }

  /// SGD, averaged over the second half.
  Outcome average(double lambda, const Replicate& replicate) const {
    TopicSource source(model_, source_, replicate.address());
    TopicNetwork net = network();
    std::vector<std::uint64_t> late(steps_ - steps_ / 2);
    std::iota(late.begin(), late.end(), steps_ / 2 + 1);
    Commutant sum = Commutant::Zero();
    const auto end = train_topics(
        net,
        training(lambda, late),
        std::ref(source),
        [&](std::uint64_t, const TopicNetwork& now) { sum += algebra_.project(now.value()); },
        [&] { return replicate.stopped(); });
    Curves curves({}, "lambda", compared_value_names(model_));
    if (end.status == networks::TrainingStatus::finished) {
      curves.add(lambda, compared_values(model_, sum / static_cast<double>(late.size())));
    }
    return recorded_run({curves}, end);
  }

  TopicModel model_;
  CommutantAlgebra algebra_;
  TopicLoss loss_;
  std::vector<double> lambdas_;
  double eta_;
  TopicSourceOptions source_;
  std::uint64_t steps_;
};

Figure figure(const Configuration& c) {
  const Axis lambda{.label = "penalty {/:Italic λ}", .scale = AxisScale::log};
  return {.name = "topics-value-penalty",
          .panels = {{.x = lambda,
                      .y = {.label = "entry of {/:Italic W}*"},
                      .layers = value_layers(c),
                      .x_name = "lambda"},
                     {.x = lambda,
                      .y = {.label = "norm ‖{/:Italic W}*‖"},
                      .layers = {{.series = "norm_V"}},
                      .x_name = "lambda"}},
          .columns = 1,
          .caption =
              "Optimal value matrix under uniform attention against the penalty: entries of each "
              "class (d = s for infinite documents), and the norm. Lines: penalised optimum; "
              "points of the entries: SGD averaged over its second half, mean and standard error "
              "over runs; points of the norm: gradient descent on the population, where that is "
              "known."};
}

std::vector<AgreementRule> agreement(const Configuration& c) {
  constexpr double kRelative = 0.0005;
  const TopicModel model = topic_model(c);
  // Infinite documents that all have all topics are all the same.
  std::vector<AgreementRule> all =
      value_rules(model,
                  {.d = kRelative, .g = kRelative, .b = kRelative, .s = kRelative},
                  model.infinite() && !model.has_topic_signal());
  // Averages over hundreds of steps have no heavy tails (the skewness of 140 points is that of
  // normal ones).
  for (AgreementRule& rule : all) rule.tails = Tails::normal;
  all.push_back(
      {.series = "descent_distance", .relative = 0, .absolute = kDescent, .deterministic = true});
  all.push_back({.series = "norm_V", .relative = kDescent, .deterministic = true});
  return all;
}

}  // namespace

Study study() {
  return described({.name = "topics-value-penalty",
                    .make = make<Penalty>,
                    .figure = figure,
                    .agreement = agreement});
}

}  // namespace attica::topics_value_penalty
