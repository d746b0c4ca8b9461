#include "attica/core/potts_coding.hpp"

#include "attica/core/potts_ensembles.hpp"

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
  MatrixXd z = coded(population.sequences, colours);
  CodedMoments moments;
  moments.mean = z.transpose() * population.weights;
  z.rowwise() -= moments.mean.transpose();
  moments.covariance = z.transpose() * population.weights.asDiagonal() * z;
  return moments;
}

}  // namespace attica
