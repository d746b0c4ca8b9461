/// @file
/// @brief Study token-time: the time in which tokens on the sphere cluster, against the inverse
/// temperature of their attention.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "attica/sim/icl/tokens.hpp"
#include "attica/studies/icl/tokens.hpp"
#include "attica/theory/icl/tokens.hpp"

namespace attica::token_time {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

/// γ = β/ln n of the long-context panel.
constexpr int kLongContexts = 41;
constexpr double kLargestGamma = 2;

class TokenTime : public PointwiseExperiment {
 public:
  explicit TokenTime(const Configuration& c)
      : tokens_(c.integer("model.tokens")),
        dimension_(c.integer("model.dimension")),
        delta_(c.real("model.delta")),
        normalisation_(normalisations().of(c, "model.normalisation")),
        betas_(ascending(c.reals("sweep.beta"))),
        step_(c.real("sim.step")),
        longest_(c.real("sim.horizon")),
        responses_([this] {
          std::vector<double> all;
          for (const double beta : betas_) all.push_back(response(beta));
          return all;
        }) {
    const double h = token_step({tokens_, betas_.back(), normalisation_}, step_);
    constexpr double kMostSteps = 1e9;
    require(longest_ <= kMostSteps * h,
            "sim.horizon",
            longest_,
            fmt::format("at most {:g} steps of {:.3g}, as sim.step and the largest beta make them",
                        kMostSteps,
                        h));
  }

  TheoryResult theory(TheoryGrid grid) const override {
    TheoryResult result;
    Curves curve({}, "beta", {"time"});
    // In few dimensions tokens fill the sphere: the limit of large d is drawn, not compared.
    constexpr Index kFew = 32;
    const auto d = static_cast<double>(dimension_);
    for (const double beta : line_between(betas_, AxisScale::linear, grid)) {
      const TokenDynamics dynamics{tokens_, beta, normalisation_};
      const double time =
          at_point({{"beta", beta}}, [&] { return clustering_time(dynamics, 0, delta_); });
      const double orders = token_orders(tokens_, beta, d);
      const bool known = std::isfinite(orders) && dimension_ >= kFew;
      const double shift = known ? clustering_shift(dynamics, delta_) / d : 0.0;
      // The shift is a sum of terms of some 4/d of the time, which may cancel.
      constexpr double kTerms = 4;
      curve.add(beta, {{time + shift, known ? orders * kTerms / d * time : 0.0, known}});
    }
    curve.into(result);
    for (const AttentionNormalisation n : kNormalisations) {
      Curves level = level_curve(n);
      for (const double beta : betas_) {
        if (!simulated(n, beta)) continue;
        const double time = at_point({{"beta", beta}}, [&] {
          return clustering_time({tokens_, beta, n}, 0, delta_);
        });
        if (time < longest_) level.add(beta, {time});
      }
      if (!level.empty()) level.into(result);
    }
    if (normalisation_ != AttentionNormalisation::softmax) return result;
    for (const int power : {4, 8, 12, 16, 20}) {
      const auto n = static_cast<Index>(1) << power;
      Curves contexts({{"tokens", static_cast<double>(n)}}, "gamma", {"long_context_time"});
      for (int k = 0; k < kLongContexts; ++k) {
        const double gamma = kLargestGamma * k / (kLongContexts - 1);
        contexts.add(gamma,
                     {clustering_time({n, gamma * std::log(static_cast<double>(n))}, 0, delta_)});
      }
      contexts.into(result);
    }
    return result;
  }

  /// Every beta, then starts at right angles.
  std::size_t points() const override { return betas_.size() + 1; }

 protected:
  bool deterministic(std::size_t point) const override { return point == betas_.size(); }

  double flops(std::size_t) const override {
    constexpr double kExponential = 20;
    const auto n = static_cast<double>(tokens_);
    return 4 * (2 * n * n * n + kExponential * n * n) * longest_ / step_ +
           2 * n * n * static_cast<double>(dimension_);
  }

  Outcome run(const Replicate& replicate) const override {
    Outcome outcome;
    const auto stopped = [&] { return replicate.stopped(); };
    if (deterministic(replicate.point())) {
      for (const AttentionNormalisation n : kNormalisations) {
        Curves level = level_curve(n);
        for (const double beta : betas_) {
          if (!simulated(n, beta)) continue;
          const auto time =
              clustered({tokens_, beta, n}, MatrixXd::Identity(tokens_, tokens_), stopped);
          if (time) level.add(beta, {*time});
        }
        if (!level.empty()) level.into(outcome);
      }
      return outcome;
    }
    const double beta = betas_[replicate.point()];
    RandomStream stream = replicate.stream();
    const MatrixXd start = uniform_gram(tokens_, dimension_, stream);
    const auto time = clustered({tokens_, beta, normalisation_}, start, stopped);
    if (time) {
      const double response = responses_.get()[replicate.point()];
      Curves({}, "beta", {"time"})
          .add(beta, {*time - response * mean_overlap(start)})
          .into(outcome);
    } else {
      outcome.status = "not clustered";
      Curves({}, "beta", {"time"}).add(beta, {kNoValue}).into(outcome);
    }
    return outcome;
  }

 private:
  static constexpr std::array<AttentionNormalisation, 2> kNormalisations{
      AttentionNormalisation::softmax, AttentionNormalisation::mean};

  static bool simulated(AttentionNormalisation n, double beta) {
    return n == AttentionNormalisation::softmax || beta <= kLargestMeanBeta;
  }
  static Curves level_curve(AttentionNormalisation n) {
    const bool mean = n == AttentionNormalisation::mean;
    return {
        {{"normalisation", std::string(mean ? "mean" : "softmax")}}, "beta", {"right_angle_time"}};
  }

  /// Change of the time with the mean overlap of the start, whose mean is 0: times which it is
  /// taken off, as a control variate. 0 where starts do not act linearly.
  double response(double beta) const {
    if (!std::isfinite(token_orders(tokens_, beta, static_cast<double>(dimension_)))) return 0;
    const auto from = [&](double overlap) {
      return clustered({tokens_, beta, normalisation_}, equiangular_gram(tokens_, overlap), [] {
        return false;
      });
    };
    const auto late = from(-kResponseStep);
    const auto early = from(kResponseStep);
    return late && early ? (*early - *late) / (2 * kResponseStep) : 0;
  }

  /// When the mean overlap is 1 - δ.
  template <class Stopped>
  std::optional<double> clustered(const TokenDynamics& dynamics,
                                  MatrixXd gram,
                                  const Stopped& stopped) const {
    const double h = token_step(dynamics, step_);
    const auto steps = static_cast<std::int64_t>(std::floor(longest_ / h));
    double before = 1 - mean_overlap(gram);
    for (std::int64_t step = 1; step <= steps && !stopped(); ++step) {
      gram_step(gram, dynamics, h);
      const double rest = 1 - mean_overlap(gram);
      if (rest <= delta_) {
        // ln(1 - ρ) is nearly linear there.
        const double part = std::log(before / delta_) / std::log(before / rest);
        return (static_cast<double>(step - 1) + part) * h;
      }
      before = rest;
    }
    return {};
  }

  Index tokens_;
  Index dimension_;
  double delta_;
  AttentionNormalisation normalisation_;
  std::vector<double> betas_;
  double step_;
  double longest_;
  Lazy<std::vector<double>> responses_;  ///< at every β
};

Figure figure(const Configuration& c) {
  std::vector<Panel> panels = {
      {.x = {.label = "inverse temperature {/:Italic β}"},
       .y = {.label = "clustering time {/:Italic T}", .scale = AxisScale::log},
       .layers = {{.series = "time",
                   .label = fmt::format("{{/:Italic n}} = {}", c.integer("model.tokens"))}},
       .x_name = "beta",
       .residuals = true}};
  if (c.text("model.normalisation") == "softmax") {
    panels.push_back({.x = {.label = "{/:Italic γ} = {/:Italic β} / ln {/:Italic n}"},
                      .y = {.label = "clustering time {/:Italic T}", .scale = AxisScale::log},
                      .layers = {{.series = "long_context_time",
                                  .label = "{/:Italic n} = {tokens}",
                                  .simulation = false}},
                      .x_name = "gamma",
                      .vertical_marks = {1.0}});
  }
  return {.name = "token-time",
          .panels = panels,
          .columns = 1,
          .caption = fmt::format(
              "Time in which the mean overlap of tokens on the sphere reaches {}. Lines: closed "
              "form for equiangular tokens; points: simulation, mean and standard error over "
              "starts; band: declared margin. Below: long contexts freeze above γ = 1 (theory).",
              1 - c.real("model.delta"))};
}

/// Whether theory has tokens cluster at beta well within a time.
bool expected_within(const Observed& observed, double beta, double time) {
  constexpr double kWell = 0.8;
  return std::ranges::any_of(observed.theory, [&](const Prediction& p) {
    const Series& s = p.series;
    const auto found = std::ranges::find(s.x, beta);
    return s.name == "time" && found != s.x.end() &&
           s.y[static_cast<std::size_t>(found - s.x.begin())] <= kWell * time;
  });
}

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  const std::string statement =
      "every system reaches an overlap of 1 - delta before sim.horizon at every beta where theory "
      "takes at most 80 % of that";
  const double horizon = c.real("sim.horizon");
  std::vector<double> betas = ascending(c.reals("sweep.beta"));
  std::erase_if(betas, [&](double beta) { return !expected_within(observed, beta, horizon); });
  if (betas.empty()) return {};
  const auto replicates = c.integer<std::size_t>("sim.replicates");
  const ObservedCurve* curve = observed.curve("time");
  if (curve == nullptr) return {claim_open("clusters", statement, "none did")};
  std::vector<std::size_t> reached(replicates, 0);
  for (std::size_t k = 0; k < curve->mean.x.size(); ++k) {
    if (!std::ranges::binary_search(betas, curve->mean.x[k])) continue;
    for (const std::uint64_t r : curve->replicates[k]) {
      if (r < reached.size()) ++reached[r];
    }
  }
  const auto every = [&](std::size_t count) { return count == betas.size(); };
  return {claim_rate("clusters", statement, by_replicate(reached).where(every), "")};
}

}  // namespace

Study study() {
  return described(
      {.name = "token-time", .make = make<TokenTime>, .figure = figure, .claims = claims});
}

}  // namespace attica::token_time
