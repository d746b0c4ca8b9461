#include "attica/solvers/statistics/profile_interval.hpp"

#include <limits>

namespace attica {
namespace {

constexpr double kUnlimitedEnd = std::numeric_limits<double>::infinity();

/// Where a rise from `from` in steps that double passes the limit; infinite if it never does.
double profile_end(const std::function<double(double)>& sum,
                   double from,
                   double step,
                   double limit) {
  constexpr int kDoublings = 60;
  constexpr int kHalvings = 50;
  double inside = from;
  double outside = from;
  int tried = 0;
  do {
    if (++tried > kDoublings) return step > 0 ? kUnlimitedEnd : -kUnlimitedEnd;
    inside = outside;
    outside += step;
    step *= 2;
  } while (sum(outside) <= limit);
  for (int k = 0; k < kHalvings; ++k) {
    const double middle = inside + (outside - inside) / 2;
    (sum(middle) <= limit ? inside : outside) = middle;
  }
  return inside;
}

}  // namespace

Interval profile_interval(const std::function<double(double)>& sum,
                          double at,
                          double step,
                          double limit) {
  return {profile_end(sum, at, -step, limit), profile_end(sum, at, step, limit)};
}

}  // namespace attica
