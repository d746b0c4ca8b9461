#include "attica/solvers/gauss_legendre.hpp"

#include <gsl/gsl_integration.h>

#include <memory>

#include "attica/core/error.hpp"

namespace attica {

std::vector<QuadratureNode> gauss_legendre(std::size_t n, const Interval& range) {
  const std::unique_ptr<gsl_integration_glfixed_table,
                        decltype(&gsl_integration_glfixed_table_free)>
      table(gsl_integration_glfixed_table_alloc(n), gsl_integration_glfixed_table_free);
  if (!table) throw Error(ErrorKind::numerical, "no memory for a table of quadrature nodes");
  std::vector<QuadratureNode> nodes(n);
  for (std::size_t i = 0; i < n; ++i) {
    gsl_integration_glfixed_point(
        range.low, range.high, i, &nodes[i].x, &nodes[i].weight, table.get());
  }
  return nodes;
}

}  // namespace attica
