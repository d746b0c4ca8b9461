/// @file
/// @brief Study positional-flow: online SGD of attention between two tokens towards a positional or
/// a semantic state, against the flow of its two overlaps.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attica/sim/icl/positional.hpp"
#include "attica/studies/icl/positional.hpp"
#include "attica/theory/icl/positional.hpp"

namespace attica::positional_flow_study {
namespace {

const std::vector<std::string> kSeries = {"e", "m", "loss"};

class PositionalFlow : public PointwiseExperiment {
 public:
  explicit PositionalFlow(const Configuration& c)
      : setup_(c), a_(c.real("model.a")), omegas_(ascending(c.reals("sweep.omega"))) {
    for (const double t : ascending(c.reals("sim.times"))) {
      steps_.push_back(setup_.steps(t, "sim.times"));
    }
    steps_ = ascending(std::move(steps_));
    rounded_ = {times_of_steps(c, "sim.times", setup_.time(1))};
    if (setup_.start.e == 0 && setup_.start.m == 0) {
      warnings_.emplace_back(
          "the start is a saddle, where the flow stays: nothing is compared; choose model.e0 or "
          "model.m0");
    }
  }

  TheoryResult theory(TheoryGrid grid) const override {
    std::vector<double> times;
    for (const std::int64_t step : steps_) times.push_back(setup_.time(step));
    times = line_between(times, AxisScale::linear, grid, 8);
    TheoryResult result;
    const PositionalLandscape& landscape = landscape_.get();
    for (const double omega : omegas_) {
      const PositionalTask task{a_, omega};
      const PositionalPath path = at_point(
          {{"omega", omega}}, [&] { return predicted_path(landscape, task, setup_, times); });
      Curves curves({{"omega", omega}}, "t", kSeries);
      for (std::size_t k = 0; k < times.size(); ++k) {
        const PositionalOverlaps& at = path.overlaps[k];
        const PositionalOverlaps& allowed = path.allowances[k];
        const PositionalTerms terms = landscape.terms(task, at);
        // What the overlaps are off by, along the sphere, and their scatter, as the loss bends.
        constexpr double kBend = 0.5;
        const double radial = at.e * terms.d_e + at.m * terms.d_m;
        const double slope = std::sqrt(
            std::max(0.0, terms.d_e * terms.d_e + terms.d_m * terms.d_m - radial * radial));
        const double loss =
            slope * std::hypot(allowed.e, allowed.m) + kBend * setup_.scatter() * setup_.scatter();
        const bool compared = path.compared(task, k);
        curves.add(times[k],
                   {{at.e, allowed.e, compared},
                    {at.m, allowed.m, compared},
                    {terms.loss, loss, compared}});
      }
      curves.into(result);
      add_constant(result, "decided", {path.decided ? 1.0 : 0.0, 0, false}, {{"omega", omega}});
    }
    return result;
  }

  std::size_t points() const override { return omegas_.size(); }

 protected:
  double flops(std::size_t) const override {
    return setup_.flops(steps_.back() +
                        setup_.test_pairs * static_cast<std::int64_t>(steps_.size()));
  }

  Outcome run(const Replicate& replicate) const override {
    const PositionalTask task{a_, omegas_[replicate.point()]};
    RandomStream stream = replicate.stream();
    RandomStream tests = replicate.stream(StreamId::test_data);
    PositionalStudents student(setup_.start, setup_.dimension, {task});
    Curves curves({{"omega", task.omega}}, "t", kSeries);
    std::int64_t done = 0;
    for (const std::int64_t step : steps_) {
      for (; done < step; ++done) {
        constexpr std::int64_t kOften = 100000;
        if (done % kOften == 0 && replicate.stopped()) return {};
        student.step(setup_.eta, stream);
      }
      const PositionalOverlaps at = student.overlaps();
      const double loss = sampled_positional_loss(task, at, setup_.test_pairs, tests);
      curves.add(setup_.time(step), std::vector<double>{at.e, at.m, loss});
    }
    Outcome outcome;
    curves.into(outcome);
    return outcome;
  }

 private:
  PositionalSetup setup_;
  double a_;
  std::vector<double> omegas_;
  std::vector<std::int64_t> steps_;
  Lazy<PositionalLandscape> landscape_{[] { return PositionalLandscape(); }};
};

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  std::vector<bool> same;
  std::vector<bool> ended;
  for (const double omega : ascending(c.reals("sweep.omega"))) {
    const Point point = {{"omega", omega}};
    if (observed.predicted("decided", point).value_or(0) != 1) continue;
    PositionalOverlaps predicted;
    for (const Prediction& p : observed.theory) {
      if (p.series.point != point || p.series.x_name != "t") continue;
      if (p.series.name == "e") predicted.e = p.series.y.back();
      if (p.series.name == "m") predicted.m = p.series.y.back();
    }
    // Runs of few steps have arrived nowhere.
    constexpr double kArrived = 0.95;
    constexpr double kNear = 0.9;
    const bool arrives = std::max(std::abs(predicted.e), std::abs(predicted.m)) > kArrived;
    const auto ends = by_replicate(observed, {{"e", point}, {"m", point}});
    append(same, ends.where([&](double e, double m) {
      return state_of({e, m}) == state_of(predicted);
    }));
    if (!arrives) continue;
    append(ended, ends.where([](double e, double m) {
      return std::max(std::abs(e), std::abs(m)) > kNear;
    }));
  }
  std::vector<ClaimResult> all;
  all.push_back(basin_claim(same));
  if (!ended.empty()) {
    all.push_back(claim_rate("ends",
                             "where the flow comes within 0.05 of a state, a run's larger overlap "
                             "is above 0.9",
                             ended,
                             ""));
  }
  return all;
}

}  // namespace

Study study() {
  return described({.name = "positional-flow", .make = make<PositionalFlow>, .claims = claims});
}

}  // namespace attica::positional_flow_study
