#include "attica/app/comparison.hpp"

#include <algorithm>
#include <cmath>

namespace attica::app {
namespace {

double entry(const std::vector<double>& values, std::size_t k) {
  return values.empty() ? 0.0 : values[k];
}

/// Numbers of outside programs are the same within 1e-9 of their size.
bool same_number(double a, double b) {
  constexpr double kSame = 1e-9;
  return std::abs(a - b) <= kSame * std::max(std::abs(a), std::abs(b));
}

/// In any order of the coordinates.
bool nearly_same_place(const Point& a, const Point& b) {
  return std::is_permutation(
      a.begin(), a.end(), b.begin(), b.end(), [](const auto& p, const auto& q) {
        const auto* x = std::get_if<double>(&p.second);
        const auto* y = std::get_if<double>(&q.second);
        return p.first == q.first &&
               (x != nullptr && y != nullptr ? same_number(*x, *y) : p.second == q.second);
      });
}

const Prediction* find_prediction(std::span<const Prediction> theory, const Series& series) {
  const auto curve = [&](auto same) {
    return std::find_if(theory.begin(), theory.end(), [&](const Prediction& p) {
      return p.series.name == series.name && p.series.x_name == series.x_name &&
             same(p.series.point, series.point);
    });
  };
  auto at = curve(same_place);
  if (at == theory.end()) at = curve(nearly_same_place);
  return at == theory.end() ? nullptr : &*at;
}

/// The place of x in a rising list, or in one that is not, to the last digit or nearly.
std::vector<double>::const_iterator find_x(const std::vector<double>& all, double x) {
  const auto exact = std::find(all.begin(), all.end(), x);
  if (exact != all.end()) return exact;
  return std::find_if(all.begin(), all.end(), [&](double y) { return same_number(x, y); });
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
    auto rule = std::find_if(rules.begin(), rules.end(), [&](const AgreementRule& r) {
      return r.series == curve.mean.name;
    });
    if (rule == rules.end()) {
      rule = std::find_if(
          rules.begin(), rules.end(), [](const AgreementRule& r) { return r.series == "*"; });
    }
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
        const auto at = find_x(x, curve.mean.x[k]);
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
