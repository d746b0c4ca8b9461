/// @file
/// @brief Study potts-flow: how factored attention learns in time, gradient flow on the population
/// against SGD with a small learning rate.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/core/lazy.hpp"
#include "attica/sim/factored_attention.hpp"
#include "attica/studies/potts_setup.hpp"
#include "attica/studies/potts_studies.hpp"
#include "attica/studies/training_end.hpp"
#include "attica/theory/factored_flow.hpp"

namespace attica {
namespace {

using Eigen::Index;

/// A = scale sin(1 + i + 2j) off the diagonal, V = scale cos(1 + 2a + c): a start to repeat
/// anywhere.
FactoredAttention deterministic_start(Index sites, Index colours, double scale) {
  FactoredAttention s{Eigen::MatrixXd::NullaryExpr(
                          sites,
                          sites,
                          [=](Index i, Index j) {
                            return i == j ? 0.0
                                          : scale * std::sin(static_cast<double>(1 + i + 2 * j));
                          }),
                      Eigen::MatrixXd::NullaryExpr(colours, colours, [=](Index a, Index c) {
                        return scale * std::cos(static_cast<double>(1 + 2 * a + c));
                      })};
  return s;
}

/// The enumerated model and where learning starts.
struct Problem {
  Problem(const PottsModel& of, bool deterministic, double scale, std::uint64_t seed)
      : model(of),
        excess(model, enumerate(model).states),
        growth(early_growth(excess.population(), model.colours())) {
    if (deterministic) {
      start = deterministic_start(model.sites(), model.colours(), scale);
    } else {
      RandomStream stream({.seed = seed, .id = StreamId::initialisation});
      start = random_student(model.sites(), model.colours(), scale, stream);
    }
    // The sign of a singular pair is free: take the one that grows to positive values.
    const double late = static_cast<double>(model.sites()) / growth.singular_values[0];
    if (early_overlap(growth, start, late) < 0) {
      growth.attention_mode *= -1;
      growth.value_mode *= -1;
    }
  }

  PottsModel model;
  ExcessLoss excess;
  EarlyGrowth growth;
  FactoredAttention start;
};

class Flow : public Experiment {
 public:
  Flow(const PottsFamily& family, const Configuration& c)
      : problem_([family,
                  deterministic = c.text("sim.initialisation") == "deterministic",
                  scale = c.real("sim.scale"),
                  seed = static_cast<std::uint64_t>(c.integer("sim.seed"))] {
          return Problem(family.model(0), deterministic, scale, seed);
        }),
        times_(c.reals("sim.times")) {
    std::sort(times_.begin(), times_.end());
    times_.erase(std::unique(times_.begin(), times_.end()), times_.end());
    rate_ = c.real("sim.eta");
    training_ = {.optimiser = {.kind = networks::OptimiserKind::sgd, .learning_rate = rate_},
                 .batch = c.integer("sim.batch"),
                 .masked = masked_sites(c),
                 .recorded = {}};
    for (const double time : times_) {
      const auto step = static_cast<std::uint64_t>(std::llround(time / rate_));
      if (training_.recorded.empty() || step > training_.recorded.back()) {
        training_.recorded.push_back(step);
      }
    }
  }

  TheoryResult theory(TheoryGrid grid) const override {
    const Problem& p = problem_.get();
    std::vector<double> times = times_;
    if (grid == TheoryGrid::run) {
      times.clear();
      for (const std::uint64_t step : training_.recorded) times.push_back(time_of(step));
      constexpr int kLinePoints = 160;
      const double last = times.back();
      for (int k = 0; k < kLinePoints; ++k) times.push_back(last * k / kLinePoints);
      std::sort(times.begin(), times.end());
      times.erase(std::unique(times.begin(), times.end()), times.end());
    }
    std::vector<double> from_zero = times;
    if (from_zero.front() > 0) from_zero.insert(from_zero.begin(), 0.0);
    const FactoredFlow flow = factored_flow(p.start, p.excess.population(), from_zero);
    const std::size_t skipped = from_zero.size() - times.size();

    Series excess{"excess_loss", {}, "time", times, {}};
    Series overlap{"leading_overlap", {}, "time", times, {}};
    Series early{"early_overlap", {}, "time", {}, {}};
    for (std::size_t k = 0; k < times.size(); ++k) {
      const std::size_t reached = k + skipped;
      const bool known = reached < flow.students.size();
      excess.y.push_back(known ? p.excess(flow.students[reached]) : std::nan(""));
      overlap.y.push_back(known ? leading_overlap(p.growth, flow.students[reached]) : std::nan(""));
      // The law of the early stage is drawn until it leaves the scale of the couplings.
      const double grown = early_overlap(p.growth, p.start, times[k]);
      if (std::abs(grown) < 2 * p.model.as_student().attention.norm()) {
        early.x.push_back(times[k]);
        early.y.push_back(grown);
      }
    }
    TheoryResult result;
    for (Series* series : {&excess, &overlap, &early}) {
      result.predictions.push_back({.series = std::move(*series)});
    }
    // At time 0 every run is at the start: nothing to compare.
    for (Prediction& prediction : result.predictions) {
      for (const double time : prediction.series.x) prediction.compared.push_back(time > 0);
    }
    // SGD rests at a distance from the minimum where its noise, covariance K per sequence, balances
    // the curvature H: H C + C H = (eta/B) K, so that the excess is tr(H C)/2 = (eta/4B) tr K.
    // Twice that is allowed for, with K where the flow has got to: the shares of A and V in the
    // couplings, which the flow conserves, count.
    const double noise = rate_ / (2 * static_cast<double>(training_.batch)) *
                         gradient_variance(p.excess.population(), flow.students.back());
    result.predictions.front().finite_size.assign(times.size(), noise);
    result.diagnostics = {
        {"bayes_loss", p.excess.bayes_loss()},
        {"escape_rate", p.growth.singular_values[0] / static_cast<double>(p.model.sites())},
        {"integration", describe(flow.solution)}};
    return result;
  }

  std::size_t points() const override { return 1; }
  std::uint64_t replicates_per_piece(std::size_t /*point*/) const override {
    constexpr double kUpdatesPerPiece = 1e6;  // of one sequence; about half a second
    const double updates =
        static_cast<double>(training_.batch) *
        static_cast<double>(std::max<std::uint64_t>(training_.recorded.back(), 1));
    return static_cast<std::uint64_t>(std::clamp(kUpdatesPerPiece / updates, 1.0, 100.0));
  }

  std::vector<Outcome> simulate(const Piece& piece) const override {
    const Problem& p = problem_.get();
    const PopulationSampler sampler(p.excess.population());
    const SequenceSource sequences = [&](Index n, RandomStream& s) { return sampler.draw(n, s); };
    const StateSource states = [&](Index n, RandomStream& s) { return sampler.draw_states(n, s); };
    // In a batch larger than the number of states most sequences are there several times.
    const bool counted = training_.masked == MaskedSites::all &&
                         p.excess.population().sequences.rows() <= training_.batch;
    return each_replicate(piece, [&](std::uint64_t replicate) {
      Series excess{"excess_loss", {}, "time", {}, {}};
      Series overlap{"leading_overlap", {}, "time", {}, {}};
      const auto train = [&](const auto& source) {
        return train_factored(
            p.start,
            training_,
            source,
            piece.stream(replicate),
            [&](std::uint64_t step, const FactoredAttention& student) {
              excess.x.push_back(time_of(step));
              excess.y.push_back(p.excess(student));
              overlap.y.push_back(leading_overlap(p.growth, student));
            },
            [&] { return piece.stop.stop_requested(); });
      };
      const auto end = counted ? train(states) : train(sequences);
      overlap.x = excess.x;
      Outcome outcome{.series = {std::move(excess), std::move(overlap)}};
      mark_end(outcome, end);
      return outcome;
    });
  }

 private:
  /// E|g|^2, g the gradient of the loss of one sequence.
  static double gradient_variance(const WeightedSequences& all, const FactoredAttention& student) {
    FactoredAttention g;
    double sum = 0;
    for (Index n = 0; n < all.sequences.rows(); ++n) {
      factored_loss(student, equally_weighted(all.sequences.row(n)), &g);
      sum += all.weights[n] * (g.attention.squaredNorm() + g.values.squaredNorm());
    }
    return sum;
  }

  /// The time of a step; exactly the configured one where that is a whole number of steps.
  double time_of(std::uint64_t step) const {
    for (const double time : times_) {
      if (std::abs(time / rate_ - static_cast<double>(step)) < 1e-6) return time;
    }
    return static_cast<double>(step) * rate_;
  }

  Lazy<Problem> problem_;
  std::vector<double> times_;
  double rate_ = 0;
  FactoredTraining training_;
};

Figure figure(const Configuration& /*c*/) {
  const Axis time{.label = "time {/:Italic t} = {/:Italic η} × steps"};
  Panel excess{.x = time,
               .y = {.label = "excess loss (nats)"},
               .layers = {{.series = "excess_loss", .label = "population gradient flow"}},
               .x_name = "time"};
  excess.residuals = true;
  Panel overlap{.x = time,
                .y = {.label = "⟨{/:Italic u}_1, {/:Italic A}⟩", .scale = AxisScale::log},
                .layers = {{.series = "leading_overlap", .label = "population gradient flow"},
                           {.series = "early_overlap", .label = "cosh law", .reference = true}},
                .x_name = "time"};
  return {.name = "potts-flow",
          .panels = {excess, overlap},
          .columns = 1,
          .caption =
              "Factored attention learning a Potts model: excess loss and overlap of the "
              "attention matrix with the leading correlation mode. Lines: gradient flow on "
              "the population; dashed: its linear early stage, A(t) = A(0) cosh(st) + V(0) "
              "sinh(st) along "
              "the leading mode, which the flow follows as far as the start is small; points: SGD, "
              "mean and "
              "standard error over runs; band: declared margin."};
}

constexpr double kMargin = 0.02;  // learning rate and noise are small, not zero: docs/potts.md

std::vector<AgreementRule> agreement(const Configuration& /*c*/) {
  return {{.series = "excess_loss", .relative = kMargin},
          {.series = "leading_overlap", .relative = kMargin}};
}

std::vector<Parameter> parameters() {
  std::vector<Parameter> all = potts_model_parameters({.sites = 5, .colours = 3, .beta = 0.8});
  const std::vector<Parameter> own = {
      reals_parameter("sim.times",
                      {0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 80.0, 100.0, 130.0, 160.0},
                      "recorded times, learning rate x steps",
                      {.low = 0, .high = 1e7}),
      word_parameter("sim.initialisation",
                     "small",
                     "start: small, independent normals of deviation scale; deterministic, "
                     "A = scale sin(1+i+2j), V = scale cos(1+2a+c)",
                     {"small", "deterministic"}),
      real_parameter("sim.scale", 0.3, "scale of the start", kPositive),
      real_parameter("sim.eta", 0.0125, "learning rate of SGD", kPositive),
  };
  all.insert(all.end(), own.begin(), own.end());
  for (Parameter& p : masked_batch_parameters(2048)) all.push_back(std::move(p));
  all.push_back(replicates_parameter(40, "independent training runs from the same start"));
  return all;
}

std::unique_ptr<Experiment> make(Configuration& c) {
  const PottsFamily family = PottsFamily::from(c);
  family.require_enumerable();
  return std::make_unique<Flow>(family, c);
}

}  // namespace

Study potts_flow() {
  return {
      .name = "potts-flow",
      .question = "How does factored attention find the couplings in time?",
      .neglects =
          "the finite learning rate, which delays leaving saddle points, and the noise of SGD, of "
          "order learning rate / batch, which lifts the mean there and at the end",
      .parameters = parameters(),
      .series = {{"excess_loss",
                  "ε - ε_opt",
                  "divergence of the learnt conditionals from the true ones, nats per masked site"},
                 {"leading_overlap",
                  "⟨u_1, A⟩",
                  "overlap of A with the leading left singular vector of the pair correlations"},
                 {"early_overlap", "cosh law", "the same while A and V are small (theory)"}},
      .presets = {{"quick", "the defaults: L = 5, C = 3, beta = 0.8, 40 runs of batch 2048", {}},
                  {"paper",
                   "L = 8, C = 4",
                   {{"model.sites", 8}, {"model.colours", 4}, {"sim.replicates", 200}}}},
      .sources = {potts_source("factored attention trained by SGD on the masked loss")},
      .make = make,
      .figure = figure,
      .agreement = agreement,
      .recipes = {{.name = "potts-flow-large-steps",
                   .meaning = "80 times the default learning rate: SGD leaves the flow.",
                   .values = {{"sim.eta", 1.0}}}},
  };
}

}  // namespace attica
