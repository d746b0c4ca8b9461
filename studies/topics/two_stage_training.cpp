#include "attica/studies/topics/two_stage_training.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "attica/studies/training_flow.hpp"
#include "attica/theory/training/update.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

TopicMatrices start_of(const TwoStageProblem& problem, const CommutantAlgebra& algebra) {
  const Index tokens = problem.shape.tokens;
  const bool split = problem.start == AttentionStart::split;
  const MatrixXd identity = problem.epsilon * MatrixXd::Identity(tokens, tokens);
  const MatrixXd none = MatrixXd::Zero(split ? tokens : 0, tokens);
  TopicMatrices start{.value = algebra.dense(problem.value),
                      .key = MatrixXd(problem.shape.inner, tokens),
                      .query = MatrixXd(problem.shape.inner, tokens)};
  start.key << identity, none;
  start.query << none, identity;
  return start;
}

/// @brief The mean step at which a rising number passes a level; empty if some runs might not by
/// `last`.
///
/// With mean m(t) and variance v(t) it lies d/dt(v/m') / (2 m') after the passage of the mean to
/// first order, less a diffusive part between 0 and as much: the allowance. A run is seen to have
/// passed at its next whole step: half of one later.
/// @param around its moments `off` steps before, at and after step `middle`
std::optional<PredictedValue> mean_passage(const std::vector<Moment>& around,
                                           double level,
                                           std::uint64_t middle,
                                           std::uint64_t off,
                                           std::uint64_t last) {
  constexpr double kNearlyAll = 4;  // standard deviations
  constexpr double kLate = 0.5;     // of a step
  const auto d = static_cast<double>(off);
  const auto mean = [&](std::size_t k) { return around[k].value(); };
  const double slope = (mean(2) - mean(0)) / (2 * d);
  const double bend = (mean(2) - 2 * mean(1) + mean(0)) / (d * d);
  if (!(slope > std::abs(bend) * d)) return {};
  double beyond = 0;  // the parabola through the three passes the level: Newton's method
  for (int k = 0; k < 4; ++k) {
    const double miss = level - mean(1) - beyond * (slope + beyond * bend / 2);
    beyond += miss / (slope + beyond * bend);
  }
  const double passage = static_cast<double>(middle) + beyond;
  if (passage + kNearlyAll * around[1].sd() / slope >= static_cast<double>(last)) return {};
  const double wider =
      (around[2].variance / (slope + bend * d) - around[0].variance / (slope - bend * d)) /
      (4 * d * slope);
  return PredictedValue(passage + wider + kLate,
                        around[1].finite_size() / slope + std::abs(wider),
                        true,
                        around[1].numerical_error / slope);
}

}  // namespace

TwoStageTraining::TwoStageTraining(const TwoStageProblem& problem,
                                   const networks::OptimiserOptions& optimiser,
                                   std::int64_t batch,
                                   std::int64_t queries)
    : algebra_(problem.model.vocabulary()),
      positions_(problem.model, problem.dynamics, start_of(problem, algebra_)),
      documents_(positions_.documents()),
      plan_(flow_plan(optimiser, batch, {}, positions_.theta_of(start_of(problem, algebra_)))),
      method_{.rank = problem.rank, .hold = problem.hold} {
  if (batch > 0) {
    plan_.parts = &positions_;
    plan_.parts_taken = queries;
  }
}

double TwoStageTraining::growth(const VectorXd& theta) const {
  const TopicMatrices w = positions_.matrices(theta);
  return w.key.squaredNorm() + w.query.squaredNorm();
}

std::vector<Observable> TwoStageTraining::observables() const {
  std::vector<Observable> all = {
      [this](const VectorXd& theta) { return positions_.matrices(theta).value.norm(); },
      [this](const VectorXd& theta) { return positions_.matrices(theta).key.norm(); },
      [this](const VectorXd& theta) { return positions_.matrices(theta).query.norm(); },
      [this](const VectorXd& theta) { return positions_.loss(theta); }};
  for (Index k = 0; k < kCommutantClasses; ++k) {
    all.emplace_back([this, k](const VectorXd& theta) {
      return algebra_.project(positions_.matrices(theta).value)[k];
    });
  }
  all.emplace_back([this](const VectorXd& theta) { return growth(theta); });
  return all;
}

std::optional<std::uint64_t> TwoStageTraining::first_step(double level, std::uint64_t last) const {
  OptimiserState state(plan_);
  VectorXd losses;
  VectorXd gradient(plan_.start.size());
  for (std::uint64_t step = 0; step < last && state.finite(); ++step) {
    if (growth(state.theta) >= level) return step;
    documents_.pass(state.theta, losses, &documents_.weights(), &gradient);
    update(state, plan_, gradient);
  }
  return {};
}

TwoStageTraining::Means TwoStageTraining::means(const std::vector<std::uint64_t>& steps,
                                                double threshold) const {
  constexpr std::uint64_t kOfTime = 50;  // the passage is looked at from so much of its time off
  const double level = threshold * threshold * growth(plan_.start);
  const std::optional<std::uint64_t> first = first_step(level, steps.back());
  const std::uint64_t off = std::max<std::uint64_t>(1, first.value_or(0) / kOfTime);
  const bool around = plan_.batch > 0 && first && *first >= off && *first + off <= steps.back();
  TrainingPlan plan = plan_;
  plan.recorded = steps;
  if (around) {
    for (const std::uint64_t step : {*first - off, *first, *first + off}) {
      plan.recorded.push_back(step);
    }
    plan.recorded = ascending(plan.recorded);
  }
  Means means;
  std::vector<Moment> passage;
  for (TrainingTheoryRecord& record : training_theory(documents_, plan, observables(), method_)) {
    const Moment m = record.observed.back();
    record.observed.pop_back();
    const bool near =
        around && record.undescribed.empty() &&
        (record.step == *first || record.step + off == *first || record.step == *first + off);
    if (near) passage.push_back(m);
    if (std::ranges::binary_search(steps, record.step)) means.records.push_back(std::move(record));
  }
  if (first && plan_.batch == 0) means.growth_step = static_cast<double>(*first);
  if (passage.size() == 3) {
    means.growth_step = mean_passage(passage, level, *first, off, steps.back());
  }
  return means;
}

}  // namespace attica
