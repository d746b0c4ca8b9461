/// @file
/// @brief Study joma-bounce: attention concentrates and then spreads again; where the minimum of
/// its entropy lies.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/sim/joma_descent.hpp"
#include "attica/studies/joma_setup.hpp"
#include "attica/studies/joma_studies.hpp"
#include "attica/theory/joma_bounce.hpp"
#include "attica/theory/joma_linear.hpp"
#include "attica/theory/joma_one_token.hpp"

namespace attica {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

BounceKind kind_of(const std::string& word) {
  if (word == "exp") return BounceKind::exponential;
  return word == "softmax" ? BounceKind::softmax : BounceKind::none;
}

std::vector<double> with_zero(std::vector<double> times) {
  if (times.front() > 0) times.insert(times.begin(), 0.0);
  return times;
}

class BounceExperiment : public Experiment {
 public:
  explicit BounceExperiment(const Configuration& c)
      : gammas_(sorted_reals(c, "sweep.gamma")),
        times_(sorted_reals(c, "sim.times")),
        token_times_(sorted_reals(c, "sim.token_times")),
        tolerance_(c.real("check.visible")),
        batch_(static_cast<int>(c.integer("sim.batch"))) {
    base_ = {.mu = c.reals("model.mu"),
             .start = c.real("model.v0"),
             .gamma = 0,
             .kind = kind_of(c.text("model.kind"))};
    for (const double gamma : gammas_) validate(at(gamma));
    const std::vector<double> p = c.reals("model.probability");
    const std::vector<double> y = c.reals("model.target");
    regression_ = {Eigen::Map<const VectorXd>(p.data(), static_cast<Index>(p.size())),
                   Eigen::Map<const VectorXd>(y.data(), static_cast<Index>(y.size()))};
    validate(regression_);
    eta_ = c.real("sim.rate") / one_token_rate(regression_);
  }

  TheoryResult theory(TheoryGrid grid) const override {
    if (grid == TheoryGrid::requested) return compute(times_, gammas_, token_times_);
    return compute(with_between(times_, AxisScale::linear),
                   with_between(gammas_, AxisScale::log),
                   with_between(token_times_, AxisScale::linear));
  }

  std::size_t points() const override { return 2; }
  std::uint64_t replicates_per_piece(std::size_t point) const override {
    return point == 0 ? 20 : 1000000;
  }

  std::vector<Outcome> simulate(const Piece& piece) const override {
    if (piece.point == 1) return std::vector<Outcome>(piece.replicates, integrate());
    return each_replicate(piece, [&](std::uint64_t replicate) -> Outcome {
      Series entropy{"token_entropy", {}, "time", {}, {}};
      std::vector<std::int64_t> steps;
      for (const double t : token_times_) steps.push_back(std::llround(t / eta_));
      descend_one_token(regression_.probability,
                        regression_.target,
                        eta_,
                        batch_,
                        steps,
                        piece.stream(replicate),
                        [&](std::size_t k, const VectorXd&, const VectorXd& z) {
                          entropy.x.push_back(token_times_[k]);
                          entropy.y.push_back(entropy_of(z));
                        });
      return {.series = {std::move(entropy)}};
    });
  }

 private:
  Bounce at(double gamma) const {
    Bounce bounce = base_;
    bounce.gamma = gamma;
    return bounce;
  }

  Prediction entropy_curve(double gamma, const std::vector<double>& times) const {
    std::vector<double> entropy = bounce_curve(at(gamma), times).entropy;
    entropy.resize(times.size(), std::nan(""));  // listed as failed where not reached
    return prediction("attention_entropy", {{"gamma", gamma}}, "time", times, std::move(entropy));
  }

  static double entropy_of(const VectorXd& logits) {
    Eigen::ArrayXd p = (logits.array() - logits.maxCoeff()).exp();
    p /= p.sum();
    return attention_entropy({p.begin(), p.end()});
  }

  /// `gammas` holds those of the sweep, and more for the lines of the minimum.
  TheoryResult compute(const std::vector<double>& times,
                       const std::vector<double>& gammas,
                       const std::vector<double>& token_times) const {
    TheoryResult result;
    Prediction time = prediction("minimum_time", {}, "gamma", {}, {});
    Prediction minimum = prediction("minimum_entropy", {}, "gamma", {}, {});
    Prediction final = prediction("final_entropy", {}, "gamma", gammas, {});
    Prediction depth = prediction("bounce_depth", {}, "gamma", gammas, {});
    List monotone;
    bool visible = false;
    for (const double gamma : gammas) {
      const bool swept = std::binary_search(gammas_.begin(), gammas_.end(), gamma);
      if (swept) result.predictions.push_back(entropy_curve(gamma, times));
      const BounceSummary s = bounce_summary(at(gamma));
      final.series.y.push_back(s.final_entropy);
      depth.series.y.push_back(s.status == OdeStatus::event ? s.depth() : std::nan(""));
      if (swept && !visible && depth.series.y.back() > tolerance_) {
        result.diagnostics.emplace_back("visible_gamma", gamma);
        visible = true;
      }
      if (!s.minimum) {
        if (swept) monotone.emplace_back(gamma);
        continue;
      }
      for (Prediction* p : {&time, &minimum}) p->series.x.push_back(gamma);
      time.series.y.push_back(s.minimum->time);
      minimum.series.y.push_back(s.minimum->entropy);
    }
    if (!monotone.empty()) result.diagnostics.emplace_back("without_minimum", std::move(monotone));
    for (Prediction* p : {&time, &minimum, &final, &depth}) {
      if (!p->series.x.empty()) result.predictions.push_back(std::move(*p));
    }
    add_controls(token_times, result);
    return result;
  }

  void add_controls(const std::vector<double>& token_times, TheoryResult& result) const {
    const std::vector<double> times = with_zero(token_times);
    const OdeResult flow = one_token_flow(regression_, times);
    Prediction token = prediction("token_entropy", {}, "time", token_times, {});
    const auto skipped = static_cast<Index>(times.size() - token_times.size());
    for (Index k = skipped; k < static_cast<Index>(times.size()); ++k) {
      token.series.y.push_back(
          k < flow.states.cols() ? entropy_of(0.5 * flow.states.col(k).cwiseAbs2()) : std::nan(""));
    }
    result.predictions.push_back(std::move(token));
    // The linear model with the same mu: entropy falls to 0.
    Prediction linear = prediction("linear_entropy", {}, "time_fraction", {}, {});
    constexpr int kPoints = 50;
    for (int k = 0; k < kPoints; ++k) {
      // Denser towards the blow-up.
      const double left = 1 - static_cast<double>(k) / kPoints;
      const double f = 1 - left * left;
      linear.series.x.push_back(f);
      linear.series.y.push_back(attention_entropy(joma_attention(erf_values(base_.mu, f))));
    }
    result.predictions.push_back(std::move(linear));
  }

  /// The same equation in v, by a stiff solver.
  Outcome integrate() const {
    Outcome outcome;
    const std::vector<double> times = with_zero(times_);
    const auto skipped = times.size() - times_.size();
    for (const double gamma : gammas_) {
      const OdeResult flow = bounce_direct(at(gamma), times);
      Series entropy{"attention_entropy", {{"gamma", gamma}}, "time", {}, {}};
      for (std::size_t k = skipped; k < static_cast<std::size_t>(flow.states.cols()); ++k) {
        entropy.x.push_back(times[k]);
        entropy.y.push_back(bounce_entropy(flow.states.col(static_cast<Index>(k)), gamma));
      }
      outcome.series.push_back(std::move(entropy));
      if (!flow.finished()) {
        outcome.failed = true;
        outcome.status = to_string(flow.status);
        outcome.message = fmt::format(
            "gamma = {:g}, stiff solver: {}; fast components need gamma mu^2 below about 36",
            gamma,
            describe(flow));
      }
    }
    return outcome;
  }

  Bounce base_;
  std::vector<double> gammas_;
  std::vector<double> times_;
  std::vector<double> token_times_;
  double tolerance_;
  int batch_;
  OneTokenRegression regression_;
  double eta_ = 0;
};

std::unique_ptr<Experiment> make(Configuration& c) { return std::make_unique<BounceExperiment>(c); }

Figure figure(const Configuration& c) {
  const Axis time{.label = "time {/:Italic t}", .scale = AxisScale::log};
  const Axis gamma{.label = "{/:Italic γ}", .scale = AxisScale::log};
  const Axis entropy{.label = "entropy (nats)"};
  // Five of the curves at most.
  const std::vector<double> all = c.reals("sweep.gamma");
  std::vector<Layer> curves;
  const std::size_t every = std::max<std::size_t>((all.size() + 4) / 5, 1);
  for (std::size_t k = 0; k < all.size(); k += every) {
    curves.push_back({.series = "attention_entropy",
                      .label = "{/:Italic γ} = {gamma}",
                      .only = {{"gamma", all[k]}}});
  }
  return {.name = "joma-bounce",
          .panels = {{.x = time, .y = entropy, .layers = std::move(curves), .x_name = "time"},
                     {.x = gamma,
                      .y = {.label = "bounce depth", .scale = AxisScale::log},
                      .layers = {{.series = "bounce_depth", .label = "theory"}},
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
              "The entropy bounce. Top left: attention entropy against time, lines in "
              "logarithmic coordinates, points by a stiff solver; top right: depth of the "
              "minimum; bottom left: SGD on a regression with the same mechanism, mean and "
              "standard error over runs; bottom right: without saturation there is none."};
}

std::vector<AgreementRule> agreement(const Configuration&) {
  // Two integrators: 1e-10 per step of the stiff one. SGD: the bias of whole steps is of first
  // order in eta and was measured as 0.0017 at eta = 0.02/R_max, B = 8; three times that.
  return {{.series = "attention_entropy", .relative = 0, .absolute = 1e-7, .deterministic = true},
          {.series = "token_entropy", .relative = 0, .absolute = 0.005}};
}

}  // namespace

Study joma_bounce() {
  return {
      .name = "joma-bounce",
      .question = "Why does attention first concentrate and then spread again?",
      .neglects =
          "nothing for the reduced model, which is itself a heuristic limit; for SGD the step "
          "size",
      .parameters =
          {reals_parameter("model.mu", {1, 1.5, 2, 2.5, 3}, "fixed points of the MLP weights"),
           real_parameter("model.v0", 0, "start of every weight"),
           word_parameter("model.kind",
                          "exp",
                          "rate of a weight: exp(gamma v^2), softmax(gamma v^2), or 1",
                          {"exp", "softmax", "none"}),
           reals_parameter(
               "sweep.gamma", {0.05, 0.1, 0.2, 0.5, 0.8}, "exponents of attention", kNotNegative),
           reals_parameter("model.probability",
                           {0.4, 0.3, 0.2, 0.1},
                           "one-token regression: P_l",
                           {.low = 0, .high = 1}),
           reals_parameter("model.target", {6, 3, 1.5, 6}, "one-token regression: y_l"),
           {.key = "sim.times",
            .type = ParameterType::real,
            .fallback =
                Value(List{0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0, 5.0, 8.0, 12.0}),
            .meaning = "times of the entropy curves",
            .list = true,
            .range = kNotNegative},
           reals_parameter("sim.token_times",
                           {0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.4, 2, 3},
                           "one-token regression: times",
                           kPositive),
           real_parameter("sim.rate",
                          0.02,
                          "one-token regression: learning rate times the largest rate of a token",
                          {.low = 0, .high = 1, .low_open = true}),
           integer_parameter("sim.batch", 8, "one-token regression: samples per step"),
           real_parameter(
               "check.visible", 1e-3, "depth from which a bounce counts as visible", kPositive),
           replicates_parameter(200, "runs of SGD on the one-token regression"),
           full_width_parameter()},
      .series = {{"attention_entropy", "H(t)", "entropy of softmax(gamma v^2), nats"},
                 {"minimum_time", "t_min", "time of the deepest minimum (theory)"},
                 {"minimum_entropy", "H_min", "entropy there (theory)"},
                 {"final_entropy", "H_∞", "entropy of softmax(gamma mu^2) (theory)"},
                 {"bounce_depth", "H_∞ - H_min", "0 if H is monotone (theory)"},
                 {"token_entropy", "H(t)", "one-token regression: entropy of softmax(z)"},
                 {"linear_entropy", "H", "control: linear MLP with Delta = mu (theory)"}},
      .presets = {{"quick", "the defaults: 5 values of gamma", {}},
                  {"paper",
                   "40 values of gamma",
                   {{"sweep.gamma",
                     [] {
                       List all;
                       constexpr int kPoints = 40;
                       for (int k = 0; k < kPoints; ++k) {
                         all.emplace_back(0.02 * std::pow(50.0, k / (kPoints - 1.0)));
                       }
                       return all;
                     }()}}}},
      .sources = {joma_source("nonlinear dynamics, Fig. 4")},
      .make = make,
      .figure = figure,
      .agreement = agreement};
}

}  // namespace attica
