#include "attica/theory/init/key_dimension.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>
#include <cmath>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

/// Nodes and weights of the quadrature of a law from the recurrence of its orthogonal polynomials
/// (Golub and Welsch).
std::vector<WeightedValue> quadrature(const VectorXd& diagonal, const VectorXd& beside) {
  const Index n = diagonal.size();
  MatrixXd jacobi = diagonal.asDiagonal();
  jacobi.diagonal(1) = beside;
  jacobi.diagonal(-1) = beside;
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(jacobi);
  std::vector<WeightedValue> nodes;
  for (Index k = 0; k < n; ++k) {
    const double first = solver.eigenvectors()(0, k);
    nodes.push_back({solver.eigenvalues()[k], first * first});
  }
  return nodes;
}

/// Head dimension from which on few nodes are exact to 1e-5.
constexpr double kWide = 32;
/// Grid of two rows where many pairs are averaged: errors of 1e-8.
constexpr SoftmaxGrid kCoarse{.step = 0.5, .tail = 20};

PairMoments& add(PairMoments& sum, const PairMoments& one, double weight) {
  sum.shared += weight * one.shared;
  sum.shared_jacobian += weight * one.shared_jacobian;
  sum.squares += weight * one.squares;
  sum.square_shared += weight * one.square_shared;
  sum.query_jacobian += weight * one.query_jacobian;
  return sum;
}

/// Two rows whose queries have products aa, bb, ab.
PairMoments pair_at(const FiniteHead& head,
                    double aa,
                    double bb,
                    double ab,
                    PairPart part,
                    const SoftmaxGrid& grid) {
  PairMoments pair = softmax_pair(
      head.rows,
      {.variance_a = head.variance * aa,
       .variance_b = head.variance * bb,
       .correlation = aa > 0 && bb > 0 ? std::clamp(ab / std::sqrt(aa * bb), -1.0, 1.0) : 0},
      part,
      grid);
  pair.query_jacobian = ab * pair.shared_jacobian;
  return pair;
}

void validate(const FiniteHead& head) {
  require(head.key_dimension >= 2, "key_dimension", head.key_dimension, "at least 2");
  require(head.cosine >= 0 && head.cosine < 1, "cosine", head.cosine, "0 <= cosine < 1");
}

}  // namespace

std::vector<WeightedValue> chi_squared_nodes(double degrees, int nodes) {
  const double alpha = degrees / 2 - 1;
  const auto n = static_cast<double>(nodes);
  const VectorXd order = VectorXd::LinSpaced(nodes, 0, n - 1);
  const VectorXd above = order.tail(nodes - 1);
  std::vector<WeightedValue> all =
      quadrature((2 * order.array() + 1 + alpha).matrix(),
                 (above.array() * (above.array() + alpha)).sqrt().matrix());
  for (WeightedValue& node : all) node.value *= 2 / degrees;
  return all;
}

std::vector<WeightedValue> normal_nodes(int nodes) {
  const VectorXd above = VectorXd::LinSpaced(nodes, 0, nodes - 1).tail(nodes - 1);
  return quadrature(VectorXd::Zero(nodes), above.cwiseSqrt());
}

RowMoments finite_row(const FiniteHead& head, bool with_largest) {
  validate(head);
  const double variance = head.variance * (1 - head.cosine);
  const int nodes = head.key_dimension < kWide ? 30 : 8;
  std::vector<WeightedValue> lengths{{1, 1}};
  if (head.random_tokens) lengths = chi_squared_nodes(head.rows.sphere, 8);
  RowMoments mean;
  for (const WeightedValue& query : chi_squared_nodes(head.key_dimension, nodes)) {
    if (query.weight < 1e-14) continue;
    for (const WeightedValue& length : lengths) {
      if (query.weight * length.weight < 1e-12) continue;
      RowMoments row = softmax_row(head.rows, variance * query.value * length.value, with_largest);
      row.query_jacobian = query.value * row.jacobian();
      mean += row * (query.weight * length.weight);
    }
  }
  return mean;
}

PairMoments finite_pair(const FiniteHead& head, PairPart part) {
  validate(head);
  const double k = head.key_dimension;
  const double p = head.cosine;
  // Logits of differences of keys have variance 1 - p of those of keys.
  FiniteHead own = head;
  own.variance *= 1 - p;
  PairMoments mean;
  const bool wide = k >= kWide;
  for (const WeightedValue& a : chi_squared_nodes(k, wide ? 3 : 4)) {
    for (const WeightedValue& n : normal_nodes(wide ? 3 : 5)) {
      for (const WeightedValue& c : chi_squared_nodes(k - 1, wide ? 2 : 3)) {
        // q_b = p q_a + sqrt(1-p²) (n along q_a, the rest across it)
        const double along = p * std::sqrt(a.value) + std::sqrt((1 - p * p) / k) * n.value;
        const double across = (1 - p * p) * c.value * (k - 1) / k;
        add(mean,
            pair_at(
                own, a.value, along * along + across, along * std::sqrt(a.value), part, kCoarse),
            a.weight * n.weight * c.weight);
      }
    }
  }
  return mean;
}

PairMoments finite_pair_first_order(const FiniteHead& head, PairPart part) {
  validate(head);
  const double p = head.cosine;
  FiniteHead own = head;
  own.variance *= 1 - p;
  Eigen::Matrix3d covariance;
  covariance << 2, 2 * p * p, 2 * p, 2 * p * p, 2, 2 * p, 2 * p, 2 * p, 1 + p * p;
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> solver(covariance / head.key_dimension);
  PairMoments mean;
  for (int k = 0; k < 3; ++k) {
    const Vector3d step =
        std::sqrt(3 * std::max(solver.eigenvalues()[k], 0.0)) * solver.eigenvectors().col(k);
    for (const double sign : {-1.0, 1.0}) {
      const Vector3d at = Vector3d(1, 1, p) + sign * step;
      add(mean, pair_at(own, at[0], at[1], at[2], part, kCoarse), 1.0 / 6);
    }
  }
  return mean;
}

}  // namespace attica
