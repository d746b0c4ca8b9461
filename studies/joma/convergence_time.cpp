/// @file
/// @brief Study joma-convergence-time: how long a component takes to converge when attention speeds
/// it up.

#include <cmath>

#include "attica/studies/joma/model.hpp"
#include "attica/theory/joma/nonlinear.hpp"

namespace attica::joma_convergence_time {
namespace {

class ConvergenceTime : public PointwiseExperiment {
 public:
  explicit ConvergenceTime(const Configuration& c)
      : mus_(c.reals("sweep.mu")),
        epsilons_(c.reals("sweep.epsilon")),
        start_(c.real("model.v0")),
        gamma_(c.real("model.gamma")) {
    for (const double mu : mus_) {
      require(mu != 0, "sweep.mu", mu, "mu different from 0");
      require_exponent(gamma_, mu, "sweep.mu");
    }
    require_exponent(gamma_, start_, "model.v0");
  }

  TheoryResult theory(TheoryGrid grid) const override {
    const std::vector<double> mus =
        grid == TheoryGrid::requested ? mus_ : line_between(ascending(mus_), AxisScale::log, grid);
    TheoryResult result;
    Curves q({}, "mu", {"correction_q"});
    for (const double epsilon : epsilons_) {
      Curves time = time_curve(epsilon);
      Curves law({{"epsilon", epsilon}}, "mu", {"asymptotic_time"});
      for (const double mu : mus) {
        const JomaComponent c = component(mu);
        time.add(mu, {convergence_time(c, epsilon)});
        if (c.delta0() > 0) law.add(mu, {asymptotic_convergence_time(c, epsilon)});
      }
      time.into(result);
      if (!law.empty()) law.into(result);
    }
    for (const double mu : mus) {
      if (component(mu).delta0() > 0) q.add(mu, {correction_q(component(mu))});
    }
    if (!q.empty()) q.into(result);
    return result;
  }

 protected:
  bool deterministic(std::size_t) const override { return true; }

  Outcome run(const Replicate&) const override {
    Outcome outcome;
    for (const double epsilon : epsilons_) {
      Curves time = time_curve(epsilon);
      for (const double mu : mus_) {
        if (component(mu).delta0() == 0) continue;
        const OdeResult flow = integrated_nats({component(mu)}, 0, -std::log(epsilon));
        if (flow.status == OdeStatus::event) {
          time.add(mu, {flow.state[1]});
        } else {
          mark_failed(outcome, flow);
        }
      }
      time.into(outcome);
    }
    return outcome;
  }

 private:
  JomaComponent component(double mu) const { return {.mu = mu, .start = start_, .gamma = gamma_}; }
  static Curves time_curve(double epsilon) {
    return {{{"epsilon", epsilon}}, "mu", {"convergence_time"}};
  }

  std::vector<double> mus_;
  std::vector<double> epsilons_;
  double start_;
  double gamma_;
};

Figure figure(const Configuration& c) {
  std::vector<Layer> times;
  for (const double epsilon : c.reals("sweep.epsilon")) {
    times.push_back({.series = "convergence_time",
                     .label = "{/:Italic ε} = " + power_label(epsilon),
                     .only = {{"epsilon", epsilon}}});
  }
  times.push_back({.series = "asymptotic_time", .label = "asymptote", .reference = true});
  const Axis mu{.label = "fixed point {/:Italic μ}", .scale = AxisScale::log};
  return {.name = "joma-convergence-time",
          .panels = {{.x = mu,
                      .y = {.label = "convergence time {/:Italic T_ε}", .scale = AxisScale::log},
                      .layers = std::move(times),
                      .x_name = "mu"},
                     {.x = mu,
                      .y = {.label = "correction {/:Italic Q}", .scale = AxisScale::log},
                      .layers = {{.series = "correction_q", .label = ""}},
                      .x_name = "mu"}},
          .columns = 1,
          .caption =
              "Top: time until a component has come within ε of its fixed point μ; bottom: "
              "correction Q. Lines: quadrature; dashed: exp(−γμ²) ln(1/ε) + Q, on the lines for "
              "small ε; points: integration. No randomness."};
}

}  // namespace

Study study() {
  return described(
      {.name = "joma-convergence-time", .make = make<ConvergenceTime>, .figure = figure});
}

}  // namespace attica::joma_convergence_time
