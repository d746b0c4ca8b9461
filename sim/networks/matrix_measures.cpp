#include "attica/sim/networks/matrix_measures.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

namespace attica::networks {
namespace {

template <class T>
double sum_of_entropies(MatrixView<const T> weights) {
  double sum = 0;
  for (Index i = 0; i < weights.rows; ++i) {
    for (Index j = 0; j < weights.columns; ++j) {
      const auto p = static_cast<double>(weights.row(i)[j]);
      if (p > 0) sum -= p * std::log(p);
    }
  }
  return sum;
}

/// A matrix times the power of two that brings its largest entry near 1, which changes no digit:
/// products of its entries then neither over- nor underflow.
struct Scaled {
  Eigen::MatrixXd matrix;
  int exponent = 0;  ///< the matrix was 2^exponent times this one
};

Scaled scaled(const Eigen::MatrixXd& w) {
  Scaled result;
  const double largest = w.cwiseAbs().maxCoeff();
  if (std::isfinite(largest)) std::frexp(largest, &result.exponent);
  result.matrix = w.unaryExpr([&](double v) { return std::ldexp(v, -result.exponent); });
  return result;
}

/// The largest singular value, of a matrix whose products are in range.
double largest_singular_value(const Eigen::MatrixXd& w) {
  // The smaller Gram matrix; its largest eigenvalue is accurate to rounding.
  const Eigen::MatrixXd gram =
      w.rows() < w.cols() ? Eigen::MatrixXd(w * w.transpose()) : Eigen::MatrixXd(w.transpose() * w);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(gram, Eigen::EigenvaluesOnly);
  return std::sqrt(std::max(0.0, solver.eigenvalues().maxCoeff()));
}

}  // namespace

double row_entropies(MatrixView<const double> weights) { return sum_of_entropies(weights); }
double row_entropies(MatrixView<const float> weights) { return sum_of_entropies(weights); }

double mean_row_entropy(MatrixView<const double> weights) {
  return row_entropies(weights) / static_cast<double>(weights.rows);
}
double mean_row_entropy(MatrixView<const float> weights) {
  return row_entropies(weights) / static_cast<double>(weights.rows);
}

double spectral_norm(const Eigen::MatrixXd& w) {
  if (w.size() == 0) return 0;
  const Scaled one = scaled(w);
  return std::ldexp(largest_singular_value(one.matrix), one.exponent);
}

std::optional<double> stable_rank(const Eigen::MatrixXd& w) {
  if (w.size() == 0) return std::nullopt;
  const Eigen::MatrixXd one = scaled(w).matrix;
  const double largest = largest_singular_value(one);
  if (largest == 0) return std::nullopt;
  return one.squaredNorm() / (largest * largest);
}

std::optional<double> mean_abs_cosine(const Eigen::MatrixXd& w) {
  constexpr Index kBlock = 256;  // columns whose products are held at a time
  Eigen::MatrixXd unit(w.rows(), w.cols());
  Index count = 0;
  for (Index j = 0; j < w.cols(); ++j) {
    const double norm = w.col(j).stableNorm();
    if (norm > 0) unit.col(count++) = w.col(j) / norm;
  }
  if (count < 2) return std::nullopt;
  double sum = 0;  // over ordered pairs, with the diagonal
  for (Index j = 0; j < count; j += kBlock) {
    const Index columns = std::min(kBlock, count - j);
    const Eigen::MatrixXd cosines = unit.leftCols(count).transpose() * unit.middleCols(j, columns);
    sum += cosines.cwiseAbs().sum();
  }
  const auto n = static_cast<double>(count);
  return (sum - n) / (n * (n - 1));
}

std::optional<double> row_distance(const Eigen::MatrixXd& w) {
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(w.cols());
  Index count = 0;
  for (Index i = 0; i < w.rows(); ++i) {
    const double norm = w.row(i).stableNorm();
    if (norm == 0) continue;
    sum += w.row(i).transpose() / norm;
    ++count;
  }
  if (count < 2) return std::nullopt;
  const auto n = static_cast<double>(count);
  return 1 - (sum.squaredNorm() - n) / (n * (n - 1));
}

AttentionOverlaps attention_overlaps(const Eigen::MatrixXd& weights) {
  const Index rows = weights.rows() % weights.cols() == 0 ? weights.cols() : weights.rows();
  AttentionOverlaps overlaps{.participation =
                                 weights.squaredNorm() / static_cast<double>(weights.rows())};
  if (rows < 2) return overlaps;
  double shared = 0;
  for (Index first = 0; first < weights.rows(); first += rows) {
    const auto head = weights.middleRows(first, rows);
    shared += head.colwise().sum().squaredNorm() - head.squaredNorm();
  }
  const auto pairs = static_cast<double>(weights.rows()) * static_cast<double>(rows - 1);
  overlaps.shared = shared / pairs;
  return overlaps;
}

MatrixMeasures measure(const Eigen::MatrixXd& w, double rounding) {
  MatrixMeasures m{.rows = w.rows(),
                   .columns = w.cols(),
                   .frobenius_norm = w.stableNorm(),
                   .spectral_norm = spectral_norm(w)};
  if (m.spectral_norm > 0) m.stable_rank = std::pow(m.frobenius_norm / m.spectral_norm, 2);
  m.mean_abs_cosine = mean_abs_cosine(w);
  m.row_distance = row_distance(w);
  // Each entry p is off by at most p / 2 of the spacing, or by half of the least positive number:
  // so is their sum of 1, to which a softmax in the same numbers adds as much.
  constexpr double kPrinted = 1e-4;  // numbers of unknown origin
  constexpr double kLeastHalf = 0x1p-24;
  const double least = rounding >= 0x1p-10 ? kLeastHalf * static_cast<double>(w.cols()) : 0;
  m.tolerance = std::max(kPrinted, rounding + least);
  if (w.size() == 0) return m;
  m.row_sums_off = (w.rowwise().sum().array() - 1).abs().maxCoeff();
  if (w.minCoeff() >= 0 && m.row_sums_off <= m.tolerance) {
    const RowMatrix<double> rows = w;
    m.overlaps = attention_overlaps(w);
    m.attention_entropy = mean_row_entropy({rows.data(), rows.rows(), rows.cols(), rows.cols()});
  }
  return m;
}

}  // namespace attica::networks
