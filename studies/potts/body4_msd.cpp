/// @file
/// @brief Study body4-msd: when the layers of a deep factored network learn, SGD on fresh or stored
/// sequences against the training theory of the population from the same start.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attica/studies/potts/body.hpp"
#include "attica/studies/potts/deep_descent.hpp"

namespace attica::body4_msd {
namespace {

Point start_point(std::size_t start) { return {{"start", static_cast<double>(start)}}; }

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
        descent_(c),
        seed_(c.integer<std::uint64_t>("model.init_seed")) {
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
    const std::string missing = descent_.missing(problem_.model(), plan_, 1);
    if (!missing.empty()) {
      result.warnings.push_back("no theory of the times: " + missing);
      return result;
    }
    for (std::size_t k = 0; k < starts_; ++k) add_descent(k, result);
    return result;
  }

  std::size_t points() const override { return starts_; }

 protected:
  Outcome run(const Replicate& replicate) const override {
    const std::size_t start = replicate.point();
    const DeepFactoredTraining plan = from_start(start);
    DeepCurves curves(start_point(start), plan.shape.layers);
    std::vector<double> steps;
    std::vector<std::vector<double>> msd(curves.layers());
    Outcome outcome =
        problem_.train(plan, replicate, [&](const DeepFactoredRecord& record, double loss) {
          steps.push_back(static_cast<double>(record.step));
          curves.add(record.step, loss, {record.displacement.begin(), record.displacement.end()});
          for (std::size_t l = 0; l < msd.size(); ++l) msd[l].push_back(record.displacement[l]);
        });
    curves.into(outcome);
    for (std::size_t l = 0; l < msd.size() && steps.size() == plan.recorded.size(); ++l) {
      add_constant(outcome,
                   "half_time",
                   first_reach(steps, msd[l], kHalfWay),
                   DeepCurves::of_layer(start_point(start), l));
    }
    return outcome;
  }

 private:
  DeepFactoredTraining from_start(std::size_t start) const {
    DeepFactoredTraining plan = plan_;
    plan.start = random_layers(plan_.shape, plan_.initial_scale, {.seed = seed_, .point = start});
    return plan;
  }

  void add_descent(std::size_t start, TheoryResult& result) const {
    const DeepDescent descent = descent_.add(problem_.model(),
                                             from_start(start),
                                             DeepCurves(start_point(start), plan_.shape.layers),
                                             result);
    std::vector<double> steps;
    double sharpness = 0;
    for (const TrainingTheoryRecord& record : descent.path) {
      steps.push_back(static_cast<double>(record.step));
      sharpness = std::max(sharpness, record.sharpness);
    }
    result.diagnostics.emplace_back(fmt::format("start_{}_sharpness", start), sharpness);
    if (steps.size() < plan_.recorded.size()) return;
    const bool described = descent.described == steps.size();
    for (std::size_t l = 0; l < static_cast<std::size_t>(plan_.shape.layers); ++l) {
      std::vector<double> mean;   // MSD over runs, ...
      std::vector<double> limit;  // ... and of the population
      for (const TrainingTheoryRecord& record : descent.path) {
        mean.push_back(record.observed[l].value());
        limit.push_back(record.observed[l].order_0);
      }
      const double of_limit = first_reach(steps, limit, kHalfWay);
      const double time = described ? first_reach(steps, mean, kHalfWay) : of_limit;
      add_constant(result,
                   "half_time",
                   PredictedValue{time, std::abs(time - of_limit), described},
                   DeepCurves::of_layer(start_point(start), l));
    }
  }

  BodyProblem problem_;
  DeepFactoredTraining plan_;
  std::size_t starts_;
  DeepDescentPlan descent_;
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
    for (std::size_t l = 0; l < c.integer<std::size_t>("sim.layers"); ++l) {
      const Point point = DeepCurves::of_layer(start_point(start), l);
      const ObservedCurve* curve = observed.curve("msd", point);
      if (curve == nullptr) continue;
      for (std::vector<double>& of_layer = onsets.emplace_back();
           const std::vector<double>& path : observed.paths("msd", point)) {
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
