#pragma once
// Instances and matrices of tests/reference/bigrams.json.

#include "attica/core/bigrams/instances.hpp"
#include "reference_values.hpp"

namespace attica::testing {

inline std::vector<SparseColumn> sparse_columns(const Eigen::MatrixXd& q) {
  std::vector<SparseColumn> columns(static_cast<std::size_t>(q.cols()));
  for (Eigen::Index k = 0; k < q.cols(); ++k) {
    for (Eigen::Index t = 0; t < q.rows(); ++t) {
      if (q(t, k) == 0) continue;
      columns[static_cast<std::size_t>(k)].positions.push_back(t);
      columns[static_cast<std::size_t>(k)].weights.push_back(q(t, k));
    }
  }
  return columns;
}

/// N = 3, T = 4, generic P and Q.
inline BigramModel tiny_model() {
  const Reference tiny = reference_values("bigrams")["population"]["tiny"];
  const Eigen::MatrixXd q = matrix(tiny["Q"]);
  return {{matrix(tiny["P"]), vector(tiny["mu"])}, q.rows(), 3, sparse_columns(q)};
}

/// Circulant chain with strided attention and uniform weights.
inline BigramModel circulant_model(Eigen::Index n, double p, Eigen::Index q, Eigen::Index t) {
  RandomStream unused({.seed = 0, .id = StreamId::model});
  return {
      circulant_chain(n, p), t, q, strided_attention(n, t, q, AttentionWeights::uniform, unused)};
}

}  // namespace attica::testing
