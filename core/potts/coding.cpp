#include "attica/core/potts/coding.hpp"

#include <algorithm>

#include "attica/core/softmax.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;

MatrixXd coded(const Sequences& sequences, Index colours) {
  require_sequences(sequences, sequences.cols(), colours);
  const MatrixXd basis = zero_sum_basis(colours);
  const Index width = colours - 1;
  MatrixXd z(sequences.rows(), sequences.cols() * width);
  for (Index n = 0; n < sequences.rows(); ++n) {
    for (Index i = 0; i < sequences.cols(); ++i) {
      z.row(n).segment(i * width, width) = basis.row(sequences(n, i));
    }
  }
  return z;
}

CodedMoments coded_moments(const WeightedSequences& population, Index colours) {
  // Block by block: the codes of a large pool, all at once, would take gigabytes.
  constexpr Index kBlock = 4096;
  const Index size = population.sequences.cols() * (colours - 1);
  const auto each_block = [&](const auto& add) {
    for (Index first = 0; first < population.sequences.rows(); first += kBlock) {
      const Index count = std::min(kBlock, population.sequences.rows() - first);
      add(coded(population.sequences.middleRows(first, count), colours),
          population.weights.segment(first, count));
    }
  };
  CodedMoments moments{Eigen::VectorXd::Zero(size), MatrixXd::Zero(size, size)};
  each_block([&](const MatrixXd& z, const auto& weights) {
    moments.mean.noalias() += z.transpose() * weights;
  });
  each_block([&](MatrixXd z, const auto& weights) {
    z.rowwise() -= moments.mean.transpose();
    moments.covariance.noalias() += z.transpose() * (weights.asDiagonal() * z).eval();
  });
  return moments;
}

}  // namespace attica
