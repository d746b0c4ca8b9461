#pragma once
/// @file
/// @brief The models whose values tests/reference/potts.json holds.

#include <cmath>
#include <utility>

#include "attica/core/potts/body_ensembles.hpp"
#include "attica/core/potts/ensembles.hpp"
#include "attica/core/potts/model.hpp"

namespace attica::testing {

/// @brief The deterministic pair of couplings.
inline PottsModel cosine_model(Eigen::Index sites, Eigen::Index colours, double beta) {
  return {cosine_couplings(sites), cosine_colour_couplings(colours), beta};
}

/// @brief Four bodies on five sites of three colours.
inline BodyModel four_body() {
  Hyperedges edges = all_hyperedges(5, 4);
  edges.couplings = cosine_body_couplings(edges);
  return {5, std::move(edges), cosine_tensor(4, 3), 1.0};
}

/// @brief Factored attention A = scale sin(1 + i + 2j) off the diagonal, V = scale cos(1 + 2a + c).
inline FactoredAttention deterministic_student(Eigen::Index sites,
                                               Eigen::Index colours,
                                               double scale) {
  const auto real = [](Eigen::Index k) { return static_cast<double>(k); };
  FactoredAttention s{
      Eigen::MatrixXd::NullaryExpr(
          sites,
          sites,
          [=](auto i, auto j) { return scale * std::sin(1 + real(i) + 2 * real(j)); }),
      Eigen::MatrixXd::NullaryExpr(colours, colours, [=](auto a, auto c) {
        return scale * std::cos(1 + 2 * real(a) + real(c));
      })};
  s.attention.diagonal().setZero();
  return s;
}

}  // namespace attica::testing
