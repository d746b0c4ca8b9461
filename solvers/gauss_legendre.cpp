#include "attica/solvers/gauss_legendre.hpp"

#include <gsl/gsl_integration.h>

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "attica/core/error.hpp"

namespace attica {

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

}  // namespace attica
