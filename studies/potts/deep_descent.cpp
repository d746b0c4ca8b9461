#include "attica/studies/potts/deep_descent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "attica/studies/potts/model.hpp"
#include "attica/studies/training_flow.hpp"
#include "attica/theory/potts/deep_population.hpp"

namespace attica {

namespace {

/// MSD_l of parameters, as the training has them.
std::vector<Observable> displacements(const DeepFactoredShape& shape,
                                      const Eigen::VectorXd& start) {
  const Eigen::Index sites = shape.sites;
  const Eigen::Index colours = shape.colours;
  const Eigen::Index size = sites * sites + colours * colours;
  std::vector<Observable> all;
  for (Eigen::Index at = 0; at < start.size(); at += size) {
    all.emplace_back([=](const Eigen::VectorXd& theta) {
      const Eigen::VectorXd moved = (theta - start).segment(at, size);
      return moved.head(sites * sites).squaredNorm() / static_cast<double>(sites) +
             moved.tail(colours * colours).squaredNorm() / static_cast<double>(colours);
    });
  }
  return all;
}

constexpr double kSmall = 0.1;

/// The first record where the first order of a layer's displacement is no small change any more,
/// of the layer that moves furthest: it then grows along directions in which the loss says little
/// and runs go apart.
std::size_t end_of_small_changes(const std::vector<TrainingTheoryRecord>& path) {
  double furthest = 0;
  for (const TrainingTheoryRecord& record : path) {
    for (const Moment& msd : record.observed) furthest = std::max(furthest, msd.order_0);
  }
  const auto end = std::ranges::find_if(path, [&](const TrainingTheoryRecord& record) {
    return std::ranges::any_of(record.observed, [&](const Moment& msd) {
      return !(std::abs(msd.shift) <= kSmall * furthest);
    });
  });
  return static_cast<std::size_t>(end - path.begin());
}

}  // namespace

DeepCurves::DeepCurves(const Point& point, int layers, const std::string& loss)
    : point_(point), losses_(point, "step", {loss}) {
  for (std::size_t l = 0; l < static_cast<std::size_t>(layers); ++l) {
    moved_.emplace_back(of_layer(point, l), "step", std::vector<std::string>{"msd"});
  }
}

Point DeepCurves::of_layer(const Point& point, std::size_t layer) {
  return joined(point, {{"layer", static_cast<double>(layer + 1)}});
}

void DeepCurves::add(std::uint64_t step,
                     PredictedValue loss,
                     const std::vector<PredictedValue>& msd) {
  losses_.add(static_cast<double>(step), {loss});
  for (std::size_t l = 0; l < moved_.size(); ++l) {
    moved_[l].add(static_cast<double>(step), {msd[l]});
  }
}

void DeepCurves::into(Outcome& outcome) const {
  if (losses_.empty()) return;
  losses_.into(outcome);
  for (const Curves& curve : moved_) curve.into(outcome);
}

void DeepCurves::into(TheoryResult& theory) {
  constexpr double kShare = 0.005;
  losses_.into(theory);
  for (Curves& curve : moved_) curve.allow_share(kShare).into(theory);
}

DeepDescentPlan::DeepDescentPlan(const Configuration& c)
    : samples(c.integer("sim.samples")),
      method{.rank = c.integer("theory.rank"), .hold = c.integer<std::uint64_t>("theory.hold")} {}

std::string DeepDescentPlan::missing(const BodyModel& model,
                                     const DeepFactoredTraining& training,
                                     std::size_t trainings) const {
  constexpr double kMostRows = 1e8;  // a minute
  if (!few_states(model.sites(), model.colours())) return "too many states to enumerate";
  if (training.optimiser.kind != networks::OptimiserKind::sgd) return "it is of SGD";
  if (samples == 1) return "sim.samples = 1 is far from all";
  const double contexts =
      static_cast<double>(model.sites()) *
      std::pow(static_cast<double>(model.colours()), static_cast<double>(model.sites() - 1));
  const double rows = contexts * static_cast<double>(training.recorded.back() * trainings);
  if (rows <= kMostRows) return {};
  return fmt::format("{:.2g} contexts times steps of all trainings, at most {:g}", rows, kMostRows);
}

DeepDescent DeepDescentPlan::add(const BodyModel& model,
                                 const DeepFactoredTraining& training,
                                 DeepCurves curves,
                                 TheoryResult& result) const {
  const PottsEnumeration all = enumerate(model);
  const DeepPopulation population(MaskedPopulation::enumerated(model, all),
                                  model.colours(),
                                  training.shape.layers,
                                  training.shape.residual);
  TrainingPlan plan = flow_plan(
      training.optimiser, training.batch, training.recorded, packed_layers(training.start));
  const PopulationModel* taken = &population;
  std::optional<GroupedPopulation> sequences;
  if (samples > 0) {
    taken = &sequences.emplace(population.sequences(all.states));
    plan.samples = samples;
    plan.revisit = Revisit::replace;
    plan.parts = &population;
  }
  DeepDescent found;
  found.path = training_theory(*taken, plan, displacements(training.shape, plan.start), method);
  const std::vector<TrainingTheoryRecord>& path = found.path;
  const std::size_t small = end_of_small_changes(path);
  for (const TrainingTheoryRecord& record : path) {
    const bool described = record.undescribed.empty() && found.described < small;
    const auto told = [&](const Moment& m) {
      return described ? PredictedValue(m.value(), m.finite_size(), true, m.numerical_error)
                       : PredictedValue(m.order_0, 0, false);
    };
    if (described) ++found.described;
    std::vector<PredictedValue> msd;
    for (const Moment& m : record.observed) msd.push_back(told(m));
    curves.add(record.step, told(record.loss), msd);
  }
  curves.into(result);
  const auto warn = [&](const std::string& why) {
    result.warnings.push_back(describe(curves.point()) + ": " + why);
  };
  if (path.size() < training.recorded.size()) warn("the descent diverges");
  if (!path.empty() && !path.back().undescribed.empty()) {
    warn(path.back().undescribed);
  } else if (small < path.size()) {
    warn(
        fmt::format("not compared from step {} on, where the first order of a layer's displacement "
                    "exceeds {:g} of the largest (raise sim.batch or sim.samples)",
                    path[small].step,
                    kSmall));
  }
  return found;
}

}  // namespace attica
