#include "attica/solvers/minimise.hpp"

#include <gsl/gsl_min.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/solvers/gsl.hpp"

namespace attica {
namespace {

constexpr int kMaxSteps = 500;

struct Sample {
  double x = 0;
  double value = 0;
};

/// Brent's method inside low < middle < high with the lowest value in the middle.
Minimum refine(const std::function<double(double)>& f,
               const Sample& low,
               const Sample& middle,
               const Sample& high,
               double accuracy) {
  disable_gsl_handler();
  GslFunction function([&f](double x) { return f(x); });
  const std::unique_ptr<gsl_min_fminimizer, decltype(&gsl_min_fminimizer_free)> minimizer(
      gsl_min_fminimizer_alloc(gsl_min_fminimizer_brent), gsl_min_fminimizer_free);
  if (!minimizer) check_gsl(GSL_ENOMEM, "minimise_on_grid");
  check_gsl(
      gsl_min_fminimizer_set_with_values(
          minimizer.get(), &function, middle.x, middle.value, low.x, low.value, high.x, high.value),
      "minimise_on_grid");
  for (int step = 0; step < kMaxSteps; ++step) {
    const int code = gsl_min_fminimizer_iterate(minimizer.get());
    function.rethrow();
    check_gsl(code, "minimise_on_grid");
    const int done = gsl_min_test_interval(gsl_min_fminimizer_x_lower(minimizer.get()),
                                           gsl_min_fminimizer_x_upper(minimizer.get()),
                                           accuracy,
                                           accuracy);
    if (done == GSL_SUCCESS) {
      return {.x = gsl_min_fminimizer_x_minimum(minimizer.get()),
              .value = gsl_min_fminimizer_f_minimum(minimizer.get())};
    }
  }
  throw Error(ErrorKind::numerical,
              fmt::format("minimise_on_grid: no convergence in {} steps near x = {}",
                          kMaxSteps,
                          gsl_min_fminimizer_x_minimum(minimizer.get())));
}

}  // namespace

Minimum minimise_on_grid(const std::function<double(double)>& f,
                         std::span<const double> grid,
                         double accuracy) {
  constexpr std::size_t kFewestPoints = 3;
  require(
      grid.size() >= kFewestPoints, "grid", static_cast<double>(grid.size()), "at least 3 points");
  std::vector<Sample> samples;
  samples.reserve(grid.size());
  for (const double x : grid) {
    samples.push_back({x, f(x)});
    if (std::isnan(samples.back().value)) {
      throw Error(ErrorKind::numerical, fmt::format("minimise_on_grid: NaN at x = {}", x));
    }
  }
  const auto best = std::min_element(
      samples.begin(), samples.end(), [](auto& a, auto& b) { return a.value < b.value; });
  const Minimum on_grid{.x = best->x, .value = best->value};
  if (best == samples.begin() || best + 1 == samples.end()) {
    return {.x = best->x, .value = best->value, .at_edge = true};
  }
  const Sample& low = *(best - 1);
  const Sample& high = *(best + 1);
  if (best->value < high.value) return refine(f, low, *best, high, accuracy);
  // The next point is as low: the minimum lies between the two, unless f is flat there.
  const double x = 0.5 * (best->x + high.x);
  const Sample between{x, f(x)};
  return between.value < best->value ? refine(f, *best, between, high, accuracy) : on_grid;
}

}  // namespace attica
