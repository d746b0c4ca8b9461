#include "attica/studies/gauss/ridge_sweep.hpp"

#include <cmath>

#include "attica/core/parallel.hpp"
#include "attica/studies/sample_ratios.hpp"

namespace attica {

double ridge_flops(Eigen::Index samples, Eigen::Index sites, std::size_t lambdas) {
  // In products of L x L matrices: the reduction, at its slower pace, and each penalty.
  constexpr double kReduction = 12;
  constexpr double kPenalty = 3;
  const auto l = static_cast<double>(sites);
  return 2 * static_cast<double>(samples) * l * l +
         (kReduction + kPenalty * static_cast<double>(lambdas)) * l * l * l;
}

RidgeSweep::RidgeSweep(Configuration& c, RidgeAxis axis, std::vector<RidgeQuantity> quantities)
    : model_(GaussianModel::from(c)),
      ridge_(model_.problem(), ridge_order(c)),
      axis_(axis),
      quantities_(std::move(quantities)),
      sizes_(model_.sizes(with_distinct_ratios(c, model_.inputs()))),
      lambdas_(c.reals("sweep.lambda")),
      data_sets_(c.integer("sim.data_sets")) {
  model_.require_penalties(lambdas_, "sweep.lambda");
  diagnostics_ = model_.diagnostics();
  warnings_ = joined_lines(model_.warnings(), rounded_ratios(c, sizes_));
}

void RidgeSweep::require_simulable() const { require_distinct_samples(sizes_); }

Curves RidgeSweep::curves(double alpha, double lambda, bool simulated) const {
  std::vector<std::string> names;
  for (const RidgeQuantity& quantity : quantities_) {
    if (!simulated || quantity.simulation != nullptr) names.emplace_back(quantity.name);
  }
  return axis_ == RidgeAxis::alpha ? Curves({{"lambda", lambda}}, "alpha", names)
                                   : Curves({{"alpha", alpha}}, "lambda", names);
}

PredictedValue RidgeSweep::told(const RidgePoint& point, const RidgeQuantity& quantity) const {
  const double value = point.*quantity.theory;
  if (point.status == RidgeStatus::not_converged) return std::nan("");
  if (point.status == RidgeStatus::divergent) return {value, 0, false};
  // On data the margin is the claim itself.
  const double allowance = model_.from_data() ? 0 : point.*quantity.allowance;
  return quantity.theory == &RidgePoint::train_error
             ? train_error_value(ridge_.order(), value, point.test_error, allowance)
             : test_error_value(ridge_.order(), value, allowance);
}

TheoryResult RidgeSweep::theory(TheoryGrid grid) const {
  constexpr int kLinePoints = 240;
  const auto along = [&](std::vector<double> x) {
    return grid == TheoryGrid::run ? line_through(std::move(x), kLinePoints, AxisScale::log, grid)
                                   : x;
  };
  TheoryResult result;
  const auto add = [&](Curves all, const std::vector<double>& x, const std::vector<RidgePoint>& y) {
    for (std::size_t k = 0; k < x.size(); ++k) {
      std::vector<PredictedValue> values;
      for (const RidgeQuantity& quantity : quantities_) values.push_back(told(y[k], quantity));
      all.add(x[k], values);
    }
    all.into(result);
  };
  if (axis_ == RidgeAxis::alpha) {
    const std::vector<double> x = along(sizes_.alphas(grid));
    std::vector<double> samples;
    for (const double alpha : x) samples.push_back(sizes_.samples(alpha));
    const auto all = parallel_map(lambdas_, [&](double lambda) {
      return ridge_.curve(samples, model_.absolute_lambda(lambda));
    });
    for (std::size_t k = 0; k < all.size(); ++k) add(curves(0, lambdas_[k], false), x, all[k]);
  } else {
    const std::vector<double> x = along(lambdas_);
    for (const double alpha : sizes_.alphas(grid)) {
      const auto curve = parallel_map(x, [&](double lambda) {
        return ridge_.average(sizes_.samples(alpha), model_.absolute_lambda(lambda));
      });
      add(curves(alpha, 0, false), x, curve);
    }
  }
  return result;
}

double RidgeSweep::flops(std::size_t point) const {
  return static_cast<double>(data_sets_) *
         ridge_flops(sizes_[point], model_.problem().sites(), lambdas_.size());
}

std::vector<RidgeFits> RidgeSweep::data_sets(const Replicate& replicate) const {
  RandomStream stream = replicate.stream();
  std::vector<RidgeFits> sets;
  for (std::int64_t k = 0; k < data_sets_; ++k) {
    sets.emplace_back(model_.samples(sizes_[replicate.point()], stream), model_.factor());
  }
  return sets;
}

Outcome RidgeSweep::run(const Replicate& replicate) const {
  const std::vector<RidgeFits> sets = data_sets(replicate);
  const double alpha = sizes_.alpha(replicate.point());
  Outcome outcome;
  for (const double lambda : lambdas_) {
    std::vector<RidgeFit> fits;
    for (const RidgeFits& set : sets) fits.push_back(set.fit(model_.absolute_lambda(lambda)));
    std::vector<double> values;
    for (const RidgeQuantity& quantity : quantities_) {
      if (quantity.simulation == nullptr) continue;
      values.push_back(
          mean_over(fits, [&](const RidgeFit& fit) { return (fit.*quantity.simulation).mean(); }));
    }
    const double x = axis_ == RidgeAxis::alpha ? alpha : lambda;
    curves(alpha, lambda, true).add(x, values).into(outcome);
  }
  observe(sets, replicate, outcome);
  return outcome;
}

}  // namespace attica
