/// @file
/// @brief Study positional-phase: where attention is positional and where semantic, in the plane of
/// the teacher's strength and share of position.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attica/core/parallel.hpp"
#include "attica/sim/icl/positional.hpp"
#include "attica/studies/icl/positional.hpp"
#include "attica/theory/icl/positional.hpp"

namespace attica::positional_phase {
namespace {

const std::vector<std::string> kEnds = {"e_end", "m_end"};
const std::vector<std::string> kLosses = {"semantic_loss", "positional_loss"};
const std::vector<std::string> kBetween = {"between_loss", "between_gradient"};
/// Neither state, and off the diagonal.
constexpr PositionalOverlaps kBetweenStates{.e = 0.6, .m = 0.5};
constexpr PositionalOverlaps kSemantic{.e = 0, .m = 1};
constexpr PositionalOverlaps kPositional{.e = 1, .m = 0};

class PositionalPhase : public PointwiseExperiment {
 public:
  explicit PositionalPhase(const Configuration& c)
      : setup_(c),
        strengths_(ascending(c.reals("sweep.a"))),
        omegas_(ascending(c.reals("sweep.omega"))),
        steps_(setup_.steps(c.real("sim.horizon"), "sim.horizon")) {
    if (setup_.start.e == 0 && setup_.start.m == 0) {
      warnings_.emplace_back("the start is a saddle, where the flow stays: ends are not compared");
    }
  }

  TheoryResult theory(TheoryGrid grid) const override {
    TheoryResult result;
    constexpr int kParts = 40;  // for overlaps that jump
    const PositionalMoments& moments = moments_.get();
    const std::vector<double> omegas = line_between(omegas_, AxisScale::linear, grid, kParts);
    const std::vector<double> horizon = {setup_.time(steps_)};
    for (const double a : strengths_) {
      Curves losses({{"a", a}}, "omega", kLosses);
      Curves ends({{"a", a}}, "omega", kEnds);
      Curves between({{"a", a}}, "omega", kBetween);
      Curves decided({{"a", a}}, "omega", {"decided"});
      const auto paths = parallel_map(omegas, [&](double omega) {
        return predicted_path(landscape_.get(), {a, omega}, setup_, horizon);
      });
      for (std::size_t k = 0; k < omegas.size(); ++k) {
        const double omega = omegas[k];
        const PositionalTask task{a, omega};
        // Without position in the teacher the semantic loss vanishes, and runs end at one point.
        losses.add(
            omega,
            {{semantic_loss(moments, task), 0, omega > 0}, {positional_loss(moments, task)}});
        const PositionalTerms terms = landscape_.get().terms(task, kBetweenStates);
        between.add(omega, {{terms.loss}, {terms.scatter}});
        const PositionalPath& path = paths[k];
        const PositionalOverlaps& end = path.overlaps.back();
        const PositionalOverlaps& allowed = path.allowances.back();
        const bool compared = path.compared(task, 0);
        ends.add(omega, {{end.e, allowed.e, compared}, {end.m, allowed.m, compared}});
        decided.add(omega, {{path.decided ? 1.0 : 0.0, 0, false}});
      }
      losses.into(result);
      between.into(result);
      ends.into(result);
      decided.into(result);
    }
    phase_diagram(grid, result);
    return result;
  }

  /// Runs at every strength, then second derivatives at each.
  std::size_t points() const override { return 2 * strengths_.size(); }

 protected:
  bool deterministic(std::size_t point) const override { return point >= strengths_.size(); }

  double flops(std::size_t point) const override {
    constexpr double kSecond = 1e9;
    if (deterministic(point)) return kSecond;
    const auto shares = static_cast<std::int64_t>(omegas_.size());
    return setup_.flops(shares * steps_ + (2 * shares + 3) * setup_.test_pairs);
  }

  Outcome run(const Replicate& replicate) const override {
    const double a = strengths_[replicate.point() % strengths_.size()];
    if (deterministic(replicate.point())) return bends(a);
    RandomStream stream = replicate.stream();
    RandomStream tests = replicate.stream(StreamId::test_data);
    const auto loss = [&](double omega, const PositionalOverlaps& at) {
      return sampled_positional_loss({a, omega}, at, setup_.test_pairs, tests);
    };
    Curves losses({{"a", a}}, "omega", kLosses);
    Curves ends({{"a", a}}, "omega", kEnds);
    Curves between({{"a", a}}, "omega", kBetween);
    for (const double omega : omegas_) {
      PositionalStudent student(setup_.start, setup_.dimension);
      for (std::int64_t step = 0; step < steps_; ++step) {
        constexpr std::int64_t kOften = 100000;
        if (step % kOften == 0 && replicate.stopped()) return {};
        student.step({a, omega}, setup_.eta, stream);
      }
      ends.add(omega, std::vector<double>{student.overlaps().e, student.overlaps().m});
      losses.add(omega, std::vector<double>{loss(omega, kSemantic), loss(omega, kPositional)});
      double gradient = 0;
      const double there =
          sampled_positional_loss({a, omega}, kBetweenStates, between_pairs(), tests, &gradient);
      between.add(omega, std::vector<double>{there, gradient});
    }
    Outcome outcome;
    losses.into(outcome);
    between.into(outcome);
    ends.into(outcome);
    // The difference of the two losses is linear in ω; at ω = 0 the semantic one vanishes.
    const double at_zero = loss(0, kPositional);
    const double at_one = loss(1, kPositional) - loss(1, kSemantic);
    Curves({}, "a", {"omega_switch"})
        .add(a, std::vector<double>{at_zero / (at_zero - at_one)})
        .into(outcome);
    return outcome;
  }

 private:
  std::int64_t between_pairs() const { return (setup_.test_pairs + 3) / 4; }

  /// The shares at which a second derivative vanishes that is linear in ω: where descent from the
  /// origin turns, or a state ceases to be stable.
  static Outcome bends(double a) {
    Outcome outcome;
    const auto vanishing = [&](const char* name, const auto& bent) {
      const double zero = bent(PositionalTask{a, 0});
      const double one = bent(PositionalTask{a, 1});
      const double share = zero / (zero - one);
      if (share < 0 || share > 1) return;  // nowhere
      Curves({}, "a", {name}).add(a, std::vector<double>{share}).into(outcome);
    };
    vanishing("omega_direction", [](const PositionalTask& task) {
      return positional_curvature(task, {}, kPositional) -
             positional_curvature(task, {}, kSemantic);
    });
    vanishing("omega_semantic", [](const PositionalTask& task) {
      return positional_curvature(task, kSemantic, kPositional);
    });
    vanishing("omega_positional", [](const PositionalTask& task) {
      return positional_curvature(task, kPositional, kSemantic);
    });
    return outcome;
  }

  /// Lines against a, and the difference of the two losses over the plane.
  void phase_diagram(TheoryGrid grid, TheoryResult& result) const {
    const PositionalMoments& moments = moments_.get();
    std::vector<double> strengths = strengths_;
    std::vector<double> shares = omegas_;
    if (grid == TheoryGrid::run) {
      // Cells of a heat map are even; lines are told at the simulated strengths as well.
      constexpr int kCells = 25;
      const auto even = [](double low, double high) {
        std::vector<double> values;
        for (int k = 0; k < kCells; ++k) values.push_back(low + (high - low) * k / (kCells - 1));
        return values;
      };
      constexpr double kLowest = 0.4;
      strengths = even(strengths_.front(), strengths_.back());
      shares = even(kLowest, 1);
    }
    for (const double omega : shares) {
      Curves row({{"omega", omega}}, "a", {"loss_difference"});
      for (const double a : ascending(strengths)) {
        const PositionalTask task{a, omega};
        row.add(a, {positional_loss(moments, task) - semantic_loss(moments, task)});
      }
      row.into(result);
    }
    // A simulated strength once, as it was given.
    std::erase_if(strengths, [&](double a) {
      return std::any_of(strengths_.begin(), strengths_.end(), [&](double given) {
        return std::abs(given - a) < 1e-9;
      });
    });
    strengths.insert(strengths.end(), strengths_.begin(), strengths_.end());
    strengths = ascending(std::move(strengths));
    std::vector<PositionalTransitions> transitions;
    Curves switches({}, "a", {"omega_switch"});
    for (const double a : strengths) {
      transitions.push_back(positional_transitions(moments, a));
      switches.add(a, {Told(transitions.back().global)});  // above 1: extrapolated, never reached
    }
    switches.into(result);
    const auto basins = parallel_map(strengths, [this](double a) { return basin_edge(a); });
    // A share outside [0, 1] says that there is no such transition.
    const auto line = [&](const char* name, const auto& share) {
      Curves curve({}, "a", {name});
      for (std::size_t k = 0; k < strengths.size(); ++k) {
        const double omega = share(k);
        if (omega > 0 && omega < 1) curve.add(strengths[k], {Told(omega)});
      }
      if (!curve.empty()) curve.into(result);
    };
    line("omega_direction", [&](std::size_t k) { return transitions[k].direction; });
    line("omega_semantic", [&](std::size_t k) { return transitions[k].semantic_below; });
    line("omega_positional", [&](std::size_t k) { return transitions[k].positional_above; });
    line("omega_basin", [&](std::size_t k) { return basins[k]; });
  }

  /// The share at which the flow from the start begins to end at the positional state; 1 if none.
  double basin_edge(double a) const {
    const std::vector<double> horizon = {setup_.time(steps_)};
    const auto positional = [&](double omega) {
      const auto path =
          positional_flow(landscape_.get(), {a, omega}, setup_.start, setup_.eta, horizon);
      return std::abs(path.back().e) > std::abs(path.back().m);
    };
    double low = 0;
    double high = 1;
    if (positional(low) || !positional(high)) return 1;
    constexpr double kNear = 1e-4;
    while (high - low > kNear) {
      const double middle = (low + high) / 2;
      (positional(middle) ? high : low) = middle;
    }
    return (low + high) / 2;
  }

  PositionalSetup setup_;
  std::vector<double> strengths_;
  std::vector<double> omegas_;
  std::int64_t steps_;
  Lazy<PositionalLandscape> landscape_{[] { return PositionalLandscape(); }};
  Lazy<PositionalMoments> moments_{[] { return PositionalMoments(); }};
};

Figure figure(const Configuration&) {
  const std::string share = "share of position {/:Italic ω}";
  const auto line = [](const char* series, const char* label) {
    return Layer{.series = series, .label = label, .simulation = false};
  };
  return {
      .name = "positional-phase",
      .panels = {{.kind = PanelKind::heat_map,
                  .x = {.label = "strength of position {/:Italic a}"},
                  .y = {.label = share, .low = 0.4, .high = 1.0},
                  .layers = {{.series = "loss_difference", .simulation = false},
                             {.series = "omega_switch", .label = "lower loss"},
                             line("omega_basin", "flow from the start"),
                             line("omega_direction", "flow from 0"),
                             line("omega_semantic", "semantic minimum"),
                             line("omega_positional", "positional minimum")},
                  .x_name = "a",
                  .y_coordinate = "omega",
                  .value = {.label = "loss difference"}},
                 {.x = {.label = share},
                  .y = {.label = "overlap at the end"},
                  .layers = {{.series = "m_end", .label = "{/:Italic m}, {/:Italic a} = {a}"},
                             {.series = "e_end",
                              .label = "{/:Italic e}, {/:Italic a} = {a}",
                              .hollow = true}},
                  .x_name = "omega"},
                 {.x = {.label = share},
                  .y = {.label = "loss {/:Italic L}"},
                  .layers = {{.series = "semantic_loss", .label = "semantic, {/:Italic a} = {a}"},
                             {.series = "positional_loss",
                              .label = "positional, {/:Italic a} = {a}",
                              .hollow = true}},
                  .x_name = "omega"}},
      .columns = 1,
      .caption =
          "Attention between two tokens with a teacher of strength a and share ω of position. Map: "
          "loss of the positional minus that of the semantic state, and the shares above which "
          "position has the lower loss, attracts the flow from the start and from 0, the "
          "semantic state is no minimum, the positional one is. Points: overlaps after online SGD, "
          "losses on fresh pairs and the share at which they are equal, mean and standard error."};
}

std::vector<AgreementRule> agreement(const Configuration&) {
  constexpr double kOverlap = 0.005;
  constexpr double kLoss = 0.01;
  std::vector<AgreementRule> all =
      rules({"e_end", "m_end"}, {.series = {}, .relative = 0, .absolute = kOverlap});
  for (const AgreementRule& rule : rules(kLosses, {.series = {}, .relative = kLoss})) {
    all.push_back(rule);
  }
  all.push_back({.series = "omega_switch", .relative = kLoss});
  constexpr double kFewer = 0.02;  // a quarter of the pairs
  for (AgreementRule& rule : rules(kBetween, {.series = {}, .relative = kFewer})) {
    all.push_back(std::move(rule));
  }
  // Against sums over a grid, 0.07 % off.
  constexpr double kGrid = 0.002;
  for (AgreementRule& rule : rules({"omega_direction", "omega_semantic", "omega_positional"},
                                   {.series = {}, .relative = kGrid, .deterministic = true})) {
    all.push_back(std::move(rule));
  }
  return all;
}

/// The value of a theory's curve at x.
std::optional<double> told_at(const Observed& observed,
                              const char* series,
                              const Point& point,
                              double x) {
  for (const Prediction& p : observed.theory) {
    if (p.series.name != series || p.series.point != point) continue;
    for (std::size_t k = 0; k < p.series.x.size(); ++k) {
      if (p.series.x[k] == x) return p.series.y[k];
    }
  }
  return {};
}

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  std::vector<bool> same;
  for (const double a : ascending(c.reals("sweep.a"))) {
    const Point point = {{"a", a}};
    const ObservedCurve* e = observed.curve("e_end", point);
    const ObservedCurve* m = observed.curve("m_end", point);
    if (e == nullptr || m == nullptr) continue;
    for (std::size_t k = 0; k < e->mean.x.size(); ++k) {
      const double omega = e->mean.x[k];
      if (told_at(observed, "decided", point, omega).value_or(0) != 1) continue;
      const auto e_end = told_at(observed, "e_end", point, omega);
      const auto m_end = told_at(observed, "m_end", point, omega);
      if (!e_end || !m_end) continue;
      for (std::size_t r = 0; r < e->values[k].size(); ++r) {
        same.push_back(state_of({e->values[k][r], m->values[k][r]}) == state_of({*e_end, *m_end}));
      }
    }
  }
  // Where one side has no such transition nothing is compared.
  bool equal = true;
  int found = 0;
  for (const char* name : {"omega_direction", "omega_semantic", "omega_positional"}) {
    const ObservedCurve* bends = observed.curve(name);
    for (const double a : ascending(c.reals("sweep.a"))) {
      const bool seen = bends != nullptr && std::ranges::count(bends->mean.x, a) > 0;
      equal = equal && seen == told_at(observed, name, {}, a).has_value();
      found += seen ? 1 : 0;
    }
  }
  return {basin_claim(same),
          claim_certain("transitions",
                        "second derivatives vanish at a share between 0 and 1 where the theory has "
                        "a transition, and nowhere else",
                        equal,
                        fmt::format("{} of them", found))};
}

}  // namespace

Study study() {
  std::vector<double> shares;
  for (int k = 4; k <= 10; ++k) shares.push_back(k / 10.0);
  return {
      .name = "positional-phase",
      .question = "At which share of position does attention turn from semantic to positional?",
      .neglects =
          "of the losses nothing; of the ends of runs finite dimension, 0.5/d, and what the "
          "scatter "
          "of runs makes of their mean; ends near the edge of a basin are not compared",
      .outside =
          "ends of starts that within three standard deviations end in different states, where "
          "runs have no common mean, and at omega = 0 all semantic ones, where the loss vanishes "
          "and all runs are one point",
      .parameters = together({positional_parameters(200, 0.4, 4000),
                              {reals_parameter("sweep.a",
                                               {0.7, 0.85, 1.0},
                                               "strength of the teacher's positional attention",
                                               {.low = 0, .high = 10, .low_open = true}),
                               reals_parameter("sweep.omega",
                                               {0.3, 0.5, 0.9},
                                               "share of positional attention in the teacher",
                                               {.low = 0, .high = 1}),
                               real_parameter("sim.horizon", 60, "length of a run", kPositive),
                               replicates_parameter(240, "independent runs at every strength")}}),
      .series =
          {{"semantic_loss", "L(0,1)", "loss of the semantic state"},
           {"positional_loss", "L(1,0)", "loss of the positional state"},
           {"e_end", "e", "overlap with position at the end of a run"},
           {"m_end", "m", "overlap with the teacher's direction there"},
           {"between_loss", "L", "loss at e = 0.6, m = 0.5"},
           {"between_gradient", "", "mean square of the loss's derivatives by q_1, q_2 there"},
           {"omega_switch", "omega_c", "share at which both states have the same loss"},
           {"omega_direction",
            "",
            "share above which descent from the origin starts towards position (theory)"},
           {"omega_semantic", "", "share below which the semantic state is a minimum (theory)"},
           {"omega_positional", "", "share above which the positional state is a minimum (theory)"},
           {"omega_basin", "", "share above which the flow from the start ends there (theory)"},
           {"loss_difference", "", "positional minus semantic loss (theory)"},
           {"decided", "", "1 where starts within three deviations end in one state (theory)"}},
      .presets = {{"quick", "the defaults: a 0.7, 0.85, 1, d = 200, 240 runs", {}},
                  {"paper",
                   "a 0.7, 0.85, 1, omega 0.4 to 1, d = 400, eta 0.2, 300 runs",
                   {{"model.dimension", 400},
                    {"sim.eta", 0.2},
                    {"sim.test_pairs", 20000},
                    {"sweep.omega", List(shares.begin(), shares.end())},
                    {"sim.replicates", 300}}}},
      .sources = positional_sources(),
      .make = make<PositionalPhase>,
      .figure = figure,
      .agreement = agreement,
      .claims = claims,
      .plants = {{.name = "switch-five-percent",
                  .series = "omega_switch",
                  .factor = 1.05,
                  .meaning = "the share of equal losses off by a twentieth"},
                 {.name = "unsquared",
                  .series = "positional_loss",
                  .factor = 2,
                  .meaning = "a loss without the factor 1/2"},
                 {.name = "gradient-flow",
                  .values = {{"sim.eta", 0.01}},
                  .meaning =
                      "a learning rate twenty times smaller: the term of order eta left out"}},
      .diagnostic = {"decided"}};
}

}  // namespace attica::positional_phase
