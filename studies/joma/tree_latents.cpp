/// @file
/// @brief Study tree-latents: do hidden units of a trained transformer follow the latents of a
/// hierarchy, more than those of an untrained one?

#include <fmt/format.h>

#include <numeric>

#include "attica/sim/joma/deep.hpp"
#include "attica/studies/joma/model.hpp"
#include "attica/studies/training_end.hpp"

namespace attica::tree_latents {
namespace {

constexpr std::size_t kLevels = 2;

double as_level(std::size_t level) { return static_cast<double>(level); }

class Latents : public PointwiseExperiment {
 public:
  explicit Latents(const Configuration& c)
      : sizes_{.tokens = static_cast<int>(c.integer("model.tokens")),
               .length = static_cast<int>(c.integer("model.length")),
               .units = {},
               .classes = static_cast<int>(c.integer("model.classes")),
               .children = static_cast<int>(c.integer("model.children"))},
        network_{.layers = static_cast<int>(c.integer("model.layers")),
                 .heads = static_cast<int>(c.integer("model.heads")),
                 .width = static_cast<int>(c.integer("model.width")),
                 .mlp_width = static_cast<int>(c.integer("model.hidden")),
                 .eta = c.real("sim.eta"),
                 .lambda = c.real("sim.lambda")},
        batch_(static_cast<int>(c.integer("sim.batch"))),
        steps_(recorded_steps<std::uint64_t>(c)) {
    for (const std::int64_t n : c.integers("model.units")) {
      sizes_.units.push_back(static_cast<int>(n));
    }
    require(sizes_.units.size() == kLevels,
            "model.units",
            static_cast<double>(sizes_.units.size()),
            "two numbers, N_0 and N_1");
    require(network_.width % network_.heads == 0,
            "model.heads",
            network_.heads,
            "a divisor of the width");
    hierarchy(0, c.seed());  // refuses impossible sizes
  }

  TheoryResult theory(TheoryGrid) const override { return {}; }

 protected:
  Outcome run(const Replicate& replicate) const override {
    const LatentHierarchy h = hierarchy(replicate.number, replicate.piece.seed);
    const DeepTask task = hierarchy_task(h, batch_);
    networks::Transformer<float> network = deep_network(network_, task, replicate.address());

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
        network_,
        task,
        steps_,
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
  LatentHierarchy hierarchy(std::uint64_t replicate, std::uint64_t seed) const {
    RandomStream stream({.seed = seed, .id = StreamId::model, .replicate = replicate});
    return {sizes_, stream};
  }

  HierarchySizes sizes_;
  DeepNetwork network_;
  int batch_;
  std::vector<std::uint64_t> steps_;
};

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
  return described({.name = "tree-latents", .make = make<Latents>, .claims = claims});
}

}  // namespace attica::tree_latents
