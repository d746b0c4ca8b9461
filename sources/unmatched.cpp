#include "attica/sources/unmatched.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "attica/core/matching.hpp"

namespace attica::sources {
namespace {

/// A few of the values, for messages.
std::string listed(const std::set<std::string>& all) {
  constexpr std::size_t kMost = 6;
  std::string text;
  std::size_t k = 0;
  for (const std::string& value : all) {
    if (k++ == kMost) return text + ", ...";
    text += (text.empty() ? "" : ", ") + value;
  }
  return text;
}

std::set<std::string> names_of(const Point& point) {
  std::set<std::string> names;
  for (const auto& [name, value] : point) names.insert(name);
  return names;
}

/// " (0.01, 0.1, 1)": the values of a coordinate in curves of a series.
std::string values_of(std::span<const Prediction> theory,
                      const std::string& series,
                      const std::string& coordinate) {
  std::vector<CoordinateValue> all;
  for (const Prediction& p : theory) {
    if (p.series.name != series) continue;
    for (const auto& [name, value] : p.series.point) {
      if (name == coordinate && std::ranges::find(all, value) == all.end()) all.push_back(value);
    }
  }
  std::ranges::sort(all);
  constexpr std::size_t kMost = 6;
  std::string text;
  for (std::size_t k = 0; k < std::min(all.size(), kMost); ++k)
    text += (text.empty() ? "" : ", ") + describe(all[k]);
  return " (" + text + (all.size() > kMost ? ", ..." : "") + ")";
}

/// "y at lambda=0.1" as the user would find it.
std::string curve_name(const Series& series) {
  return series.point.empty()
             ? fmt::format("series '{}'", series.name)
             : fmt::format("series '{}' at {}", series.name, describe(series.point));
}

}  // namespace

std::string why_no_curve(std::span<const Prediction> theory, const Series& curve) {
  std::set<std::string> series;
  bool same_names = false;
  const Prediction* other = nullptr;  // of that series
  for (const Prediction& p : theory) {
    series.insert(p.series.name);
    if (p.series.name != curve.name) continue;
    if (other == nullptr) other = &p;
    if (names_of(p.series.point) != names_of(curve.point)) continue;
    same_names = true;
    if (p.series.x_name == curve.x_name) other = &p;
  }
  if (other == nullptr) {
    return fmt::format("the theory has no series '{}'{}",
                       curve.name,
                       series.empty() ? "" : fmt::format(" (it has {})", listed(series)));
  }
  if (!same_names) {
    const std::set<std::string> there = names_of(other->series.point);
    const std::set<std::string> here = names_of(curve.point);
    for (const std::string& name : there) {
      if (here.contains(name)) continue;
      return fmt::format(
          "{} of the theory has the coordinate {}{}, the simulation none: print a column {}, or "
          "fix "
          "it in [model]",
          curve.name,
          name,
          values_of(theory, curve.name, name),
          name);
    }
    for (const std::string& name : here) {
      if (there.contains(name)) continue;
      return fmt::format(
          "{} of the simulation has the coordinate {}, the theory none: leave the "
          "column {} out, or fix it in [model]",
          curve.name,
          name,
          name);
    }
  }
  if (other->series.x_name != curve.x_name) {
    return fmt::format(
        "{} of the theory is against {}, that of the simulation against {}",
        curve.name,
        other->series.x_name == "none" ? "nothing (a constant)" : other->series.x_name,
        curve.x_name == "none" ? "nothing (a constant)" : curve.x_name);
  }
  std::string text;
  for (const auto& [name, value] : curve.point) {
    text += fmt::format("{}{} of the theory{}",
                        text.empty() ? "" : ", ",
                        name,
                        values_of(theory, curve.name, name));
  }
  return fmt::format("the theory has no {}: {}", curve_name(curve), text);
}

std::string why_no_x(double x,
                     const std::string& x_name,
                     std::span<const double> theory,
                     std::optional<double> match) {
  const std::optional<double> nearest = nearest_number(x, theory);
  if (!nearest) return "the theory has no value on this curve";
  const double distance = relative_distance(x, *nearest);
  std::string text = fmt::format("the nearest {} of the theory is {}", x_name, *nearest);
  constexpr double kMeant = 0.05;
  if (match && distance <= *match) {
    text += fmt::format(", within --match {:g}, but another {} is as near", *match, x_name);
  } else if (distance <= kMeant) {
    text += fmt::format(", {:.1g} off (relative): --match {:g} if it is meant",
                        distance,
                        std::pow(10.0, std::floor(std::log10(distance)) + 1));
  }
  return text;
}

}  // namespace attica::sources
