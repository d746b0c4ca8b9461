/// @file
/// @brief Study tree-learning: in which order, and when, a hidden unit learns the tokens of a
/// latent tree, by the height of their common ancestor with the query.

#include "attica/sim/joma/tree_learning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "attica/studies/joma/model.hpp"
#include "attica/theory/joma/latent_tree.hpp"
#include "attica/theory/joma/linear.hpp"
#include "attica/theory/joma/tree_learning.hpp"

namespace attica::tree_learning {
namespace {

using Eigen::Index;

constexpr std::array<const char*, 2> kGradients = {"plain", "centred"};

Point point_of(double rho, std::size_t unit) {
  return {{"rho", rho}, {"gradient", kGradients.at(unit)}};
}

class TreeLearning : public PointwiseExperiment {
 public:
  explicit TreeLearning(const Configuration& c)
      : tree_(configured_tree(c)),
        rhos_(ascending(c.reals("sweep.rho"))),
        descent_{.eta = c.real("sim.eta"),
                 .batch = static_cast<int>(c.integer("sim.batch")),
                 .threshold = c.real("model.threshold"),
                 .horizon = c.real("sim.horizon"),
                 .rewards = c.reals("model.rewards")},
        times_(ascending(c.reals("sweep.time"))) {
    require(static_cast<Index>(descent_.rewards.size()) == tree_.classes(),
            "model.rewards",
            static_cast<double>(descent_.rewards.size()),
            "one reward per class of model.root_prior");
    for (const double rho : rhos_) {
      validate(at(rho));
      require(leaf_probability(at(rho), 0) > 0,
              "sweep.rho",
              rho,
              "a tree whose query occurs with positive probability");
    }
    constexpr double kMostSteps = 1e9;
    require(times_.back() <= kMostSteps * descent_.eta,
            "sweep.time",
            times_.back(),
            fmt::format("at most {:g} steps of sim.eta", kMostSteps));
    require(descent_.horizon <= kMostSteps * descent_.eta,
            "sim.horizon",
            descent_.horizon,
            fmt::format("at most {:g} steps of sim.eta", kMostSteps));
    for (const double time : times_) {
      steps_.push_back(std::max<std::int64_t>(std::llround(time / descent_.eta), 1));
    }
    steps_ = ascending(steps_);
    rounded_ = {times_of_steps(c, "sweep.time", descent_.eta, 1)};
  }

  TheoryResult theory(TheoryGrid grid) const override {
    std::vector<double> times = times_;
    if (grid == TheoryGrid::run) {
      times.clear();
      for (const std::int64_t step : steps_) times.push_back(time_of(step));
    }
    TheoryResult result;
    for (const double rho : rhos_) {
      for (const std::size_t unit : {kPlain, kCentred}) {
        Curves times_of = heights(rho, unit, "learning_time");
        Curves salience = heights(rho, unit, "salience");
        Curves scatter = heights(rho, unit, "scatter");
        for (int height = 1; height <= tree_.depth; ++height) {
          const TokenSignal signal = token_signal(at(rho),
                                                  descent_.rewards,
                                                  LatentTree::partner(height),
                                                  0,
                                                  unit == kCentred,
                                                  descent_.batch);
          const ErfWalk walk{.delta = signal.delta,
                             .variance = signal.variance,
                             .eta = descent_.eta,
                             .batch = static_cast<double>(descent_.batch)};
          const PredictedValue passage = learning_time(walk);
          if (passage.y < descent_.horizon) times_of.add(height, {passage});
          salience.add(height, {PredictedValue(signal.delta)});
          scatter.add(height, {PredictedValue(signal.variance, 0, steps_.back() > 1)});
          growth(walk, rho, unit, height, times, grid, passage.y).into(result);
        }
        if (!times_of.empty()) times_of.into(result);
        salience.into(result);
        scatter.into(result);
      }
    }
    return result;
  }

  std::size_t points() const override { return rhos_.size(); }

 protected:
  double flops(std::size_t) const override {
    constexpr double kPerLeaf = 40;
    return kPerLeaf * static_cast<double>(steps_.back() * descent_.batch * tree_.leaves());
  }

  Outcome run(const Replicate& replicate) const override {
    const double rho = rhos_[replicate.point()];
    RandomStream stream = replicate.stream();
    const std::array<UnitRecord, 2> units =
        descend_tree(LatentTreeSampler(at(rho)), descent_, steps_, stream);
    Outcome outcome;
    for (const std::size_t unit : {kPlain, kCentred}) {
      const UnitRecord& record = units.at(unit);
      Curves times = heights(rho, unit, "learning_time");
      Curves salience = heights(rho, unit, "salience");
      Curves scatter = heights(rho, unit, "scatter");
      for (int height = 1; height <= tree_.depth; ++height) {
        // The leaves of a height: all of the other child of the ancestor there.
        const Index first = LatentTree::partner(height);
        const double passage = record.passage.segment(first, first).mean();
        if (std::isfinite(passage)) times.add(height, {PredictedValue(passage)});
        salience.add(height, {PredictedValue(record.salience.segment(first, first).mean())});
        const double spread = record.scatter.segment(first, first).mean();
        if (std::isfinite(spread)) scatter.add(height, {PredictedValue(spread)});
        Curves v = growth_curve(rho, unit, height);
        for (std::size_t k = 0; k < steps_.size(); ++k) {
          const double mean = record.v.row(static_cast<Index>(k)).segment(first, first).mean();
          if (std::isfinite(mean)) v.add(time_of(steps_[k]), {PredictedValue(mean)});
        }
        if (!v.empty()) v.into(outcome);
      }
      if (!times.empty()) times.into(outcome);
      salience.into(outcome);
      if (!scatter.empty()) scatter.into(outcome);
    }
    return outcome;
  }

 private:
  LatentTree at(double rho) const {
    LatentTree tree = tree_;
    tree.rho = rho;
    return tree;
  }
  double time_of(std::int64_t step) const { return descent_.eta * static_cast<double>(step); }
  static Curves heights(double rho, std::size_t unit, const char* name) {
    return {point_of(rho, unit), "ancestor_height", {name}};
  }
  static Curves growth_curve(double rho, std::size_t unit, int height) {
    return {joined(point_of(rho, unit), {{"ancestor_height", static_cast<double>(height)}}),
            "time",
            {"v"}};
  }

  /// Without noise, |y| = threshold_y at threshold_y/|Delta|. By Wald's identity noise delays the
  /// mean passage only through the drift that it takes from y.
  PredictedValue learning_time(const ErfWalk& walk) const {
    const double size = std::abs(walk.delta);
    const double time = erf_coordinate(descent_.threshold) / size;
    if (!(time < descent_.horizon)) return {time, 0, false};
    const double delayed = time + std::abs(walk.bias(time)) / size;
    // By how much the noise of a step overshoots; interpolation leaves a part of it.
    const double step = descent_.eta * std::sqrt(walk.variance / walk.batch);
    // Where noise carries few tokens to the other threshold, and few are left at the horizon.
    constexpr double kDeviations = 4;
    const double late = kDeviations * walk.deviation(time) / size;
    return {delayed, step / size, late < time && delayed + 1.5 * late < descent_.horizon};
  }

  Curves growth(const ErfWalk& walk,
                double rho,
                std::size_t unit,
                int height,
                const std::vector<double>& times,
                TheoryGrid grid,
                double passage) const {
    Curves curve = growth_curve(rho, unit, height);
    // Compared until the tokens are learnt, drawn a little further.
    constexpr double kDrawn = 0.97;
    const double end = kDrawn * erf_blowup_time({.delta = walk.delta});
    std::vector<double> x;
    for (const double time : times) {
      if (time < end) x.push_back(time);
    }
    if (grid == TheoryGrid::run && end < descent_.horizon) x.push_back(end);
    for (const double time : line_between(x, AxisScale::linear, grid)) {
      const double v = erf_value({.delta = walk.delta}, time);
      const bool compared = time < passage;
      const double gain = std::exp(0.5 * v * v);
      const double noise = walk.deviation(time);
      // To first order in eta, as in joma-erf.
      const double shift = gain * walk.bias(time) + 0.5 * v * gain * gain * noise * noise;
      curve.add(time, {PredictedValue(compared ? v + shift : v, 0, compared)});
    }
    return curve;
  }

  LatentTree tree_;
  std::vector<double> rhos_;
  TreeDescent descent_;
  std::vector<double> times_;
  std::vector<std::int64_t> steps_;
};

Figure figure(const Configuration& c) {
  const std::vector<double> rhos = ascending(c.reals("sweep.rho"));
  std::vector<Layer> times;
  for (const double rho : rhos) {
    for (const std::size_t unit : {kCentred, kPlain}) {
      times.push_back({.series = "learning_time",
                       .label = fmt::format("{{/:Italic ρ}} = {{rho}}, {}", kGradients.at(unit)),
                       .hollow = unit == kPlain,
                       .only = point_of(rho, unit)});
    }
  }
  return {.name = "tree-learning",
          .panels = {{.x = {.label = "time {/:Italic t}"},
                      .y = {.label = "weights {/:Italic v}, centred", .low = 0},
                      .layers = {{.series = "v",
                                  .label = "{/:Italic H} = {ancestor_height}",
                                  .only = point_of(rhos.back(), kCentred)}},
                      .x_name = "time"},
                     {.x = {.label = "height of common ancestor {/:Italic H}", .low = 0.5},
                      .y = {.label = "learning time", .scale = AxisScale::log},
                      .layers = std::move(times),
                      .x_name = "ancestor_height"}},
          .columns = 1,
          .caption =
              "Tokens of a latent tree learnt by a hidden unit next to the query. Centred "
              "gradients learn far tokens first, gradients with a mean close ones. (a) "
              "Weights at the largest ρ. Lines: error-function law with the signal of each "
              "height; points: SGD on sampled trees, mean and standard error over runs."};
}

/// Of all pairs of heights that are predicted a tenth apart: how many come in that order, and how
/// many do not.
std::pair<int, int> pairs_in_order(const std::vector<double>& predicted,
                                   const std::vector<double>& seen) {
  constexpr double kApart = 1.1;
  std::pair<int, int> count = {0, 0};
  for (std::size_t a = 0; a < predicted.size(); ++a) {
    for (std::size_t b = 0; b < predicted.size(); ++b) {
      if (predicted[b] > kApart * predicted[a]) ++(seen[b] > seen[a] ? count.first : count.second);
    }
  }
  return count;
}

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  const auto heights = static_cast<std::size_t>(c.integer("model.depth"));
  std::vector<ClaimResult> results;
  for (const std::size_t unit : {kPlain, kCentred}) {
    std::vector<bool> holds;
    for (const double rho : ascending(c.reals("sweep.rho"))) {
      const Point point = point_of(rho, unit);
      const auto theory =
          std::find_if(observed.theory.begin(), observed.theory.end(), [&](const Prediction& p) {
            return p.series.name == "learning_time" && p.series.point == point;
          });
      if (theory == observed.theory.end() || theory->series.y.size() != heights ||
          std::count(theory->compared.begin(), theory->compared.end(), false) > 0) {
        continue;  // not all are learnt within the horizon
      }
      for (const std::vector<double>& times : observed.paths("learning_time", point)) {
        if (times.size() != heights) {
          holds.push_back(false);
          continue;
        }
        const auto [right, wrong] = pairs_in_order(theory->series.y, times);
        if (right + wrong > 0) holds.push_back(wrong == 0);  // else there is no order to find
      }
    }
    if (holds.empty()) continue;
    results.push_back(
        claim_rate(fmt::format("order-{}", kGradients.at(unit)),
                   fmt::format("heights are learnt in the order of 1/|Delta| where that differs by "
                               "a tenth, {} gradient",
                               kGradients.at(unit)),
                   holds,
                   "all rho with heights so far apart"));
  }
  return results;
}

}  // namespace

Study study() {
  return described(
      {.name = "tree-learning", .make = make<TreeLearning>, .figure = figure, .claims = claims});
}

}  // namespace attica::tree_learning
