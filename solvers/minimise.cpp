#include "attica/solvers/minimise.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gsl/gsl_min.h>
#include <gsl/gsl_multimin.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
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

/// A function of several variables as GSL calls it. Exceptions must not cross its C frames: the
/// first is kept. It takes no infinity: the largest number stands in.
struct Called {
  const std::function<double(const std::vector<double>&)>& f;
  std::vector<double> x;
  std::exception_ptr exception = nullptr;

  static double call(const gsl_vector* at, void* params) {
    Called& self = *static_cast<Called*>(params);
    if (self.exception) return GSL_NAN;
    try {
      for (std::size_t k = 0; k < self.x.size(); ++k) self.x[k] = gsl_vector_get(at, k);
      const double value = self.f(self.x);
      if (std::isnan(value) || value == -std::numeric_limits<double>::infinity()) {
        throw Error(ErrorKind::numerical,
                    fmt::format("minimise_simplex: {} at {}", value, fmt::join(self.x, ", ")));
      }
      return std::min(value, std::numeric_limits<double>::max());
    } catch (...) {
      self.exception = std::current_exception();
      return GSL_NAN;
    }
  }
};

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

std::vector<double> minimise_simplex(const std::function<double(const std::vector<double>&)>& f,
                                     const std::vector<double>& start,
                                     double step,
                                     double accuracy) {
  constexpr int kMostSteps = 2000;
  disable_gsl_handler();
  const std::size_t n = start.size();
  require(n > 0, "start", 0, "one variable or more");
  Called called{f, start};
  gsl_multimin_function function{.f = &Called::call, .n = n, .params = &called};
  const auto check = [&](int code) {
    if (called.exception) std::rethrow_exception(called.exception);
    check_gsl(code, "minimise_simplex");
  };
  using GslVector = std::unique_ptr<gsl_vector, decltype(&gsl_vector_free)>;
  const GslVector from(gsl_vector_alloc(n), gsl_vector_free);
  const GslVector steps(gsl_vector_alloc(n), gsl_vector_free);
  const std::unique_ptr<gsl_multimin_fminimizer, decltype(&gsl_multimin_fminimizer_free)> minimizer(
      gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, n),
      gsl_multimin_fminimizer_free);
  if (!from || !steps || !minimizer) check_gsl(GSL_ENOMEM, "minimise_simplex");
  for (std::size_t k = 0; k < n; ++k) gsl_vector_set(from.get(), k, start[k]);
  gsl_vector_set_all(steps.get(), step);
  check(gsl_multimin_fminimizer_set(minimizer.get(), &function, from.get(), steps.get()));
  for (int i = 0; i < kMostSteps; ++i) {
    const int code = gsl_multimin_fminimizer_iterate(minimizer.get());
    if (code == GSL_ENOPROG) break;  // rounding: no corner can be made lower
    check(code);
    if (gsl_multimin_fminimizer_size(minimizer.get()) < accuracy) break;
  }
  std::vector<double> lowest(n);
  for (std::size_t k = 0; k < n; ++k) lowest[k] = gsl_vector_get(minimizer->x, k);
  return lowest;
}

}  // namespace attica
