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
        return at_point({{"a", a}, {"omega", omega}}, [&] {
          return predicted_path(landscape_.get(), {a, omega}, setup_, horizon);
        });
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
    // A step of all students is one that draws a pair, and two exponentials and a root for each.
    return setup_.flops((1 + shares / 4) * steps_ + (2 * shares + 3) * setup_.test_pairs);
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
    // At all ω students see the same pairs: drawing these is most of the work of a step.
    std::vector<PositionalTask> tasks;
    for (const double omega : omegas_) tasks.push_back({a, omega});
    PositionalStudents students(setup_.start, setup_.dimension, tasks);
    for (std::int64_t step = 0; step < steps_; ++step) {
      constexpr std::int64_t kOften = 100000;
      if (step % kOften == 0 && replicate.stopped()) return {};
      students.step(setup_.eta, stream);
    }
    for (std::size_t k = 0; k < omegas_.size(); ++k) {
      const double omega = omegas_[k];
      const PositionalOverlaps end = students.overlaps(k);
      ends.add(omega, std::vector<double>{end.e, end.m});
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
      switches.add(
          a, {PredictedValue(transitions.back().global)});  // above 1: extrapolated, never reached
    }
    switches.into(result);
    const auto basins = parallel_map(strengths, [this](double a) { return basin_edge(a); });
    // A share outside [0, 1] says that there is no such transition.
    const auto line = [&](const char* name, const auto& share) {
      Curves curve({}, "a", {name});
      for (std::size_t k = 0; k < strengths.size(); ++k) {
        const double omega = share(k);
        if (omega > 0 && omega < 1) curve.add(strengths[k], {PredictedValue(omega)});
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

/// The value of a theory's curve at x.
std::optional<double> predicted_at(const Observed& observed,
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
    if (e == nullptr) continue;
    for (const double omega : e->mean.x) {
      if (predicted_at(observed, "decided", point, omega).value_or(0) != 1) continue;
      const auto e_end = predicted_at(observed, "e_end", point, omega);
      const auto m_end = predicted_at(observed, "m_end", point, omega);
      if (!e_end || !m_end) continue;
      append(same,
             by_replicate(observed, {{"e_end", point, omega}, {"m_end", point, omega}})
                 .where([&](double e_of_run, double m_of_run) {
                   return state_of({e_of_run, m_of_run}) == state_of({*e_end, *m_end});
                 }));
    }
  }
  // Where one side has no such transition nothing is compared.
  bool equal = true;
  int found = 0;
  for (const char* name : {"omega_direction", "omega_semantic", "omega_positional"}) {
    const ObservedCurve* bends = observed.curve(name);
    for (const double a : ascending(c.reals("sweep.a"))) {
      const bool seen = bends != nullptr && std::ranges::count(bends->mean.x, a) > 0;
      equal = equal && seen == predicted_at(observed, name, {}, a).has_value();
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
  return described({.name = "positional-phase", .make = make<PositionalPhase>, .claims = claims});
}

}  // namespace attica::positional_phase
