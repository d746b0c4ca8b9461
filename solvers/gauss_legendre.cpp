#include "attica/solvers/gauss_legendre.hpp"

#ifdef ATTICA_WITHOUT_GSL
#include <cmath>
#include <numbers>
#else
#include <gsl/gsl_integration.h>
#endif

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "attica/core/error.hpp"

namespace attica {

#ifdef ATTICA_WITHOUT_GSL

std::vector<QuadratureNode> gauss_legendre(std::size_t n, const Interval& range) {
  std::vector<QuadratureNode> nodes(n);
  const double middle = (range.low + range.high) / 2;
  const double half = (range.high - range.low) / 2;
  const auto order = static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i) {
    // Newton's method on the Legendre polynomial, from the root of its leading asymptotic form.
    constexpr double kShift = 0.25;
    double x = -std::cos(std::numbers::pi * (static_cast<double>(i) + 1 - kShift) / (order + 0.5));
    double slope = 1;
    for (int step = 0; step < 10; ++step) {
      double value = 1;
      double before = 0;
      for (std::size_t k = 1; k <= n; ++k) {
        const auto degree = static_cast<double>(k);
        const double next = ((2 * degree - 1) * x * value - (degree - 1) * before) / degree;
        before = std::exchange(value, next);
      }
      slope = order * (before - x * value) / (1 - x * x);
      x -= value / slope;
    }
    nodes[i] = {.x = middle + half * x, .weight = 2 * half / ((1 - x * x) * slope * slope)};
  }
  return nodes;
}

#else

namespace {

using Table =
    std::unique_ptr<gsl_integration_glfixed_table, decltype(&gsl_integration_glfixed_table_free)>;

/// Found once for every n: most numbers of nodes take GSL iterations of Newton's.
const gsl_integration_glfixed_table& table(std::size_t n) {
  static std::mutex mutex;
  static std::map<std::size_t, Table> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(n);
  if (found != known.end()) return *found->second;
  Table made(gsl_integration_glfixed_table_alloc(n), gsl_integration_glfixed_table_free);
  if (!made) throw Error(ErrorKind::numerical, "no memory for a table of quadrature nodes");
  return *known.emplace(n, std::move(made)).first->second;
}

}  // namespace

std::vector<QuadratureNode> gauss_legendre(std::size_t n, const Interval& range) {
  const gsl_integration_glfixed_table& roots = table(n);
  std::vector<QuadratureNode> nodes(n);
  for (std::size_t i = 0; i < n; ++i) {
    gsl_integration_glfixed_point(range.low, range.high, i, &nodes[i].x, &nodes[i].weight, &roots);
  }
  return nodes;
}

#endif

}  // namespace attica
