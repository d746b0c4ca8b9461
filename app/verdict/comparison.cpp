#include "attica/app/verdict/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "attica/core/matching.hpp"
#include "attica/sources/unmatched.hpp"

namespace attica::app {
namespace {

double entry(const std::vector<double>& values, std::size_t k) {
  return values.empty() ? 0.0 : values[k];
}

/// In any order of the coordinates; numbers by `same`.
template <class Same>
bool alike(const Point& a, const Point& b, const Same& same) {
  return std::is_permutation(
      a.begin(), a.end(), b.begin(), b.end(), [&](const auto& p, const auto& q) {
        const auto* x = std::get_if<double>(&p.second);
        const auto* y = std::get_if<double>(&q.second);
        return p.first == q.first &&
               (x != nullptr && y != nullptr ? same(*x, *y) : p.second == q.second);
      });
}

/// Whether two coordinates are the same.
bool match(double a, double b, const ComparisonOptions& options) {
  if (!options.brought) return same_within_rounding(a, b);
  return options.match ? relative_distance(a, b) <= *options.match : same_number(a, b);
}

/// The theory of a simulated curve: with the same coordinates, or the only one whose coordinates
/// match.
const Prediction* find_prediction(std::span<const Prediction> theory,
                                  const Series& series,
                                  const ComparisonOptions& options) {
  const Prediction* found = nullptr;
  for (const Prediction& p : theory) {
    if (p.series.name != series.name || p.series.x_name != series.x_name) continue;
    if (same_place(p.series.point, series.point)) return &p;
    if (!alike(p.series.point, series.point, [&](double a, double b) {
          return match(a, b, options);
        })) {
      continue;
    }
    if (options.brought && found != nullptr) return nullptr;  // either could be meant
    if (found == nullptr) found = &p;
  }
  return found;
}

/// The places on the theory's curve of the simulated x.
std::vector<std::optional<std::size_t>> find_x(std::span<const double> simulated,
                                               std::span<const double> theory,
                                               const ComparisonOptions& options) {
  if (options.brought) return match_numbers(simulated, theory, options.match);
  std::vector<std::optional<std::size_t>> places;
  for (const double x : simulated) {
    auto at = std::ranges::find(theory, x);
    if (at == theory.end())
      at = std::ranges::find_if(theory, [&](double y) { return same_within_rounding(x, y); });
    places.push_back(at == theory.end()
                         ? std::nullopt
                         : std::optional(static_cast<std::size_t>(at - theory.begin())));
  }
  return places;
}

}  // namespace

std::string place_name(const Place& place) {
  return place.series + " at " + describe(joined(place.point, {{place.x_name, place.x}}));
}

std::size_t Comparison::with_theory() const {
  return static_cast<std::size_t>(std::count_if(
      points.begin(), points.end(), [](const ComparedPoint& p) { return p.theory.has_value(); }));
}

namespace {

/// Whether the finite values of a series are 0 and 1 only.
bool are_successes(const Replicates& simulation, const std::string& series) {
  bool any = false;
  for (const ObservedCurve& curve : simulation.curves()) {
    if (curve.mean.name != series) continue;
    for (const auto& values : curve.values) {
      for (const double y : values) {
        if (!std::isfinite(y)) continue;
        if (y != 0 && y != 1) return false;
        any = true;
      }
    }
  }
  return any;
}

}  // namespace

Comparison compare(std::span<const AgreementRule> rules,
                   std::span<const Prediction> theory,
                   const Replicates& simulation,
                   const ComparisonOptions& options) {
  Comparison result;
  const auto rule_of = [&](const std::string& series) {
    const auto rule = std::ranges::find(rules, series, &AgreementRule::series);
    return rule != rules.end() ? rule : std::ranges::find(rules, "*", &AgreementRule::series);
  };
  std::map<std::string, bool> rates;
  const auto is_rate = [&](const AgreementRule& rule, const std::string& series) {
    if (std::ranges::find(options.rates, series) != options.rates.end()) return true;
    if (!options.brought || rule.deterministic || rule.tails != Tails::guarded) return false;
    const auto [at, fresh] = rates.try_emplace(series, false);
    if (fresh) at->second = are_successes(simulation, series);
    return at->second;
  };
  std::map<const Prediction*, std::set<std::size_t>> met;
  std::vector<std::string> names;
  for (const ObservedCurve& curve : simulation.curves()) {
    if (options.left_out.contains(curve.mean.name)) continue;
    const auto rule = rule_of(curve.mean.name);
    if (rule == rules.end()) {
      const std::string& name = curve.mean.name;
      if (options.brought &&
          std::ranges::find(result.without_rule, name) == result.without_rule.end())
        result.without_rule.push_back(name);
      continue;
    }
    const Prediction* prediction = find_prediction(theory, curve.mean, options);
    std::vector<std::optional<std::size_t>> at(curve.mean.x.size());
    if (prediction != nullptr) at = find_x(curve.mean.x, prediction->series.x, options);
    const bool success_fraction = is_rate(*rule, curve.mean.name);
    auto series = std::ranges::find(names, curve.mean.name);
    if (series == names.end()) series = names.insert(names.end(), curve.mean.name);
    for (std::size_t k = 0; k < curve.mean.x.size(); ++k) {
      const Place place{curve.mean.name, curve.mean.point, curve.mean.x_name, curve.mean.x[k]};
      ComparedPoint point{.theory = std::nullopt,
                          .replicates = {},
                          .margin = {.absolute = rule->absolute,
                                     .relative = options.relative_margin.value_or(rule->relative)},
                          .tails = rule->tails,
                          .deterministic = rule->deterministic,
                          .success_fraction = success_fraction,
                          .series = static_cast<std::size_t>(series - names.begin())};
      if (at[k]) {
        const std::size_t j = *at[k];
        met[prediction].insert(j);
        if (!prediction->compared.empty() && !prediction->compared[j]) {
          result.not_compared.push_back(place);
          continue;
        }
        point.theory = prediction->series.y[j];
        point.margin.finite_size = entry(prediction->finite_size, j);
        point.margin.numerical_error = entry(prediction->numerical_error, j);
        if (!options.theory_replicates.empty()) {
          const Series& own = prediction->series;
          const auto found = options.theory_replicates.find(
              place_name({own.name, own.point, own.x_name, own.x[j]}));
          if (found != options.theory_replicates.end()) point.theory_replicates = found->second;
        }
      } else if (options.brought) {
        result.unmatched.push_back(
            {place,
             prediction == nullptr
                 ? sources::why_no_curve(theory, curve.mean)
                 : sources::why_no_x(place.x, place.x_name, prediction->series.x, options.match)});
      }
      for (std::size_t r = 0; r < curve.values[k].size(); ++r) {
        if (curve.replicates[k][r] < options.replicates)
          point.replicates.push_back(curve.values[k][r]);
      }
      result.places.push_back(place);
      result.points.push_back(std::move(point));
    }
  }
  if (!options.brought) return result;
  for (const Prediction& p : theory) {
    if (rule_of(p.series.name) == rules.end() || options.left_out.contains(p.series.name)) continue;
    for (std::size_t j = 0; j < p.series.x.size(); ++j) {
      const bool claimed = p.compared.empty() || p.compared[j];
      result.theory_only += claimed && !met[&p].contains(j);
    }
  }
  return result;
}

}  // namespace attica::app
