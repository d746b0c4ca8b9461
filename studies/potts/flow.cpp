/// @file
/// @brief Study potts-flow: how factored attention learns in time, the training theory of the
/// population and its limit, gradient flow, against SGD.

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <utility>

#include "attica/sim/potts/masked_samples.hpp"
#include "attica/studies/choices.hpp"
#include "attica/studies/potts/model.hpp"
#include "attica/studies/start_file.hpp"
#include "attica/studies/training_end.hpp"
#include "attica/theory/potts/factored_flow.hpp"
#include "attica/theory/training/first_order.hpp"

namespace attica::potts_flow {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

/// The enumerated model and where learning starts.
struct Problem {
  /// @param seed of a random start
  /// @param from a start from a file, null without one
  Problem(const PottsFamily& family,
          bool deterministic,
          double scale,
          std::uint64_t seed,
          const std::optional<StartFile>& from)
      : samples(family.model(0)), growth(early_growth(samples.states(), model().colours())) {
    RandomStream stream({.seed = seed, .id = StreamId::initialisation});
    start = deterministic ? wave_student(model().sites(), model().colours(), scale)
                          : random_student(model().sites(), model().colours(), scale, stream);
    if (from) {
      const Index sites = model().sites();
      const Index colours = model().colours();
      start.attention = from->matrix("A", {sites, "sites"}, {sites, "sites"});
      start.values = from->matrix("V", {colours, "colours"}, {colours, "colours"});
      // A site does not see itself: what the file has there takes no part.
      start.attention.diagonal().setZero();
    }
    orient(growth, start);
  }

  const PottsModel& model() const { return samples.model(); }
  const WeightedSequences& states() const { return samples.states(); }
  double excess(const FactoredAttention& student) const { return samples.excess()(student); }

  MaskedSamples samples;
  EarlyGrowth growth;
  FactoredAttention start;
};

/// What of training the theory has.
enum class Level {
  flow,     ///< the limit of small rates
  steps,    ///< descent on the population
  batches,  ///< and the first order in 1/B
};

class Flow : public PointwiseExperiment {
 public:
  explicit Flow(Configuration& c)
      : problem_([family = PottsFamily(c).enumerable(),
                  deterministic = c.text("sim.initialisation") == "deterministic",
                  scale = c.real("sim.scale"),
                  seed = c.integer<std::uint64_t>("model.init_seed"),
                  from = StartFile::of(
                      c, {"A", "V"}, {"sim.initialisation", "sim.scale", "model.init_seed"})] {
          return Problem(family, deterministic, scale, seed, from);
        }),
        times_(ascending(c.reals("sim.times"))),
        eta_(c.real("sim.eta")),
        level_(Choices<Level>{
            {"flow", Level::flow}, {"steps", Level::steps}, {"batches", Level::batches}}
                   .of(c, "theory.level")),
        method_{.rank = c.integer("theory.rank"), .hold = c.integer<std::uint64_t>("theory.hold")} {
    constexpr double kMostSteps = 1e9;
    const double last = times_.back();
    require(last == 0 || (last / eta_ >= 0.5 && last / eta_ <= kMostSteps),
            "sim.eta",
            eta_,
            fmt::format("{:g} to {:g}: at least one step, and at most {:g}, up to the last of "
                        "sim.times",
                        last / kMostSteps,
                        2 * last,
                        kMostSteps));
    const auto sites = static_cast<double>(c.integer("model.sites"));
    const auto colours = static_cast<double>(c.integer("model.colours"));
    constexpr double kMostContexts = 1e9;  // minutes
    const double contexts = sites * std::pow(colours, sites - 1);
    require(level_ == Level::flow || contexts * last / eta_ <= kMostContexts,
            "sim.eta",
            eta_,
            fmt::format("at least {:.2g}, for {:g} contexts times steps (the theory holds for any "
                        "stable rate), or theory.level = flow",
                        contexts * last / kMostContexts,
                        kMostContexts));
    training_ = {.optimiser = {.kind = networks::OptimiserKind::sgd, .learning_rate = eta_},
                 .batch = c.integer("sim.batch"),
                 .masked = masked_sites(c),
                 .recorded = {}};
    for (const double time : times_) {
      training_.recorded.push_back(static_cast<std::uint64_t>(std::llround(time / eta_)));
    }
    training_.recorded = ascending(training_.recorded);
    rounded_ = {times_of_steps(c, "sim.times", eta_)};
  }

  TheoryResult theory(TheoryGrid grid) const override {
    const Problem& p = problem_.get();
    std::vector<std::uint64_t> steps = training_.recorded;
    if (grid == TheoryGrid::run) {
      constexpr std::uint64_t kLinePoints = 30;
      const std::uint64_t last = steps.back();
      for (std::uint64_t k = 0; k < kLinePoints; ++k) steps.push_back(last * k / kLinePoints);
      steps = ascending(steps);
    }
    TheoryResult result;
    const OdeResult solution = add_flow(steps, result);
    if (level_ != Level::flow) add_descent(steps, result);

    Curves early({}, "time", {"early_overlap"});
    for (const std::uint64_t step : steps) {
      // The law of the early stage is drawn until it leaves the scale of the couplings.
      const double grown = early_overlap(p.growth, p.start, time_of(step));
      if (std::abs(grown) < 2 * p.model().as_student().attention.norm()) {
        early.add(time_of(step), {{grown, 0, step > 0}});
      }
    }
    early.into(result);
    Curves small({}, "time", {"small_overlap"});
    for (const double time : small_times()) {
      small.add(time, {early_overlap(p.growth, small_start(p.start), time) / kSmaller});
    }
    small.into(result);
    const MaskedContexts contexts(p.states(), p.model().colours());
    const FactoredAttention slope = contexts.gradient(wave());
    add_first_step({-slope.attention, -slope.values}, result);
    result.diagnostics = {
        {"bayes_loss", p.samples.bayes_loss()},
        {"escape_rate", p.growth.singular_value / static_cast<double>(p.model().sites())},
        {"integration", describe(solution)}};
    return result;
  }

  /// SGD; one descent on the population from a start so small that its early law holds; one step
  /// with one masked site a sequence, from a start that is not small.
  std::size_t points() const override { return 3; }

 protected:
  bool deterministic(std::size_t point) const override { return point == 1; }

  double flops(std::size_t /*point*/) const override {
    constexpr double kPerSequence = 2000;
    return kPerSequence * static_cast<double>(training_.batch) *
           static_cast<double>(training_.recorded.back() + 1);
  }

  Outcome run(const Replicate& replicate) const override {
    if (replicate.point() == 1) return small_descent();
    if (replicate.point() == 2) return first_step(replicate);
    const Problem& p = problem_.get();
    const PopulationSampler sampler(p.states());
    Curves learnt({}, "time", {"excess_loss", "leading_overlap"});
    const auto train = [&](const auto& source) {
      return train_factored(
          p.start,
          training_,
          source,
          replicate.address(),
          [&](std::uint64_t step, const FactoredAttention& student) {
            learnt.add(time_of(step), {p.excess(student), leading_overlap(p.growth, student)});
          },
          [&] { return replicate.stopped(); },
          replicate.state_file());
    };
    // In a batch larger than the number of states most sequences are there several times.
    const bool counted =
        training_.masked == MaskedSites::all && p.states().sequences.rows() <= training_.batch;
    const auto end =
        counted
            ? train(
                  StateSource([&](Index n, RandomStream& s) { return sampler.draw_states(n, s); }))
            : train(SequenceSource([&](Index n, RandomStream& s) { return sampler.draw(n, s); }));
    Outcome outcome;
    mark_end(outcome, end);
    if (!learnt.empty()) learnt.into(outcome);
    return outcome;
  }

 private:
  /// Gradient flow at the times of steps: what is compared at level `flow`, else a line to look at.
  OdeResult add_flow(const std::vector<std::uint64_t>& steps, TheoryResult& result) const {
    const Problem& p = problem_.get();
    std::vector<double> from_zero;
    if (steps.front() > 0) from_zero.push_back(0);
    const std::size_t before = from_zero.size();
    for (const std::uint64_t step : steps) from_zero.push_back(time_of(step));
    FactoredFlow flow = factored_flow(p.start, p.states(), from_zero);
    const MaskedContexts contexts(p.states(), p.model().colours());
    const bool compared = level_ == Level::flow;
    Curves limit({}, "time", {"flow_excess", "flow_overlap"});
    Curves learnt({}, "time", {"excess_loss", "leading_overlap"});
    for (std::size_t k = before; k < flow.students.size(); ++k) {
      const FactoredAttention& student = flow.students[k];
      const double excess = contexts.excess_loss(p.model().as_student(), student);
      const double overlap = leading_overlap(p.growth, student);
      limit.add(from_zero[k], {excess, overlap});
      // At time 0 every run is at the start.
      if (compared) learnt.add(from_zero[k], {{excess, 0, k > 0}, {overlap, 0, k > 0}});
    }
    if (compared) learnt.into(result);
    limit.into(result);
    return std::move(flow.solution);
  }

  /// The mean over runs of SGD at its own rate, by the training theory of the population.
  void add_descent(const std::vector<std::uint64_t>& steps, TheoryResult& result) const {
    const Problem& p = problem_.get();
    const FactoredMasked masked(p.samples);
    const GroupedPopulation sequences = masked.sequences();
    const bool one = training_.masked == MaskedSites::one;
    const PopulationModel& model = one ? static_cast<const PopulationModel&>(masked) : sequences;
    const TrainingPlan plan{.start = masked.parameters_of(p.start),
                            .rate = [eta = eta_](std::uint64_t /*step*/) { return eta; },
                            .batch = level_ == Level::batches ? training_.batch : 0,
                            .recorded = steps};
    const std::vector<TrainingTheoryRecord> records = training_theory(
        model,
        plan,
        {[&](const VectorXd& theta) { return leading_overlap(p.growth, masked.student(theta)); }},
        method_);
    Curves learnt({}, "time", {"excess_loss", "leading_overlap"});
    for (const TrainingTheoryRecord& record : records) {
      const bool compared = record.step > 0 && record.undescribed.empty();
      const auto told = [&](const Moment& m, double offset) {
        return PredictedValue(m.value() - offset, m.finite_size(), compared, m.numerical_error);
      };
      learnt.add(time_of(record.step),
                 {told(record.loss, p.samples.bayes_loss()), told(record.observed[0], 0)});
    }
    learnt.into(result);
    if (records.size() < steps.size()) {
      result.warnings.emplace_back("descent on the population diverges: lower sim.eta");
    } else if (!records.back().undescribed.empty()) {
      result.warnings.push_back(records.back().undescribed);
    }
  }

  static constexpr double kSmaller = 1e-3;
  static constexpr int kSmallRecords = 3;

  static FactoredAttention small_start(const FactoredAttention& start) {
    return {kSmaller * start.attention, kSmaller * start.values};
  }

  double escape_rate() const {
    const Problem& p = problem_.get();
    return p.growth.singular_value / static_cast<double>(p.model().sites());
  }

  /// 1, 2 and 3 times the time in which the leading mode grows e-fold.
  std::vector<double> small_times() const {
    std::vector<double> times;
    for (int k = 1; k <= kSmallRecords; ++k) times.push_back(k / escape_rate());
    return times;
  }

  Outcome small_descent() const {
    const Problem& p = problem_.get();
    constexpr int kStepsPerFold = 1000;  // cosh lags by half of a step in as many
    const double eta = 1 / (escape_rate() * kStepsPerFold);
    FactoredAttention student = small_start(p.start);
    FactoredNetwork<double> network(p.model().sites(), p.model().colours());
    network.set(student);
    const std::span<double> parameters = network.parameters().values();
    Curves small({}, "time", {"small_overlap"});
    for (const double time : small_times()) {
      for (int step = 0; step < kStepsPerFold; ++step) {
        network.loss_and_gradient(p.states());
        const std::span<const double> gradient = network.gradient();
        for (std::size_t k = 0; k < parameters.size(); ++k) parameters[k] -= eta * gradient[k];
      }
      small.add(time, {leading_overlap(p.growth, network.values()) / kSmaller});
    }
    Outcome outcome;
    small.into(outcome);
    return outcome;
  }

  FactoredAttention wave() const {
    const PottsModel& model = problem_.get().model();
    return wave_student(model.sites(), model.colours(), 1);
  }

  /// The parts of a step along A and V.
  template <class Result>
  void add_first_step(const FactoredAttention& moved, Result& result) const {
    const FactoredAttention start = wave();
    add_constant(result, "first_step_A", start.attention.cwiseProduct(moved.attention).sum());
    add_constant(result, "first_step_V", start.values.cwiseProduct(moved.values).sum());
  }

  /// A step of rate 1 on many sequences, a random masked site in each.
  Outcome first_step(const Replicate& replicate) const {
    FactoredTraining plan = training_;
    plan.optimiser.learning_rate = 1;
    plan.batch = Index{1} << 15;
    plan.masked = MaskedSites::one;
    plan.recorded = {1};
    const FactoredAttention start = wave();
    Outcome outcome;
    const PopulationSampler sampler(problem_.get().states());
    (void)train_factored(
        start,
        plan,
        SequenceSource([&](Index n, RandomStream& s) { return sampler.draw(n, s); }),
        replicate.address(),
        [&](std::uint64_t /*step*/, const FactoredAttention& student) {
          add_first_step({student.attention - start.attention, student.values - start.values},
                         outcome);
        });
    return outcome;
  }

  /// The time of a step; exactly the configured one where that is a whole number of steps.
  double time_of(std::uint64_t step) const {
    for (const double time : times_) {
      if (std::abs(time / eta_ - static_cast<double>(step)) < 1e-6) return time;
    }
    return static_cast<double>(step) * eta_;
  }

  Lazy<Problem> problem_;
  std::vector<double> times_;
  double eta_;
  Level level_;
  TheoryMethod method_;
  FactoredTraining training_;
};

}  // namespace

Study study() { return described({.name = "potts-flow", .make = make<Flow>}); }

}  // namespace attica::potts_flow
