#include "attica/core/potts/ensembles.hpp"

#include <cmath>

#include "attica/core/error.hpp"
#include "attica/core/normal_matrix.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;

namespace {

void require_sites(Index sites) {
  require(sites >= 2, "sites", static_cast<double>(sites), "at least 2");
}

void require_colours(Index colours) {
  require(colours >= 2, "colours", static_cast<double>(colours), "at least 2");
}

/// The symmetric matrix with zero diagonal and entry(i, j) for i < j, called row by row.
template <class Entry>
MatrixXd symmetric_pairs(Index sites, Entry entry) {
  require_sites(sites);
  MatrixXd j = MatrixXd::Zero(sites, sites);
  for (Index i = 0; i < sites; ++i) {
    for (Index k = i + 1; k < sites; ++k) j(i, k) = j(k, i) = entry(i, k);
  }
  return j;
}

}  // namespace

MatrixXd binary_couplings(Index sites, double density, RandomStream& stream) {
  require(density > 0 && density <= 1, "density", density, "0 < density <= 1");
  return symmetric_pairs(sites,
                         [&](Index, Index) { return stream.uniform() < density ? 1.0 : 0.0; });
}

MatrixXd gaussian_couplings(Index sites, RandomStream& stream) {
  const double scale = 1 / std::sqrt(static_cast<double>(sites));
  return symmetric_pairs(sites, [&](Index, Index) { return scale * stream.normal(); });
}

MatrixXd ring_couplings(Index sites) {
  return symmetric_pairs(sites, [&](Index i, Index j) {
    return j == i + 1 || (i == 0 && j == sites - 1) ? 1.0 : 0.0;
  });
}

MatrixXd cosine_couplings(Index sites) {
  const double scale = 1 / std::sqrt(static_cast<double>(sites));
  return symmetric_pairs(sites, [&](Index i, Index j) {
    const auto x = static_cast<double>(i);
    const auto y = static_cast<double>(j);
    return scale * std::cos(1 + 1.3 * x * y + 0.7 * (x + y));
  });
}

MatrixXd gaussian_colour_couplings(Index colours, RandomStream& stream) {
  require_colours(colours);
  const MatrixXd g = normal_matrix(colours, colours, stream);
  return (g + g.transpose()) / std::sqrt(2.0);
}

MatrixXd potts_colour_couplings(Index colours) {
  require_colours(colours);
  return MatrixXd::Identity(colours, colours);
}

MatrixXd cosine_colour_couplings(Index colours) {
  require_colours(colours);
  return MatrixXd::NullaryExpr(colours, colours, [](Index a, Index c) {
    const auto x = static_cast<double>(a);
    const auto y = static_cast<double>(c);
    return std::sin(1 + 1.1 * ((x + 1) * (y + 1))) + std::cos(0.5 * (x + y));
  });
}

MatrixXd zero_sum(const MatrixXd& colour_couplings) {
  const MatrixXd columns = colour_couplings.rowwise() - colour_couplings.colwise().mean();
  const MatrixXd both = columns.colwise() - columns.rowwise().mean();
  return 0.5 * (both + both.transpose());  // symmetric to the last bit
}

}  // namespace attica
