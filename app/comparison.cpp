#include "attica/app/comparison.hpp"

#include <algorithm>

namespace attica::app {
namespace {

double entry(const std::vector<double>& values, std::size_t k) {
  return values.empty() ? 0.0 : values[k];
}

const Prediction* find_prediction(std::span<const Prediction> theory, const Series& series) {
  const auto at = std::find_if(theory.begin(), theory.end(), [&](const Prediction& p) {
    return p.series.name == series.name && p.series.x_name == series.x_name &&
           p.series.point == series.point;
  });
  return at == theory.end() ? nullptr : &*at;
}

}  // namespace

std::string place_name(const Place& place) {
  return place.series + " at " + describe(joined(place.point, {{place.x_name, place.x}}));
}

std::size_t Comparison::with_theory() const {
  return static_cast<std::size_t>(std::count_if(
      points.begin(), points.end(), [](const ComparedPoint& p) { return p.theory.has_value(); }));
}

Comparison compare(std::span<const AgreementRule> rules,
                   std::span<const Prediction> theory,
                   const Replicates& simulation,
                   const ComparisonOptions& options) {
  Comparison result;
  for (const ObservedCurve& curve : simulation.curves()) {
    const auto rule = std::find_if(rules.begin(), rules.end(), [&](const AgreementRule& r) {
      return r.series == curve.mean.name;
    });
    if (rule == rules.end()) continue;
    const Prediction* prediction = find_prediction(theory, curve.mean);
    for (std::size_t k = 0; k < curve.mean.x.size(); ++k) {
      ComparedPoint point{.theory = std::nullopt,
                          .replicates = {},
                          .margin = {.absolute = rule->absolute,
                                     .relative = options.relative_margin.value_or(rule->relative)},
                          .tails = rule->tails,
                          .deterministic = rule->deterministic};
      if (prediction != nullptr) {
        const auto& x = prediction->series.x;
        const auto at = std::find(x.begin(), x.end(), curve.mean.x[k]);
        if (at != x.end()) {
          const auto j = static_cast<std::size_t>(at - x.begin());
          if (!prediction->compared.empty() && !prediction->compared[j]) {
            result.outside.push_back(
                {curve.mean.name, curve.mean.point, curve.mean.x_name, curve.mean.x[k]});
            continue;
          }
          point.theory = prediction->series.y[j];
          point.margin.finite_size = entry(prediction->finite_size, j);
          point.margin.numerical_error = entry(prediction->numerical_error, j);
        }
      }
      for (std::size_t r = 0; r < curve.values[k].size(); ++r) {
        if (curve.replicates[k][r] < options.replicates)
          point.replicates.push_back(curve.values[k][r]);
      }
      result.places.push_back(
          {curve.mean.name, curve.mean.point, curve.mean.x_name, curve.mean.x[k]});
      result.points.push_back(std::move(point));
    }
  }
  return result;
}

}  // namespace attica::app
