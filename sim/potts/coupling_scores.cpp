#include "attica/sim/potts/coupling_scores.hpp"

#include "attica/core/error.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// Frobenius norm without colour 0, after rows and columns were made to add up to 0.
double norm_without_gap(const MatrixXd& w) {
  const VectorXd rows = w.rowwise().mean();
  const Eigen::RowVectorXd columns = w.colwise().mean();
  const MatrixXd centred = ((w.colwise() - rows).rowwise() - columns).array() + w.mean();
  return centred.bottomRightCorner(w.rows() - 1, w.cols() - 1).norm();
}

}  // namespace

MatrixXd coupling_norms(const PseudoLikelihoodFit& fit) {
  const Index sites = fit.parameters.cols();
  const Index colours = fit.colours;
  // W_ij of site i: after C biases, the matrices of the other sites in order.
  const auto coupling = [&](Index i, Index j) {
    const Index place = j < i ? j : j - 1;
    return Eigen::Map<const MatrixXd>(
        fit.parameters.col(i).data() + colours * (1 + place * colours), colours, colours);
  };
  MatrixXd norms = MatrixXd::Zero(sites, sites);
  for (Index i = 0; i < sites; ++i) {
    for (Index j = 0; j < i; ++j) {
      norms(i, j) = norms(j, i) =
          norm_without_gap((coupling(i, j) + coupling(j, i).transpose()) / 2);
    }
  }
  return norms;
}

MatrixXd coupling_norms(const FactoredAttention& student) {
  MatrixXd norms = MatrixXd::Zero(student.sites(), student.sites());
  for (Index i = 0; i < student.sites(); ++i) {
    for (Index j = 0; j < i; ++j) {
      norms(i, j) = norms(j, i) =
          norm_without_gap((student.attention(i, j) * student.values +
                            student.attention(j, i) * student.values.transpose()) /
                           2);
    }
  }
  return norms;
}

MatrixXd average_product_corrected(const MatrixXd& norms) {
  const Index sites = norms.rows();
  require(sites >= 2, "sites", static_cast<double>(sites), "at least 2");
  const VectorXd means = norms.rowwise().sum() / static_cast<double>(sites - 1);
  const double overall = means.mean();
  MatrixXd scores = norms;
  if (overall > 0) scores -= means * means.transpose() / overall;
  scores.diagonal().setZero();
  return scores;
}

VectorXd pairs(const MatrixXd& symmetric) {
  const Index sites = symmetric.rows();
  VectorXd list(sites * (sites - 1) / 2);
  Index at = 0;
  for (Index i = 0; i < sites; ++i) {
    for (Index j = i + 1; j < sites; ++j) list[at++] = symmetric(i, j);
  }
  return list;
}

}  // namespace attica
