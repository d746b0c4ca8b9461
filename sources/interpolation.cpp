#include "attica/sources/interpolation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "attica/core/error.hpp"
#include "attica/core/matching.hpp"
#include "attica/sources/side.hpp"

namespace attica::sources {
namespace {

/// The x of simulated curves of this name and point, without those that meet one of the curve's.
std::vector<double> missing_places(const Series& curve,
                                   const std::vector<Series>& simulated,
                                   std::optional<double> reach) {
  std::set<double> places;
  for (const Series& s : simulated) {
    if (s.name == curve.name && same_point(s.point, curve.point))
      places.insert(s.x.begin(), s.x.end());
  }
  const std::vector<double> all(places.begin(), places.end());
  const auto met = match_numbers(all, curve.x, reach);
  std::vector<double> missing;
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (!met[k] && all[k] > curve.x.front() && all[k] < curve.x.back()) missing.push_back(all[k]);
  }
  return missing;
}

/// Half the second derivative over three places from k on; 0 if there are no such places.
double bend(const Series& curve, std::size_t k) {
  if (k + 2 >= curve.x.size()) return 0;
  const auto slope = [&](std::size_t a) {
    return (curve.y[a + 1] - curve.y[a]) / (curve.x[a + 1] - curve.x[a]);
  };
  const double half = std::abs(slope(k + 1) - slope(k)) / (curve.x[k + 2] - curve.x[k]);
  return std::isfinite(half) ? half : 0;
}

}  // namespace

Interpolation interpolate_linearly(std::vector<Prediction>& theory,
                                   const std::vector<Series>& simulated,
                                   std::optional<double> reach) {
  Interpolation result;
  for (Prediction& p : theory) {
    if (p.series.x.empty()) continue;
    sort_by_x(p);
    const Series known = p.series;
    const std::vector<double> missing = missing_places(known, simulated, reach);
    if (missing.empty()) continue;
    if (known.x.size() < 3) {
      throw Error(ErrorKind::input,
                  fmt::format("theory.interpolate: {} has a theory at {} values of {}; expected 3 "
                              "or more, from which the error of a straight line is estimated",
                              known.name,
                              known.x.size(),
                              known.x_name));
    }
    const std::size_t before = known.x.size();
    p.finite_size.resize(before, 0.0);
    p.numerical_error.resize(before, 0.0);
    p.compared.resize(before, true);
    for (const double x : missing) {
      const auto right = static_cast<std::size_t>(
          std::upper_bound(known.x.begin(), known.x.end(), x) - known.x.begin());
      const std::size_t left = right - 1;
      const double share = (x - known.x[left]) / (known.x[right] - known.x[left]);
      const double y = (1 - share) * known.y[left] + share * known.y[right];
      const bool finite = std::isfinite(known.y[left]) && std::isfinite(known.y[right]);
      const double error = std::max(left > 0 ? bend(known, left - 1) : 0, bend(known, left)) *
                           (x - known.x[left]) * (known.x[right] - x);
      p.series.x.push_back(x);
      p.series.y.push_back(finite ? y : std::numeric_limits<double>::infinity());
      p.finite_size.push_back(std::max(p.finite_size[left], p.finite_size[right]));
      p.numerical_error.push_back(std::max(p.numerical_error[left], p.numerical_error[right]) +
                                  (finite ? error : 0));
      p.compared.push_back(p.compared[left] && p.compared[right]);
      ++result.values;
      if (finite && y != 0)
        result.largest_error = std::max(result.largest_error, error / std::abs(y));
    }
    sort_by_x(p);
  }
  return result;
}

}  // namespace attica::sources
