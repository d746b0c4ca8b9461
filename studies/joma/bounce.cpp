/// @file
/// @brief Study joma-bounce: attention concentrates and then spreads again; where the minimum of
/// its entropy lies.

#include "attica/theory/joma/bounce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "attica/sim/joma/descent.hpp"
#include "attica/studies/joma/file_start.hpp"
#include "attica/studies/joma/model.hpp"
#include "attica/theory/joma/linear.hpp"
#include "attica/theory/joma/one_token.hpp"

namespace attica::joma_bounce {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

const Choices<BounceKind> kKinds = {
    {"exp", BounceKind::exponential}, {"softmax", BounceKind::softmax}, {"none", BounceKind::none}};

constexpr double kDepth = 1e-9;  ///< of a bounce, at least: ten times what integrators leave

/// Integrations start at 0.
std::vector<double> with_zero(std::vector<double> times) {
  if (times.front() > 0) times.insert(times.begin(), 0.0);
  return times;
}

VectorXd as_vector(const std::vector<double>& values) {
  return Eigen::Map<const VectorXd>(values.data(), static_cast<Index>(values.size()));
}

class BounceExperiment : public PointwiseExperiment {
 public:
  explicit BounceExperiment(const Configuration& c)
      : base_{.mu = c.reals("model.mu"),
              .start = component_starts(c, c.reals("model.mu").size()),
              .gamma = 0,
              .kind = kKinds.of(c, "model.kind")},
        gammas_(ascending(c.reals("sweep.gamma"))),
        times_(ascending(c.reals("sim.times"))),
        token_times_(ascending(c.reals("sim.token_times"))),
        visible_(c.real("check.visible")),
        batch_(c.integer<int>("sim.batch")),
        regression_{as_vector(c.reals("model.probability")), as_vector(c.reals("model.target"))} {
    for (const double gamma : gammas_) validate(at(gamma));
    validate(regression_);
    eta_ = c.real("sim.eta") / one_token_rate(regression_);
    rounded_ = {times_of_steps(c, "sim.token_times", eta_)};
    const double last = token_times_.back() / eta_;
    constexpr double kMostSteps = 1e9;
    require(last <= kMostSteps,
            "sim.token_times",
            token_times_.back(),
            fmt::format(
                "at most {:g} steps of sim.eta over the largest rate, {:.4g}", kMostSteps, eta_));
    for (const double time : token_times_) {
      const std::int64_t step = std::llround(time / eta_);
      if (!steps_.empty() && step == steps_.back()) continue;
      steps_.push_back(step);
      constexpr double kRounding = 1e-6;  // of a step
      const double realised = static_cast<double>(step) * eta_;
      realised_.push_back(std::abs(time - realised) < kRounding * eta_ ? time : realised);
    }
  }

  TheoryResult theory(TheoryGrid grid) const override {
    TheoryResult result;
    Curves minimum({}, "gamma", {"minimum_time", "minimum_entropy"});
    Curves end({}, "gamma", {"final_entropy", "bounce_depth", "bounces"});
    List monotone;
    bool visible = false;
    for (const double gamma : line_between(gammas_, AxisScale::log, grid)) {
      const bool swept = std::binary_search(gammas_.begin(), gammas_.end(), gamma);
      if (swept) add_entropy(gamma, line_between(times_, AxisScale::linear, grid), result);
      const BounceSummary s = bounce_summary(at(gamma));
      const double depth = s.status == OdeStatus::event ? s.depth() : std::nan("");
      end.add(gamma, {s.final_entropy, depth, depth > kDepth ? 1.0 : 0.0});
      if (swept && !visible && depth > visible_) {
        result.diagnostics.emplace_back("visible_gamma", gamma);
        visible = true;
      }
      if (s.minimum) {
        minimum.add(gamma, {s.minimum->time, s.minimum->entropy});
      } else if (swept) {
        monotone.emplace_back(gamma);
      }
    }
    if (!monotone.empty()) result.diagnostics.emplace_back("without_minimum", std::move(monotone));
    if (!minimum.empty()) minimum.into(result);
    end.into(result);
    const bool run = grid == TheoryGrid::run;
    add_controls(line_between(run ? realised_ : token_times_, AxisScale::linear, grid), result);
    return result;
  }

  std::size_t points() const override { return 2; }

 protected:
  bool deterministic(std::size_t point) const override { return point == 1; }
  double flops(std::size_t) const override {
    constexpr double kDraw = 40;
    return kDraw * token_times_.back() / eta_ *
           static_cast<double>(batch_ + regression_.target.size());
  }

  Outcome run(const Replicate& replicate) const override {
    Outcome outcome;
    if (deterministic(replicate.point())) {
      integrate(outcome);
      return outcome;
    }
    Curves entropy({}, "time", {"token_entropy"});
    const OneTokenRegression& r = regression_;
    const auto observe = [&](std::size_t k, const VectorXd&, const VectorXd& z) {
      entropy.add(realised_[k], {logits_entropy(z)});
    };
    descend_one_token(r.probability, r.target, eta_, batch_, steps_, replicate.address(), observe);
    entropy.into(outcome);
    return outcome;
  }

 private:
  Bounce at(double gamma) const {
    Bounce bounce = base_;
    bounce.gamma = gamma;
    return bounce;
  }

  static Curves entropy_curve(double gamma) {
    return {{{"gamma", gamma}}, "time", {"attention_entropy"}};
  }

  void add_entropy(double gamma, const std::vector<double>& times, TheoryResult& result) const {
    const std::vector<double> entropy = bounce_curve(at(gamma), times).entropy;
    Curves curve = entropy_curve(gamma);
    for (std::size_t k = 0; k < times.size(); ++k) {  // listed as failed where not reached
      curve.add(times[k], {k < entropy.size() ? entropy[k] : std::nan("")});
    }
    curve.into(result);
  }

  void add_controls(const std::vector<double>& token_times, TheoryResult& result) const {
    const std::vector<double> times = with_zero(token_times);
    const OdeResult flow = one_token_flow(regression_, times);
    Curves token({}, "time", {"token_entropy"});
    for (std::size_t k = times.size() - token_times.size(); k < times.size(); ++k) {
      const auto column = static_cast<Index>(k);
      token.add(
          times[k],
          {column < flow.states.cols() ? softmax_entropy(0.5 * flow.states.col(column).cwiseAbs2())
                                       : std::nan("")});
    }
    token.into(result);
    // The linear model with the same mu: entropy falls to 0.
    Curves linear({}, "time_fraction", {"linear_entropy"});
    constexpr int kPoints = 50;
    for (int k = 0; k < kPoints; ++k) {
      // Denser towards the blow-up.
      const double left = 1 - static_cast<double>(k) / kPoints;
      const double f = 1 - left * left;
      linear.add(f, {attention_entropy(joma_attention(erf_values(base_.mu, f)))});
    }
    linear.into(result);
  }

  struct At {
    double time = 0;
    double entropy = 0;
  };

  /// The lowest minimum of the entropy before time `end` on a grid in ln t, then on finer ones
  /// about it until it is flat there, by the parabola through it and its neighbours; empty if there
  /// is none.
  std::optional<At> lowest(double gamma, double end) const {
    constexpr int kSteps = 400;
    constexpr double kFirst = 4.5e-4;  // of the recorded times
    constexpr int kFiner = 20;         // steps across two of the grid before
    constexpr double kFlat = 1e-8;     // what a parabola leaves out is below a thousandth of it
    constexpr double kCliff = 1000;
    constexpr int kPasses = 8;
    double first = times_.back() * kFirst;
    int steps = kSteps;
    double step = std::log(end / first) / steps;
    std::optional<At> found;
    for (int pass = 0; pass < kPasses; ++pass) {
      std::vector<double> times = {0};
      for (int n = 0; n <= steps; ++n) times.push_back(first * std::exp(step * n));
      const OdeResult flow = bounce_direct(at(gamma), times);
      std::vector<double> h = {1e300};
      for (Index n = 1; n < flow.states.cols(); ++n) {
        h.push_back(logits_entropy(gamma * flow.states.col(n).cwiseAbs2()));
      }
      std::size_t k = 0;  // a start of one's own may lie below the minimum
      for (std::size_t n = 2; n + 1 < h.size(); ++n) {
        if (h[n] < h[n - 1] && h[n] <= h[n + 1] && h[n] < h[k]) k = n;
      }
      // At the end of a finer grid only rounding puts it.
      if (k == 0) return found;
      if (pass == 0 && h.back() - h[k] < kDepth) return {};
      const auto [lower, higher] = std::minmax({h[k - 1] - h[k], h[k + 1] - h[k]});
      const double slope = (h[k + 1] - h[k - 1]) / 2;
      const double bend = lower + higher;
      const double time = times[k] * std::exp(-step * slope / bend);
      // No parabola goes through the foot of a cliff.
      const bool cliff = higher > kCliff * lower;
      found = At{.time = time, .entropy = h[k] - (cliff ? 0 : slope * slope / (2 * bend))};
      if (pass > 0 && higher < kFlat) break;
      first = times[k - 1];
      steps = kFiner;
      step *= 2.0 / kFiner;
    }
    return found;
  }

  /// Where the stiff solver has come to rest, at ten times the recorded times or later; empty if it
  /// does not.
  std::optional<At> rest(double gamma) const {
    constexpr double kAtRest = 1e-10;  // of mu - v
    constexpr int kDecades = 6;        // slow components of softmax take long
    const VectorXd mu = as_vector(base_.mu);
    std::vector<double> times = {0, times_.back()};
    for (int decade = 0; decade < kDecades; ++decade) {
      times.back() *= 10;
      const OdeResult flow = bounce_direct(at(gamma), times);
      if (!flow.finished()) return {};
      if ((mu - flow.state).cwiseAbs().maxCoeff() < kAtRest) {
        return At{.time = times.back(), .entropy = logits_entropy(gamma * flow.state.cwiseAbs2())};
      }
    }
    return {};
  }

  /// The same equation in v, by a stiff solver.
  void integrate(Outcome& outcome) const {
    const std::vector<double> times = with_zero(times_);
    Curves minimum({}, "gamma", {"minimum_time", "minimum_entropy"});
    Curves bounces({}, "gamma", {"bounces"});
    Curves ends({}, "gamma", {"final_entropy", "bounce_depth"});
    for (const double gamma : gammas_) {
      const std::optional<At> end = rest(gamma);
      const std::optional<At> low = lowest(gamma, end ? end->time : 10 * times_.back());
      if (low) minimum.add(gamma, {PredictedValue(low->time), PredictedValue(low->entropy)});
      bounces.add(gamma, {low ? 1.0 : 0.0});
      if (end) {
        ends.add(
            gamma,
            {PredictedValue(end->entropy), PredictedValue(low ? end->entropy - low->entropy : 0)});
      }
    }
    if (!minimum.empty()) minimum.into(outcome);
    bounces.into(outcome);
    if (!ends.empty()) ends.into(outcome);
    for (const double gamma : gammas_) {
      const OdeResult flow = bounce_direct(at(gamma), times);
      Curves entropy = entropy_curve(gamma);
      for (auto k = static_cast<Index>(times.size() - times_.size()); k < flow.states.cols(); ++k) {
        entropy.add(times[static_cast<std::size_t>(k)],
                    {logits_entropy(gamma * flow.states.col(k).cwiseAbs2())});
      }
      entropy.into(outcome);
      if (flow.finished()) continue;
      mark_failed(outcome, flow, fmt::format("gamma = {:g}, stiff solver: ", gamma));
      outcome.message += "; fast components need gamma mu^2 below about 36";
    }
  }

  Bounce base_;
  std::vector<double> gammas_;
  std::vector<double> times_;
  std::vector<double> token_times_;
  std::vector<std::int64_t> steps_;  ///< that come nearest to them
  std::vector<double> realised_;     ///< the times of these
  double visible_;
  int batch_;
  OneTokenRegression regression_;
  double eta_ = 0;
};

Figure figure(const Configuration& c) {
  const Axis time{.label = "time {/:Italic t}", .scale = AxisScale::log};
  const Axis gamma{.label = "{/:Italic γ}", .scale = AxisScale::log};
  const Axis entropy{.label = "entropy (nats)"};
  std::vector<Layer> curves;
  for (const double value : thinned(c.reals("sweep.gamma"), 5)) {
    curves.push_back({.series = "attention_entropy",
                      .label = "{/:Italic γ} = {gamma}",
                      .only = {{"gamma", value}}});
  }
  return {.name = "joma-bounce",
          .panels = {{.x = time, .y = entropy, .layers = std::move(curves), .x_name = "time"},
                     {.x = gamma,
                      .y = {.label = "bounce depth", .scale = AxisScale::log},
                      .layers = {{.series = "bounce_depth", .label = ""}},
                      .x_name = "gamma"},
                     {.x = time,
                      .y = entropy,
                      .layers = {{.series = "token_entropy", .label = "one-token regression"}},
                      .x_name = "time"},
                     {.x = {.label = "{/:Italic t} / {/:Italic t}*"},
                      .y = entropy,
                      .layers = {{.series = "linear_entropy", .label = "linear MLP"}},
                      .x_name = "time_fraction"}},
          .columns = 2,
          .caption =
              "The entropy bounce. Top left: attention entropy against time; top right: depth of "
              "the minimum; of both, lines in logarithmic coordinates, points by a stiff solver; "
              "bottom left: SGD on a regression with the same mechanism, mean and standard error "
              "over runs; bottom right: without saturation there is none."};
}

std::vector<AgreementRule> agreement(const Configuration& c) {
  // Two integrators: 1e-10 per step of the stiff one. SGD: the bias of whole steps is of first
  // order in eta and was measured as 0.0017 at eta = 0.02/R_max, B = 8; three times that.
  constexpr double kBias = 3 * 0.0017 / 0.02;
  // A parabola through rounding errors of the entropies.
  constexpr double kParabola = 1e-4;
  // Differences of entropies that the two routes have to 1e-10 or better: the shallowest bounce of
  // the quick preset is 5e-6 deep.
  constexpr double kEntropies = 1e-8;
  return {{.series = "attention_entropy", .relative = 0, .absolute = 1e-7, .deterministic = true},
          {.series = "bounces", .relative = 0, .absolute = 1e-6, .deterministic = true},
          {.series = "minimum_time", .relative = kParabola, .deterministic = true},
          {.series = "minimum_entropy", .relative = 0, .absolute = 1e-6, .deterministic = true},
          {.series = "final_entropy", .relative = 0, .absolute = kEntropies, .deterministic = true},
          {.series = "bounce_depth", .relative = 0, .absolute = kEntropies, .deterministic = true},
          {.series = "token_entropy", .relative = 0, .absolute = kBias * c.real("sim.eta")}};
}

}  // namespace

Study study() {
  return described({.name = "joma-bounce",
                    .make = make<BounceExperiment>,
                    .figure = figure,
                    .agreement = agreement});
}

}  // namespace attica::joma_bounce
