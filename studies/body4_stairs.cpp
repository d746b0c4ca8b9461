/// @file
/// @brief Study body4-stairs: the loss of deep factored networks on four-body data falls in stairs,
/// one for every order of interaction.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attica/studies/body_setup.hpp"
#include "attica/studies/potts_setup.hpp"
#include "attica/studies/potts_studies.hpp"

namespace attica {
namespace {

class Stairs : public Experiment {
 public:
  explicit Stairs(const Configuration& c)
      : problem_(lazy_body_problem(c)), starts_(static_cast<std::size_t>(c.integer("sim.starts"))) {
    for (const std::int64_t layers : c.integers("sim.layers")) {
      plans_.push_back(body_training(c, static_cast<int>(layers)));
    }
  }

  TheoryResult theory(TheoryGrid /*grid*/) const override { return body_theory(*problem_.get()); }

  std::size_t points() const override { return plans_.size() * starts_; }
  std::uint64_t replicates_per_piece(std::size_t /*point*/) const override { return 1; }

  std::vector<Outcome> simulate(const Piece& piece) const override {
    const BodyProblem& problem = *problem_.get();
    const DeepFactoredTraining& plan = plans_[piece.point / starts_];
    return each_replicate(piece, [&](std::uint64_t replicate) {
      Series loss{"test_loss",
                  {{"layers", static_cast<double>(plan.shape.layers)},
                   {"start", static_cast<double>(piece.point % starts_)}},
                  "step",
                  {},
                  {}};
      Outcome outcome =
          train_body(problem, plan, piece, replicate, [&](const DeepFactoredRecord& record) {
            loss.x.push_back(static_cast<double>(record.step));
            loss.y.push_back(problem.masked().bayes_loss() + record.excess_loss);
          });
      outcome.series.push_back(std::move(loss));
      return outcome;
    });
  }

 private:
  Lazy<std::unique_ptr<BodyProblem>> problem_;
  std::size_t starts_;
  std::vector<DeepFactoredTraining> plans_;
};

std::unique_ptr<Experiment> make(Configuration& c) { return std::make_unique<Stairs>(c); }

Figure figure(const Configuration& c) {
  Panel panel{.x = {.label = "step", .scale = AxisScale::log},
              .y = {.label = "loss {/:Italic ε} (nats)"},
              .layers = {{.series = "plateau",
                          .label = "plateaus {/:Italic ε_p}",
                          .simulation = false,
                          .reference = true}},
              .x_name = "step"};
  for (const std::int64_t layers : c.integers("sim.layers")) {
    panel.layers.push_back({.series = "test_loss",
                            .label = fmt::format("{} layer{}", layers, layers == 1 ? "" : "s"),
                            .theory = false,
                            .trajectories = true,
                            .only = {{"layers", static_cast<double>(layers)}}});
  }
  return {.name = "body4-stairs",
          .panels = {panel},
          .columns = 1,
          .caption = fmt::format(
              "Deep factored networks trained on sequences with {}-body interactions: loss against "
              "training steps, {} starts each. Dashed: the smallest losses that interactions of "
              "1, 2, ... bodies can reach, from above.",
              c.integer("model.order"),
              c.integer("sim.starts"))};
}

std::vector<AgreementRule> agreement(const Configuration& /*c*/) { return {}; }

/// The losses at the last recorded step of all starts and replicates of one depth, and the smallest
/// loss that any of them showed at any step.
struct Ends {
  std::vector<double> last;
  double smallest = INFINITY;
};

Ends ends_of(const Observed& observed, double layers) {
  Ends ends;
  for (const ObservedCurve& curve : observed.simulation) {
    if (curve.mean.name != "test_loss" || curve.values.empty()) continue;
    if (curve.mean.point.empty() || curve.mean.point.front().second != CoordinateValue(layers)) {
      continue;
    }
    ends.last.insert(ends.last.end(), curve.values.back().begin(), curve.values.back().end());
    for (const std::vector<double>& values : curve.values) {
      for (const double v : values) ends.smallest = std::min(ends.smallest, v);
    }
  }
  return ends;
}

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  constexpr double kClose = 0.02;     // nats, and nearer than half way to the plateau above
  constexpr double kRounding = 1e-5;  // the networks run in single precision
  std::vector<ClaimResult> results;
  for (const std::int64_t layers : c.integers("sim.layers")) {
    const Ends ends = ends_of(observed, static_cast<double>(layers));
    // N layers represent at most 2^(N-1) + 1 bodies.
    const double most = std::exp2(static_cast<double>(layers - 1)) + 1;
    const double order = std::min(most, static_cast<double>(c.integer("model.order")));
    const auto plateau =
        std::find_if(observed.theory.begin(), observed.theory.end(), [&](const Prediction& p) {
          return p.series.name == "plateau" &&
                 p.series.point.front().second == CoordinateValue(order);
        });
    if (plateau == observed.theory.end() || ends.last.empty()) continue;
    const double bound = plateau->series.y.front();
    // Plateaus stand in rising order.
    const double above = std::prev(plateau)->series.y.front();
    const double close = std::min(kClose, (above - bound) / 2);
    const std::string depth = fmt::format("{} layer{}", layers, layers == 1 ? "" : "s");
    results.push_back(claim_in_every(
        fmt::format("bound-{}", layers),
        fmt::format("{} stay above the plateau of order {}, {:.4f} nats", depth, order, bound),
        {ends.smallest >= bound - kRounding},
        fmt::format("smallest loss at any step {:.4f}", ends.smallest)));
    const double best = *std::min_element(ends.last.begin(), ends.last.end());
    results.push_back(claim_in_every(
        fmt::format("reached-{}", layers),
        fmt::format("the best start of {} ends within {:.2g} nats of it", depth, close),
        {best <= bound + close},
        fmt::format("best loss {:.4f}", best)));
  }
  return results;
}

std::vector<Parameter> parameters() {
  return body_parameters(
      {integers_parameter("sim.layers", List{1, 2, 3}, "numbers of layers", {.low = 1, .high = 16}),
       integer_parameter("sim.starts",
                         4,
                         "starts of every depth; some stay on a plateau for long",
                         {.low = 1, .high = 1000}),
       replicates_parameter(1, "repetitions of every start with other data and values")});
}

}  // namespace

Study body4_stairs() {
  return {
      .name = "body4-stairs",
      .question = "Which orders of interaction do deep factored networks learn, and when?",
      .neglects =
          "nothing: the plateaus are exact optima over all predictions of an order, and "
          "the claims are inequalities",
      .parameters = parameters(),
      .series = body_series(),
      .presets =
          {{"quick", "the defaults: L = 6, C = 3, four-body mean field, 16000 steps", {}},
           {"paper",
            "L = 8, beta = 0.4, 60000 steps, 8 starts",
            {{"model.sites", 8}, {"model.beta", 0.4}, {"sim.steps", 60000}, {"sim.starts", 8}}}},
      .sources = {potts_source("interactions beyond pairs: deep factored attention with squares "
                               "between layers; the loss falls in stairs")},
      .make = make,
      .figure = figure,
      .agreement = agreement,
      .claims = claims,
  };
}

}  // namespace attica
