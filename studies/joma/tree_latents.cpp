/// @file
/// @brief Study tree-latents: do hidden units of a trained transformer follow the latents of a
/// hierarchy, more than those of an untrained one? How the first steps of its training go is
/// compared with the training theory of all classes.

#include <fmt/format.h>

#include <memory>
#include <numeric>
#include <utility>

#include "attica/sim/joma/deep.hpp"
#include "attica/studies/joined_experiments.hpp"
#include "attica/studies/joma/model.hpp"
#include "attica/studies/training_end.hpp"
#include "attica/studies/training_flow.hpp"

namespace attica::tree_latents {
namespace {

constexpr std::size_t kLevels = 2;

double as_level(std::size_t level) { return static_cast<double>(level); }

/// The hierarchies, the network and its training.
struct Plan {
  HierarchySizes sizes;
  DeepNetwork network;
  int batch = 1;
  std::vector<std::uint64_t> steps;
  std::vector<std::uint64_t> early_steps;
  int early_batch = 1;
  std::size_t starts = 1;
  int pairs = 0;

  explicit Plan(const Configuration& c)
      : sizes{.tokens = static_cast<int>(c.integer("model.tokens")),
              .length = static_cast<int>(c.integer("model.length")),
              .units = {},
              .classes = static_cast<int>(c.integer("model.classes")),
              .children = static_cast<int>(c.integer("model.children"))},
        network{.layers = static_cast<int>(c.integer("model.layers")),
                .heads = static_cast<int>(c.integer("model.heads")),
                .width = static_cast<int>(c.integer("model.width")),
                .mlp_width = static_cast<int>(c.integer("model.hidden")),
                .eta = c.real("sim.eta"),
                .lambda = c.real("sim.lambda"),
                .activation = activation_of(c, "model.activation")},
        batch(c.integer<int>("sim.batch")),
        steps(recorded_steps<std::uint64_t>(c)),
        early_batch(c.integer<int>("sim.early_batch")),
        starts(c.integer<std::size_t>("sim.starts")),
        pairs(c.integer<int>("theory.pairs")) {
    for (const std::int64_t n : c.integers("model.units")) {
      sizes.units.push_back(static_cast<int>(n));
    }
    const std::vector<std::int64_t> early = ascending(c.integers("sim.early_steps"));
    early_steps.assign(early.begin(), early.end());
  }

  LatentHierarchy hierarchy(std::uint64_t replicate, std::uint64_t seed) const {
    RandomStream stream({.seed = seed, .id = StreamId::model, .replicate = replicate});
    return {sizes, stream};
  }
};

/// The training of one hierarchy from one start.
class EarlyTraining : public TransformerFlow {
 public:
  EarlyTraining(const Plan& plan, std::uint64_t seed, std::size_t hierarchy)
      : EarlyTraining(plan,
                      hierarchy_task(plan.hierarchy(hierarchy, seed), plan.early_batch),
                      {.seed = seed, .replicate = hierarchy}) {}

  Point point() const override { return {{"hierarchy", static_cast<double>(hierarchy_)}}; }
  const networks::TransformerPopulation<double>& population() const override {
    return *population_;
  }
  TheoryMethod method() const override {
    return {.kind = TheoryMethod::Kind::pairs, .pairs = plan_.pairs};
  }

  networks::TrainingResult train(const Replicate& replicate, const Record& record) const override {
    networks::Transformer<float> network = start();
    return train_deep(
        network,
        plan_.network,
        task_,
        plan_.early_steps,
        replicate.address(),
        {.measure = [&](std::uint64_t) { return values(network); }, .tell = record},
        [&] { return replicate.stopped(); },
        replicate.state_file());
  }

  double flops() const override {
    return 6 * static_cast<double>(population_->parameters() * task_.length * task_.outputs) *
           static_cast<double>(plan_.early_steps.back());
  }

 protected:
  double loss(networks::Transformer<float>& network) const override {
    return network.loss(task_.test.front());
  }
  networks::Batch all_samples() const override { return task_.test.front(); }

 private:
  EarlyTraining(const Plan& plan, DeepTask task, const StreamAddress& address)
      : TransformerFlow(deep_network(plan.network, task, address),
                        deep_optimiser(plan.network),
                        plan.early_batch,
                        plan.early_steps),
        plan_(plan),
        task_(std::move(task)),
        hierarchy_(address.replicate) {
    const auto classes = static_cast<Eigen::Index>(task_.outputs);
    population_ = networks::labelled_population(
        start().shape(),
        task_.test.front(),
        Eigen::MatrixXd::Identity(classes, classes) / static_cast<double>(classes));
    for (const char* block : {"W_E", "layer0.W_V", "layer0.W_1", "W_dec"}) measure_square(block);
    add_all_directions(point());
  }

  const Plan& plan_;
  DeepTask task_;
  std::uint64_t hierarchy_;
  std::unique_ptr<networks::TransformerPopulation<double>> population_;
};

/// Trainings to the end, one hierarchy a replicate.
class Latents : public PointwiseExperiment {
 public:
  explicit Latents(std::shared_ptr<const Plan> plan) : plan_(std::move(plan)) {}

  TheoryResult theory(TheoryGrid /*grid*/) const override { return {}; }

 protected:
  Outcome run(const Replicate& replicate) const override {
    const LatentHierarchy h = plan_->hierarchy(replicate.number, replicate.piece.seed);
    const DeepTask task = hierarchy_task(h, plan_->batch);
    networks::Transformer<float> network = deep_network(plan_->network, task, replicate.address());

    const LatentScorer scorer(h, replicate.stream(StreamId::test_data));
    // Of a level, its own latents and exchanged ones.
    const auto scores_of = [&](const std::vector<Eigen::MatrixXd>& hidden, std::size_t level) {
      return std::pair(scorer.score(hidden[level], level),
                       scorer.score(hidden[level], level, true));
    };
    std::vector<double> untrained;
    std::vector<Curves> scores;  // trained, untrained, permuted, level by level
    std::vector<Curves> gains;
    std::vector<Curves> found;
    std::vector<double> found_untrained;
    Outcome outcome;
    const std::vector<Eigen::MatrixXd> at_start = pooled_hidden(network, task);
    for (std::size_t level = 0; level < kLevels; ++level) {
      const Point point = {{"level", as_level(level)}};
      const std::pair<LatentScore, LatentScore> score = scores_of(at_start, level);
      untrained.push_back(score.first.score);
      add_constant(outcome, "excluded_latents", score.first.excluded, point);
      for (const char* model : {"trained", "untrained", "permuted"}) {
        scores.push_back({joined(point, {{"model", model}}), "step", {"normalised_correlation"}});
      }
      gains.push_back({point, "step", {"learnt_correlation"}});
      found_untrained.push_back(found_share(score.first, score.second));
      for (const char* model : {"trained", "untrained"}) {
        found.push_back({joined(point, {{"model", model}}), "step", {"found_share"}});
      }
    }
    Curves learnt({}, "step", {"test_loss", "accuracy"});
    const auto measure = [&](std::uint64_t step) {
      const DeepRecord record = measure_deep(network, task, step);
      std::vector<double> values = {record.test_loss, record.accuracy};
      const std::vector<Eigen::MatrixXd> hidden = pooled_hidden(network, task);
      std::vector<double> found_now;
      for (std::size_t level = 0; level < kLevels; ++level) {
        const std::pair<LatentScore, LatentScore> score = scores_of(hidden, level);
        values.push_back(score.first.score);
        values.push_back(score.second.score);
        found_now.push_back(found_share(score.first, score.second));
      }
      values.insert(values.end(), found_now.begin(), found_now.end());
      return values;
    };
    const auto tell = [&](std::uint64_t step, const std::vector<double>& values) {
      const auto x = static_cast<double>(step);
      if (outcome.failed || !std::isfinite(values[0])) {
        mark_diverged(outcome, static_cast<std::int64_t>(step));
        return;
      }
      for (std::size_t level = 0; level < kLevels; ++level) {
        const double trained = values[2 + 2 * level];
        // The untrained score is repeated at every record, as the level to compare with.
        scores[3 * level].add(x, {PredictedValue(trained)});
        scores[3 * level + 1].add(x, {PredictedValue(untrained[level])});
        scores[3 * level + 2].add(x, {PredictedValue(values[3 + 2 * level])});
        gains[level].add(x, {PredictedValue(trained - untrained[level])});
        found[2 * level].add(x, {PredictedValue(values[2 + 2 * kLevels + level])});
        found[2 * level + 1].add(x, {PredictedValue(found_untrained[level])});
      }
      learnt.add(x, std::vector<double>{values[0], values[1]});
    };
    const networks::TrainingResult end = train_deep(
        network,
        plan_->network,
        task,
        plan_->steps,
        replicate.address(),
        {.measure = measure, .tell = tell},
        [&] { return replicate.stopped(); },
        replicate.state_file());
    if (learnt.empty()) {
      outcome.series.clear();
    } else {
      for (const auto* all : {&scores, &gains, &found}) {
        for (const Curves& curves : *all) curves.into(outcome);
      }
      learnt.into(outcome);
    }
    if (!outcome.failed) mark_end(outcome, end);
    return outcome;
  }

 private:
  std::shared_ptr<const Plan> plan_;
};

std::unique_ptr<Experiment> make_latents(Configuration& c) {
  auto plan = std::make_shared<const Plan>(c);
  require(plan->sizes.units.size() == kLevels,
          "model.units",
          static_cast<double>(plan->sizes.units.size()),
          "two numbers, N_0 and N_1");
  require(plan->network.width % plan->network.heads == 0,
          "model.heads",
          plan->network.heads,
          "a divisor of the width");
  require(plan->pairs != 1, "theory.pairs", plan->pairs, "0, or at least 2");
  (void)plan->hierarchy(0, c.seed());  // refuses impossible sizes
  auto latents = std::make_unique<Latents>(plan);
  if (plan->pairs == 0) return latents;
  auto early = std::make_unique<TrainingFlow>(
      plan->starts, [plan, seed = c.seed()](std::size_t k) -> std::unique_ptr<FlowTraining> {
        return std::make_unique<EarlyTraining>(*plan, seed, k);
      });
  return std::make_unique<JoinedExperiments>(std::move(early), std::move(latents));
}

std::vector<ClaimResult> claims(const Configuration&, const Observed& observed) {
  const auto values = [&](double level, const char* model) {
    return observed.last("normalised_correlation", {{"level", level}, {"model", model}});
  };
  const auto at_bottom = [](const char* model) {
    return ObservedAt("normalised_correlation", {{"level", 0.0}, {"model", std::string(model)}});
  };
  const auto both = by_replicate(observed, {at_bottom("trained"), at_bottom("permuted")});
  std::string report;
  for (const double level : {0.0, 1.0}) {
    for (const char* model : {"trained", "untrained", "permuted"}) {
      const std::vector<double> all = values(level, model);
      const double sum = std::accumulate(all.begin(), all.end(), 0.0);
      report += fmt::format("level {} {} {:.3f}; ",
                            level,
                            model,
                            all.empty() ? 0 : sum / static_cast<double>(all.size()));
    }
  }
  // The lowest latents are a few tokens each, which units of the start see as well: what is learnt
  // shows at the upper level.
  const auto gains = by_replicate(observed.last("learnt_correlation", {{"level", 1.0}}));
  constexpr double kAccuracy = 0.9;
  const auto accuracy = by_replicate(observed.last("accuracy"));
  return {claim_rate("follows-latents",
                     "trained hidden units follow the lowest latents more closely than "
                     "exchanged ones",
                     both.where([](double trained, double permuted) { return trained > permuted; }),
                     report,
                     kHalf),
          claim_rate("learns-the-upper-level",
                     "training raises the correlation with the upper latents",
                     gains.where([](double gain) { return gain > 0; }),
                     "see follows-latents",
                     kHalf),
          claim_rate("recognises-classes",
                     fmt::format("the share of classes recognised ends at {} or more", kAccuracy),
                     accuracy.where([](double share) { return share >= kAccuracy; }),
                     accuracy.empty()
                         ? ""
                         : fmt::format("smallest {:.3g}", std::ranges::min(accuracy.entries())),
                     kHalf)};
}

}  // namespace

Study study() {
  return described({.name = "tree-latents", .make = make_latents, .claims = claims});
}

}  // namespace attica::tree_latents
