/// @file
/// @brief Study body4-msd: when the layers of a deep factored network learn, SGD on fresh or stored
/// sequences against the training theory of the population from the same start.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "attica/sim/potts/sequence_data.hpp"
#include "attica/studies/potts/body.hpp"
#include "attica/studies/potts/model.hpp"
#include "attica/studies/training_flow.hpp"
#include "attica/theory/potts/deep_population.hpp"

namespace attica::body4_msd {
namespace {

Point start_point(std::size_t start) { return {{"start", static_cast<double>(start)}}; }

Point layer_point(std::int64_t layer, std::size_t start) {
  return joined(start_point(start), {{"layer", static_cast<double>(layer)}});
}

/// The x at which a curve from (0, 0) first reaches a share of its last value, straight lines
/// between.
double first_reach(const std::vector<double>& x, const std::vector<double>& y, double share) {
  const double level = share * y.back();
  const auto above = std::ranges::find_if(y, [&](double value) { return !(value < level); });
  const auto k = static_cast<std::size_t>(above - y.begin());
  const double x0 = k == 0 ? 0 : x[k - 1];
  const double y0 = k == 0 ? 0 : y[k - 1];
  return y[k] > y0 ? x0 + (x[k] - x0) * (level - y0) / (y[k] - y0) : x[k];
}

constexpr double kHalfWay = 0.5;

class Displacement : public PointwiseExperiment {
 public:
  explicit Displacement(const Configuration& c)
      : problem_(c),
        plan_(body_training(c, c.integer<int>("sim.layers"))),
        starts_(c.integer<std::size_t>("sim.starts")),
        samples_(c.integer("sim.samples")),
        method_{.rank = c.integer("theory.rank"), .hold = c.integer<std::uint64_t>("theory.hold")},
        seed_(c.seed()) {
    rounded_ = {problem_.density()};
    // Stairs are narrow: equal steps beside equal ratios.
    constexpr std::uint64_t kEqualSteps = 40;
    const std::uint64_t length = plan_.recorded.back();
    for (std::uint64_t k = 1; k <= kEqualSteps; ++k) {
      plan_.recorded.push_back(std::max<std::uint64_t>(1, length * k / kEqualSteps));
    }
    plan_.recorded = ascending(plan_.recorded);
  }

  TheoryResult theory(TheoryGrid /*grid*/) const override {
    TheoryResult result = problem_.theory();
    const BodyModel& model = problem_.model();
    if (!few_states(model.sites(), model.colours())) {
      result.warnings.emplace_back("no theory of the times: too many states to enumerate");
      return result;
    }
    if (plan_.optimiser.kind != networks::OptimiserKind::sgd) {
      result.warnings.emplace_back("no theory of the times: it is of SGD");
      return result;
    }
    if (samples_ == 1) {
      result.warnings.emplace_back("no theory of the times: sim.samples = 1 is far from all");
      return result;
    }
    constexpr double kMostRows = 1e8;  // a minute
    const auto states =
        static_cast<double>(model.sites()) *
        std::pow(static_cast<double>(model.colours()), static_cast<double>(model.sites() - 1));
    if (const double rows = states * static_cast<double>(plan_.recorded.back()); rows > kMostRows) {
      result.warnings.push_back(fmt::format(
          "no theory of the times: {:.2g} contexts times steps, at most {:g}", rows, kMostRows));
      return result;
    }
    const PottsEnumeration all = enumerate(model);
    const DeepPopulation population(MaskedPopulation::enumerated(model, all),
                                    model.colours(),
                                    plan_.shape.layers,
                                    plan_.shape.residual);
    std::optional<GroupedPopulation> sequences;
    if (samples_ > 0) sequences.emplace(population.sequences(all.states));
    for (std::size_t k = 0; k < starts_; ++k) {
      add_descent(population, sequences ? &*sequences : nullptr, k, result);
    }
    return result;
  }

  std::size_t points() const override { return starts_; }

 protected:
  Outcome run(const Replicate& replicate) const override {
    const std::size_t start = replicate.point();
    DeepFactoredTraining plan = plan_;
    plan.start = start_of(start);
    Curves losses(start_point(start), "step", {"test_loss"});
    std::vector<Curves> moved = layer_curves(start);
    std::vector<double> steps;
    std::vector<std::vector<double>> msd(moved.size());
    Outcome outcome =
        problem_.train(plan, replicate, [&](const DeepFactoredRecord& record, double loss) {
          steps.push_back(static_cast<double>(record.step));
          losses.add(steps.back(), {loss});
          for (std::size_t l = 0; l < moved.size(); ++l) {
            msd[l].push_back(record.displacement[l]);
            moved[l].add(steps.back(), {record.displacement[l]});
          }
        });
    if (losses.empty()) return outcome;
    losses.into(outcome);
    for (std::size_t l = 0; l < moved.size(); ++l) {
      moved[l].into(outcome);
      if (steps.size() == plan.recorded.size()) {
        add_constant(
            outcome, "half_time", first_reach(steps, msd[l], kHalfWay), of_layer(l, start));
      }
    }
    return outcome;
  }

 private:
  static Point of_layer(std::size_t l, std::size_t start) {
    return layer_point(static_cast<std::int64_t>(l) + 1, start);
  }

  std::vector<FactoredAttention> start_of(std::size_t start) const {
    return random_layers(plan_.shape, plan_.initial_scale, {.seed = seed_, .point = start});
  }

  std::vector<Curves> layer_curves(std::size_t start) const {
    std::vector<Curves> curves;
    for (std::size_t l = 0; l < static_cast<std::size_t>(plan_.shape.layers); ++l) {
      curves.emplace_back(of_layer(l, start), "step", std::vector<std::string>{"msd"});
    }
    return curves;
  }

  /// MSD_l of parameters, as the training has them.
  std::vector<Observable> displacements(const Eigen::VectorXd& start) const {
    const Eigen::Index sites = plan_.shape.sites;
    const Eigen::Index colours = plan_.shape.colours;
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

  /// @param sequences of stored ones, or null
  void add_descent(const DeepPopulation& population,
                   const GroupedPopulation* sequences,
                   std::size_t start,
                   TheoryResult& result) const {
    TrainingPlan plan =
        flow_plan(plan_.optimiser, plan_.batch, plan_.recorded, packed_layers(start_of(start)));
    const PopulationModel* model = &population;
    if (sequences != nullptr) {  // of which a batch masks one site each
      model = sequences;
      plan.samples = samples_;
      plan.revisit = Revisit::replace;
      plan.parts = &population;
    }
    const std::vector<TrainingTheoryRecord> path =
        training_theory(*model, plan, displacements(plan.start), method_);
    Curves losses(start_point(start), "step", {"test_loss"});
    std::vector<Curves> moved = layer_curves(start);
    std::vector<double> steps;
    std::vector<std::vector<double>> mean(moved.size());   // MSD over runs, ...
    std::vector<std::vector<double>> limit(moved.size());  // ... and of the population
    double sharpness = 0;
    const std::size_t small = end_of_small_changes(path);
    for (const TrainingTheoryRecord& record : path) {
      const bool described = record.undescribed.empty() && steps.size() < small;
      const auto told = [&](const Moment& m) {
        return described ? PredictedValue(m.value(), m.finite_size(), true, m.numerical_error)
                         : PredictedValue(m.order_0, 0, false);
      };
      steps.push_back(static_cast<double>(record.step));
      losses.add(steps.back(), {told(record.loss)});
      for (std::size_t l = 0; l < moved.size(); ++l) {
        const Moment& msd = record.observed[l];
        moved[l].add(steps.back(), {told(msd)});
        mean[l].push_back(msd.value());
        limit[l].push_back(msd.order_0);
      }
      sharpness = std::max(sharpness, record.sharpness);
    }
    losses.into(result);
    const bool whole = path.size() == plan_.recorded.size();
    const bool described = whole && path.back().undescribed.empty() && small == path.size();
    for (std::size_t l = 0; l < moved.size(); ++l) {
      moved[l].allow_share(kShare).into(result);
      if (!whole) continue;
      const double of_limit = first_reach(steps, limit[l], kHalfWay);
      const double time = described ? first_reach(steps, mean[l], kHalfWay) : of_limit;
      add_constant(result,
                   "half_time",
                   PredictedValue{time, std::abs(time - of_limit), described},
                   of_layer(l, start));
    }
    if (!whole) result.warnings.push_back(fmt::format("start {}: the descent diverges", start));
    if (!path.empty() && !path.back().undescribed.empty()) {
      result.warnings.push_back(fmt::format("start {}: {}", start, path.back().undescribed));
    } else if (small < path.size()) {
      result.warnings.push_back(
          fmt::format("start {}: not compared from step {} on, where the first order of a layer's "
                      "displacement exceeds {:g} of the largest (raise sim.batch or sim.samples)",
                      start,
                      path[small].step,
                      kSmall));
    }
    result.diagnostics.emplace_back(fmt::format("start_{}_sharpness", start), sharpness);
  }

  /// The first record where the first order of a layer's displacement is no small change any more,
  /// of the layer that moves furthest: it then grows along directions in which the loss says little
  /// and runs go apart.
  static std::size_t end_of_small_changes(const std::vector<TrainingTheoryRecord>& path) {
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

  static constexpr double kSmall = 0.1;
  /// Of a curve's largest value: where a curve is small its relative error says little.
  static constexpr double kShare = 0.005;

  BodyProblem problem_;
  DeepFactoredTraining plan_;
  std::size_t starts_;
  std::int64_t samples_;  ///< stored, or 0
  TheoryMethod method_;
  std::uint64_t seed_;
};

/// Of starts that have a theory: it reaches every step that the runs do.
void descent_claims(const Configuration& c,
                    const Observed& observed,
                    std::vector<ClaimResult>& results) {
  for (const Prediction& theory : observed.theory) {
    if (theory.series.name != "test_loss") continue;
    const ObservedCurve* runs = observed.curve("test_loss", theory.series.point);
    if (runs == nullptr) continue;
    results.push_back(claim_certain(
        "descent-to-the-end",
        fmt::format("the descent on the population comes as far as the runs{}",
                    c.integer("sim.starts") > 1 ? " (" + describe(theory.series.point) + ")"
                                                : std::string()),
        theory.series.x.size() >= runs->mean.x.size(),
        fmt::format("{} of {} records", theory.series.x.size(), runs->mean.x.size())));
  }
}

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  constexpr double kPart = 0.1;
  std::vector<bool> holds;
  std::string detail = "steps";
  for (std::size_t start = 0; start < c.integer<std::size_t>("sim.starts"); ++start) {
    // The step at which a replicate's displacement first reaches a tenth of its last one.
    std::vector<std::vector<double>> onsets;  // a list for every layer
    for (std::int64_t l = 1; l <= c.integer("sim.layers"); ++l) {
      const ObservedCurve* curve = observed.curve("msd", layer_point(l, start));
      if (curve == nullptr) continue;
      for (std::vector<double>& of_layer = onsets.emplace_back();
           const std::vector<double>& path : observed.paths("msd", layer_point(l, start))) {
        if (path.size() < curve->mean.x.size()) continue;  // ended early
        of_layer.push_back(first_reach(curve->mean.x, path, kPart));
      }
    }
    for (std::size_t r = 0; !onsets.empty() && r < onsets.front().size(); ++r) {
      bool first = true;
      for (std::size_t l = 0; l < onsets.size(); ++l) {
        detail += fmt::format("{}{:.0f}", l == 0 ? " " : "/", onsets[l][r]);
        first = first && (l + 1 == onsets.size() || onsets[l][r] > onsets.back()[r]);
      }
      holds.push_back(first);
    }
  }
  std::vector<ClaimResult> results{
      claim_rate("last-layer-first",
                 "the last layer reaches a tenth of its displacement before the others",
                 holds,
                 detail,
                 kHalf)};
  descent_claims(c, observed, results);
  return results;
}

}  // namespace

Study study() {
  return described({.name = "body4-msd", .make = make<Displacement>, .claims = claims});
}

}  // namespace attica::body4_msd
