#include "attica/core/potts/model.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;

namespace {

constexpr Index kMostColours = std::numeric_limits<std::uint8_t>::max();

MatrixXd checked_symmetric(MatrixXd m, std::string_view name) {
  if (m.rows() != m.cols() || m.rows() < 2) {
    throw invalid_parameter(name,
                            fmt::format("{} x {} matrix", m.rows(), m.cols()),
                            "a square matrix of at least 2 x 2");
  }
  if (!m.allFinite()) {
    throw invalid_parameter(name, "matrix with NaN or infinity", "finite entries");
  }
  Index row = 0;
  Index column = 0;
  if ((m - m.transpose()).cwiseAbs().maxCoeff(&row, &column) > 0) {
    throw invalid_parameter(name,
                            fmt::format("matrix with entry ({}, {}) = {} but ({}, {}) = {}",
                                        row,
                                        column,
                                        m(row, column),
                                        column,
                                        row,
                                        m(column, row)),
                            "a symmetric matrix");
  }
  return m;
}

/// Pi V: columns of mean zero, all that a softmax over rows sees.
MatrixXd centred_columns(const MatrixXd& v) { return v.rowwise() - v.colwise().mean(); }

double inner(const MatrixXd& a, const MatrixXd& b) { return a.cwiseProduct(b).sum(); }

MatrixXd without_diagonal(MatrixXd a) {
  a.diagonal().setZero();
  return a;
}

void require_same_shape(const PottsModel& truth, const FactoredAttention& student) {
  if (student.sites() != truth.sites() || student.colours() != truth.colours()) {
    throw invalid_parameter("student",
                            fmt::format("L = {}, C = {}", student.sites(), student.colours()),
                            fmt::format("L = {}, C = {}", truth.sites(), truth.colours()));
  }
}

}  // namespace

WeightedSequences equally_weighted(Sequences sequences) {
  const Index count = sequences.rows();
  require(count >= 1, "sequences", static_cast<double>(count), "at least one sequence");
  return {std::move(sequences), Eigen::VectorXd::Constant(count, 1.0 / static_cast<double>(count))};
}

void FactoredAttention::logits(const std::uint8_t* sequence, MatrixXd& logits) const {
  const Index sites = this->sites();
  const Index colours = this->colours();
  logits.setZero(colours, sites);
  for (Index j = 0; j < sites; ++j) {
    const double* strengths = attention.col(j).data();
    const double* seen = values.col(sequence[j]).data();
    double* out = logits.data();
    for (Index i = 0; i < sites; ++i, out += colours) {
      for (Index a = 0; a < colours; ++a) out[a] += strengths[i] * seen[a];
    }
  }
}

PottsModel::PottsModel(MatrixXd couplings, MatrixXd colour_couplings, double beta)
    : couplings_(checked_symmetric(std::move(couplings), "couplings")),
      colour_couplings_(checked_symmetric(std::move(colour_couplings), "colour_couplings")),
      beta_(beta),
      student_{beta_ * couplings_, colour_couplings_} {
  Index site = 0;
  if (couplings_.diagonal().cwiseAbs().maxCoeff(&site) > 0) {
    throw invalid_parameter(
        "couplings",
        fmt::format("matrix with entry ({}, {}) = {}", site, site, couplings_(site, site)),
        "a zero diagonal");
  }
  require(colours() <= kMostColours, "colours", static_cast<double>(colours()), "2 <= C <= 255");
  require(std::isfinite(beta_), "beta", beta_, "a finite number");
  const double energy =
      student_.attention.cwiseAbs().sum() * colour_couplings_.cwiseAbs().maxCoeff();
  require(std::isfinite(energy), "beta", beta_, "finite energies beta J U: nearer to 0");
}

double PottsModel::reduced_energy(const std::uint8_t* sequence) const {
  double sum = 0;
  for (Index i = 0; i < sites(); ++i) {
    for (Index j = 0; j < i; ++j) {
      sum += student_.attention(i, j) * colour_couplings_(sequence[i], sequence[j]);
    }
  }
  return -sum;
}

void require_sequences(const Sequences& sequences, Index sites, Index colours) {
  if (sequences.rows() < 1 || sequences.cols() != sites) {
    throw invalid_parameter("sequences",
                            fmt::format("{} x {}", sequences.rows(), sequences.cols()),
                            fmt::format("at least one sequence of {} sites", sites));
  }
  Index row = 0;
  Index column = 0;
  const int largest = sequences.maxCoeff(&row, &column);
  if (largest >= colours) {
    throw invalid_parameter("sequences",
                            fmt::format("colour {} at sequence {}, site {}", largest, row, column),
                            fmt::format("colours 0 to {}", colours - 1));
  }
}

double coupling_error(const PottsModel& truth, const FactoredAttention& student) {
  require_same_shape(truth, student);
  const MatrixXd a = without_diagonal(student.attention);
  const MatrixXd v = centred_columns(student.values);
  const MatrixXd u = centred_columns(truth.colour_couplings());
  const MatrixXd& t = truth.as_student().attention;
  // |A (x) V - T (x) U|^2 / |T (x) U|^2 from norms and inner products of the factors.
  const double norm = t.squaredNorm() * u.squaredNorm();
  if (norm == 0) return std::numeric_limits<double>::quiet_NaN();
  return (a.squaredNorm() * v.squaredNorm() - 2 * inner(a, t) * inner(v, u) + norm) / norm;
}

FactoredAttention display_gauge(const PottsModel& truth, const FactoredAttention& student) {
  require_same_shape(truth, student);
  const MatrixXd v = centred_columns(student.values);
  const double scale = inner(v, centred_columns(truth.colour_couplings())) / v.squaredNorm();
  return {student.attention / scale, scale * v};
}

}  // namespace attica
