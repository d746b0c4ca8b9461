/// @file
/// @brief Study topics-two-stage: first the value matrix, then attention; SGD against the training
/// theory of the population, or against the flow of 24 numbers.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attica/sim/topics/attention_share.hpp"
#include "attica/sim/topics/stages.hpp"
#include "attica/solvers/statistics/replicates.hpp"
#include "attica/studies/topics/model.hpp"
#include "attica/studies/topics/two_stage_training.hpp"
#include "attica/theory/topics/dynamics.hpp"

namespace attica::topics_two_stage {
namespace {

/// The first setting that the flow does not cover.
std::optional<Uncovered> uncovered(const Configuration& c) {
  auto found = first_uncovered(c,
                               {{"sim.optimiser", {"sgd", "momentum"}},
                                {"model.prior", {"subset"}},
                                {"model.initialisation", {"identity", "split"}},
                                {"model.value_initialisation", {"zero", "identity"}},
                                {"model.embedding", {"one_hot"}},
                                {"model.decoder", {"identity", "tied"}},
                                {"sim.data", {"fresh", "population"}}});
  if (found) return found;
  if (c.flag("model.bias")) return Uncovered{"model.bias", "true", "false"};
  if (!topic_settings(c).length) return {};
  return Uncovered{"model.length", "finite", "infinite"};
}

/// Of the largest value of an entry's curve, beside what is relative: see `agreement`.
constexpr std::pair<const char*, double> kFlowShares[] = {{"value_s", 0.015}, {"value_g", 0.03}};
/// At the runs' own rate: of curves that pass through zero.
constexpr std::pair<const char*, double> kShares[] = {{"value_s", 0.006}, {"value_g", 0.02}};

/// Of the fall of the loss by 2 t_V, the most that attention has where values are learnt first.
constexpr double kLargestShare = 0.1;

class TwoStage : public PointwiseExperiment {
 public:
  explicit TwoStage(const Configuration& c)
      : setup_(c),
        algebra_(setup_.model.vocabulary()),
        threshold_(c.real("model.threshold")),
        times_(recorded_times(c, setup_.per_step)),
        source_(source_options(c, setup_.model)),
        uncovered_(uncovered(c)) {
    if (!uncovered_) {
      flow_ = flow_start(c);
      flow_.value = setup_.value;
    }
    rounded_ = {times_of_steps(c, "sim.times", setup_.per_step)};
    warnings_ = topic_warnings(setup_.model, true);
    if (!uncovered_ && !setup_.too_dear.empty()) warnings_.push_back(setup_.too_dear);
  }

  TheoryResult theory(TheoryGrid grid) const override {
    if (uncovered_ && grid == TheoryGrid::requested) uncovered_->refuse();
    if (uncovered_) return {};
    TheoryResult result;
    const StageBoundary b = boundary();
    if (setup_.level == TwoStageLevel::flow) {
      add_flow(grid, b, result);
    } else {
      add_training(grid, result);
    }
    const AttentionOnset onset = attention_onset(setup_.model, setup_.dynamics.scale);
    result.diagnostics = {{"plateau", setup_.plateau},
                          {"topic_contrast", onset.topic_contrast},
                          {"growth_rate", onset.growth_rate}};
    for (const auto& [name, time] : {std::pair{"t_V", b.value_time}, {"t_KQ", b.attention_time}}) {
      const bool reached = std::isfinite(time);
      result.diagnostics.emplace_back(name, reached ? Value(time) : Value("not reached"));
    }
    return result;
  }

  /// t_V and t_KQ of the flow, looked for up to ten times the recorded time.
  StageBoundary boundary() const {
    constexpr double kHorizon = 10;
    StageBoundary found = stage_boundary(setup_.model,
                                         setup_.dynamics,
                                         flow_,
                                         setup_.plateau,
                                         threshold_,
                                         kHorizon * times_.asked().back());
    if (setup_.plateau <= 0) found.value_time = std::numeric_limits<double>::infinity();
    return found;
  }
  bool has_boundary() const { return !uncovered_; }
  /// What the lines of a figure are.
  const char* line() const {
    switch (setup_.level) {
      case TwoStageLevel::flow:
        return "gradient flow";
      case TwoStageLevel::steps:
        return "descent on the population at the rate of the runs";
      case TwoStageLevel::batches:
        break;
    }
    return "mean over runs, descent on the population at their rate with the first order in 1/B";
  }
  /// Whether runs tell the loss of the population, over all topic sets: T = 20 words in as many
  /// topics are the most.
  bool enumerates_loss() const {
    constexpr double kMostEntries = 4e7;  // of the outputs, 320 MB
    if (uncovered_) return false;
    const auto tokens = static_cast<double>(setup_.model.vocabulary().size());
    return topic_sets(setup_.model) * tokens * tokens <= kMostEntries;
  }

  std::size_t points() const override { return 1; }

 protected:
  bool deterministic(std::size_t /*point*/) const override { return setup_.deterministic; }

  Outcome run(const Replicate& replicate) const override {
    TopicSource source(setup_.model, source_, replicate.address());
    TopicNetwork network(setup_.shape);
    const StreamAddress initial = replicate.address(StreamId::initialisation);
    network.start_attention(setup_.start, setup_.epsilon, initial);
    network.start_embedding(initial);
    if (setup_.dynamics.train_value) {
      network.parameters().initialise("W_V", setup_.value_start, initial);
    } else {
      network.set_value(algebra_.dense(setup_.value));
    }
    const auto norms = [&] {
      const auto& p = network.parameters();
      return TopicNorms{
          p.matrix("W_V").map().norm(), p.matrix("W_K").map().norm(), p.matrix("W_Q").map().norm()};
    };
    StageClock clock(threshold_);
    // What attention has gained is asked where both are trained and t_V is known in time.
    std::optional<AttentionShare> attention;
    std::optional<double> share;  // at 2 t_V
    if (setup_.plateau > 0 && setup_.dynamics.train_value && setup_.dynamics.train_attention) {
      constexpr std::uint64_t kBatches = 16;
      const bool all = source_.data == TopicData::population;
      attention.emplace(source, times_.steps().back(), all ? 1 : kBatches, network);
    }
    const double first_stage = kPlateauShare * setup_.plateau;
    Curves curves({}, "time", norm_names());
    Curves entries({}, "time", value_names());
    Curves losses({}, "time", {"loss"});
    std::optional<TopicBatch> population;
    if (enumerates_loss()) population = population_batch(setup_.model);
    std::size_t at = 0;
    const auto end = train_topics(
        network,
        {.optimiser = setup_.optimiser,
         .recorded = times_.steps(),
         .value_penalty = setup_.dynamics.value_penalty,
         .attention_penalty = setup_.dynamics.attention_penalty,
         .train_value = setup_.dynamics.train_value,
         .train_attention = setup_.dynamics.train_attention},
        [&](std::uint64_t step) -> const TopicBatch& {
          const TopicNorms n = norms();
          const double time = static_cast<double>(step) * setup_.per_step;
          clock.look(time, n.value, n.key, n.query);
          if (attention && !share && clock.largest_value() >= first_stage &&
              time >= 2 * *clock.value_time(first_stage)) {
            share = attention->of(network);
          }
          return source(step);
        },
        [&](std::uint64_t, const TopicNetwork&) {
          const double time = times_.realised()[at++];
          const TopicNorms n = norms();
          curves.add(time, {n.value, n.key, n.query});
          if (setup_.shape.width == 0) {
            entries.add(time, all_values(algebra_.project(network.value())));
          }
          if (population) losses.add(time, {network.loss(*population)});
        },
        [&] { return replicate.stopped(); });
    Outcome outcome = recorded_run({curves, entries, losses}, end);
    // Where the first stage has no known end, that of the run stands for it.
    const double plateau = setup_.plateau > 0 ? setup_.plateau : clock.largest_value();
    const std::optional<double> value_time = clock.value_time(kPlateauShare * plateau);
    if (value_time) add_constant(outcome, "t_V", *value_time);
    if (clock.attention_time()) add_constant(outcome, "t_KQ", *clock.attention_time());
    if (share && end.status == networks::TrainingStatus::finished) {
      add_constant(outcome, "attention_share", *share);
      add_constant(outcome, "end_share", attention->of(network));
    }
    if (setup_.shape.width > 0 && end.status == networks::TrainingStatus::finished) {
      const Eigen::MatrixXd embedding = network.parameters().matrix("W_E").map();
      const Eigen::MatrixXd gram = embedding.transpose() * embedding;
      const Commutant means = algebra_.project(gram);
      add_matrix(outcome, "gram_entry", gram);
      if (setup_.model.vocabulary().words > 1) {
        add_constant(outcome, "inner_same_topic", means[kSameTopic]);
      }
      add_constant(outcome, "inner_other_topic", means[kOtherTopic]);
    }
    return outcome;
  }

 private:
  /// The series of the theory.
  Curves predicted() const {
    std::vector<std::string> names = norm_names();
    names.emplace_back("loss");
    for (const std::string& name : value_names()) names.push_back(name);
    return {{}, "time", names};
  }

  void add_flow(TheoryGrid grid, const StageBoundary& boundary, TheoryResult& result) const {
    const TopicFlow flow = whole_topic_flow(
        "two-stage flow", setup_.model, setup_.dynamics, flow_, line_of(times_, 200, grid));
    Curves curves = predicted();
    for (std::size_t k = 0; k < flow.times.size(); ++k) {
      const TopicState& state = flow.states[k];
      const TopicNorms n = topic_norms(algebra_, state);
      const bool compared = flow.times[k] > 0;  // at the start every run is where the flow is
      std::vector<PredictedValue> told;
      for (const double y :
           {n.value, n.key, n.query, topic_loss(setup_.model, setup_.dynamics, state)}) {
        told.emplace_back(y, 0, compared);
      }
      for (const double w : all_values(state.value)) told.emplace_back(w, 0, compared);
      curves.add(flow.times[k], told);
    }
    for (const auto& [name, share] : kFlowShares) curves.allow_share(share, name);
    curves.into(result);
    if (boundary.attention_time < times_.realised().back()) {
      add_constant(result, "t_KQ", boundary.attention_time);
    }
  }

  /// The mean over runs at the rate of the runs.
  void add_training(TheoryGrid grid, TheoryResult& result) const {
    const bool batches =
        setup_.level == TwoStageLevel::batches && source_.data != TopicData::population;
    const TwoStageTraining training(
        setup_, setup_.optimiser, batches ? source_.batch : 0, source_.queries);
    std::vector<std::uint64_t> steps = times_.steps();
    if (grid == TheoryGrid::run) {
      constexpr std::uint64_t kLinePoints = 60;
      const std::uint64_t last = steps.back();
      for (std::uint64_t k = 0; k < kLinePoints; ++k) steps.push_back(last * k / kLinePoints);
      steps = ascending(steps);
    }
    const TwoStageTraining::Means means = training.means(steps, threshold_);
    const std::vector<TrainingTheoryRecord>& records = means.records;
    Curves curves = predicted();
    for (const TrainingTheoryRecord& record : records) {
      const bool compared = record.step > 0 && record.undescribed.empty();
      std::vector<PredictedValue> told;
      for (const Moment& m : record.observed) {
        told.emplace_back(m.value(), m.finite_size(), compared, m.numerical_error);
      }
      if (setup_.mask_row_stays()) {  // but for rounding
        const auto row = told.end() - kCommutantClasses;
        row[kMaskMask] = row[kMaskWord] = PredictedValue(0, 0, compared);
      }
      curves.add(time_of(record.step), told);
    }
    if (batches) {
      for (const auto& [name, share] : kShares) curves.allow_share(share, name);
    } else if (source_.data != TopicData::population) {
      for (const auto& [name, share] : kFlowShares) curves.allow_share(share, name);
    }
    curves.into(result);
    if (records.size() < steps.size()) {
      result.warnings.emplace_back("descent on the population diverges: lower sim.eta");
    } else if (!records.back().undescribed.empty()) {
      result.warnings.push_back(records.back().undescribed);
    }
    if (const auto& step = means.growth_step) {
      const double t = setup_.per_step;
      add_constant(
          result, "t_KQ", {t * step->y, t * step->finite_size, true, t * step->numerical_error});
    }
  }

  double time_of(std::uint64_t step) const {
    const auto recorded = std::ranges::find(times_.steps(), step);
    return recorded == times_.steps().end()
               ? static_cast<double>(step) * setup_.per_step
               : times_.realised()[static_cast<std::size_t>(recorded - times_.steps().begin())];
  }

  TwoStageProblem setup_;
  CommutantAlgebra algebra_;
  double threshold_;
  RecordedTimes times_;
  TopicSourceOptions source_;
  std::optional<Uncovered> uncovered_;
  TopicState flow_;
};

Figure figure(const Configuration& c) {
  Panel panel{.x = {.label = "time {/:Italic t} = {/:Italic η} × steps"},
              .y = {.label = "Frobenius norm"},
              .layers = norm_layers(),
              .x_name = "time"};
  const TwoStage experiment(c);
  if (experiment.has_boundary()) {
    const StageBoundary b = experiment.boundary();
    for (const double t : {b.value_time, b.attention_time}) {
      if (std::isfinite(t)) panel.vertical_marks.push_back(t);
    }
  }
  std::vector<Panel> panels = {panel};
  const bool embedded = c.text("model.embedding") == "trained";
  if (embedded) {
    panels.push_back(gram_panel("end of training"));
  } else {
    panels.push_back({.x = panel.x,
                      .y = {.label = "entry of {/:Italic W}_V"},
                      .layers = value_layers(c),
                      .x_name = "time"});
  }
  std::string caption =
      experiment.has_boundary()
          ? fmt::format(
                "Two stages of learning topics: first the value matrix, then keys and queries. "
                "Lines: {}; points: SGD, mean and standard error over runs; dotted: t_V, where "
                "W_V has 0.9 of its first-stage norm, and t_KQ, where (W_K, W_Q) has grown by the "
                "threshold, in gradient flow.",
                experiment.line())
          : "Norms of the value matrix and of keys and queries in training on topic documents, "
            "mean and standard error over runs. No theory.";
  caption += embedded
                 ? " Map: inner products of the trained embeddings, mean over runs; token 0 is "
                   "the mask, topics are the blocks."
                 : " Below: entries of the value matrix by class.";
  return {.name = "topics-two-stage", .panels = panels, .columns = 1, .caption = caption};
}

/// Relative margins.
struct Margins {
  double value;  ///< of |W_V|
  double attention;
  double time;
  ValueMargins entries;
  double mask_row;
  double loss;
};

// The step is not small against the first stage's relaxation, and gradient noise adds to squared
// norms: both of order η. At the quick preset 1.7 % of the first |W_V|, which relaxes, and 0.5 % of
// all else. Of single entries the step takes 1.3 % (d, s) and 1.5 % (b) of the first value, and 2 %
// of the largest g, which passes through zero. Gradient noise, of order η/B, adds to s as it falls
// again: 1.3 % of its largest value at t = 2000, 0.6 % at half the rate, 0.2 % at four times the
// batch. To the loss it adds 0.13 % once it has settled, and runs scatter to the right.
constexpr Margins kFlow = {.value = 0.03,
                           .attention = 0.01,
                           .time = 0.0125,
                           .entries = {.d = 0.02, .g = 0, .b = 0.0225, .s = 0.02},
                           .mask_row = 0.02,
                           .loss = 0.003};
// What the runs resolve: the theory states its own tolerances.
constexpr Margins kBatches = {.value = 0.004,
                              .attention = 0.005,
                              .time = 0.006,
                              .entries = {.d = 0.005, .g = 0.005, .b = 0.005, .s = 0.005},
                              .mask_row = 0.01,
                              .loss = 0.0015};
// Rounding alone: no run has noise.
constexpr double kRounding = 1e-8;
constexpr Margins kPopulation = {.value = kRounding,
                                 .attention = kRounding,
                                 .time = kRounding,
                                 .entries = {kRounding, kRounding, kRounding, kRounding},
                                 .mask_row = kRounding,
                                 .loss = kRounding};

std::vector<AgreementRule> agreement(const Configuration& c) {
  const TwoStageProblem problem(c);
  const bool population = c.text("sim.data") == "population";
  // Level steps leaves noise out: as much as flow does.
  const Margins& m = problem.level == TwoStageLevel::flow      ? kFlow
                     : population                              ? kPopulation
                     : problem.level == TwoStageLevel::batches ? kBatches
                                                               : kFlow;
  constexpr double kZero = 1e-12;
  // A frozen norm is the same in all runs.
  const bool all = problem.deterministic;
  const std::string& frozen = c.text("sim.frozen");
  std::vector<AgreementRule> rules;
  rules.push_back({.series = "t_KQ", .relative = m.time, .deterministic = all});
  for (const std::string& name : norm_names()) {
    const bool still = frozen == (name == "norm_V" ? "value" : "attention");
    rules.push_back({.series = name,
                     .relative = name == "norm_V" ? m.value : m.attention,
                     .deterministic = all || still});
  }
  const bool still = all || frozen == "value";
  for (AgreementRule& rule : value_rules(problem.model, m.entries, still)) {
    rules.push_back(std::move(rule));
  }
  for (const char* name : {"value_00", "value_0w"}) {
    rules.push_back({.series = name,
                     .relative = m.mask_row,
                     .absolute = kZero,
                     .deterministic = still || problem.mask_row_stays()});
  }
  rules.push_back({.series = "loss", .relative = m.loss, .deterministic = all});
  return rules;
}

/// In words: of the runs that came so far.
std::string mean_time(const std::vector<double>& times) {
  return times.empty() ? "not reached" : fmt::format("{:.4g}", summarise(times).mean);
}

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  std::vector<ClaimResult> results;
  // A free decoder is random at first: the loss falls by its weights as much as by those of W_V.
  if (c.text("sim.frozen") == "none" && c.text("model.decoder") != "free") {
    results.push_back(claim_rate("two-stages",
                                 "the value matrix is learnt first: t_KQ > 2 t_V",
                                 separate_stages(observed),
                                 fmt::format("means t_V = {}, t_KQ = {}",
                                             mean_time(observed.last("t_V")),
                                             mean_time(observed.last("t_KQ")))));
    // Norms say little where the start is large, or next to nothing: see docs/topics.md.
    const auto shares = by_replicate(observed.last("attention_share"));
    if (!shares.empty()) {
      results.push_back(claim_rate(
          "values-first",
          fmt::format("at 2 t_V attention has at most {} of the fall of the loss", kLargestShare),
          shares.where([](double share) { return share <= kLargestShare; }),
          fmt::format("mean {:.3g}", summarise(shares.entries()).mean)));
    }
  }
  if (c.text("model.embedding") == "trained" && c.integer("model.words_per_topic") > 1) {
    const std::vector<double> differences =
        by_replicate(observed, {"inner_same_topic", "inner_other_topic"})
            .of([](double same, double other) { return same - other; });
    results.push_back(claim_above("embedding-blocks",
                                  "embeddings of different words of a topic end with a larger mean "
                                  "inner product than those of words of different topics",
                                  differences,
                                  0,
                                  "difference"));
  }
  return results;
}

}  // namespace

Study study() {
  return described({.name = "topics-two-stage",
                    .make = make<TwoStage>,
                    .figure = figure,
                    .agreement = agreement,
                    .claims = claims});
}

}  // namespace attica::topics_two_stage
