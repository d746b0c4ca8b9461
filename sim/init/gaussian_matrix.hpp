#pragma once
/// @file
/// @brief Gaussian matrices that act on a few vectors, drawn without their d² entries.
///
/// A network at initialisation meets a weight matrix W (d x d, independent entries of variance
/// σ²/d) twice: W X on the way forward, Wᵀ D on the way back. Given X = U Lᵀ with orthonormal U
/// (XᵀX = L Lᵀ) the columns of G = W U are independent Gaussian vectors, and W - G Uᵀ is a Gaussian
/// matrix that is independent of G and vanishes on X. So W X = G Lᵀ, and Wᵀ D = U Gᵀ D + (1 - U Uᵀ)
/// N with rows of N of covariance σ² DᵀD/d: the exact law at a cost of d T² in place of d² T.

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cmath>
#include <utility>

#include "attica/core/normal_matrix.hpp"
#include "attica/core/random.hpp"

namespace attica {

/// Vectors as columns, with the factor of their Gram matrix.
struct FactoredColumns {
  FactoredColumns() = default;
  explicit FactoredColumns(Eigen::MatrixXd columns) : x(std::move(columns)) {
    gram.setZero(x.cols(), x.cols());
    gram.selfadjointView<Eigen::Lower>().rankUpdate(x.transpose());
    gram.triangularView<Eigen::StrictlyUpper>() = gram.transpose();
    // Columns that are alike to rounding have a Gram matrix that is not positive to rounding.
    constexpr double kRounding = 1e-13;
    Eigen::MatrixXd positive = gram;
    positive.diagonal().array() += kRounding * (gram.diagonal().mean() + 1e-300);
    factor = positive.llt().matrixL();
  }
  Eigen::MatrixXd x;       ///< @shape{d x T}
  Eigen::MatrixXd gram;    ///< XᵀX
  Eigen::MatrixXd factor;  ///< L
};

/// @brief A Gaussian matrix of which only its action on the columns X, and once its transpose's on
/// others, is drawn.
class LazyGaussian {
 public:
  /// @param variance σ² @return W X
  Eigen::MatrixXd apply(const FactoredColumns& inputs, double variance, RandomStream& stream) {
    scale_ = std::sqrt(variance / static_cast<double>(inputs.x.rows()));
    along_ = normal_matrix(inputs.x.rows(), inputs.x.cols(), stream);
    along_ *= scale_;
    return along_ * inputs.factor.transpose().triangularView<Eigen::Upper>();
  }
  /// @brief Wᵀ D. @param inputs those of `apply`
  Eigen::MatrixXd transpose_times(const Eigen::MatrixXd& d,
                                  const FactoredColumns& inputs,
                                  RandomStream& stream) const {
    const FactoredColumns factored(d);
    const Eigen::MatrixXd drawn =
        scale_ * normal_matrix(inputs.x.rows(), d.cols(), stream) * factored.factor.transpose();
    const auto lower = inputs.factor.triangularView<Eigen::Lower>();
    Eigen::MatrixXd within = inputs.x.transpose() * drawn;
    lower.solveInPlace(within);
    Eigen::MatrixXd along = along_.transpose() * d - within;
    lower.transpose().solveInPlace(along);
    return drawn + inputs.x * along;
  }

 private:
  double scale_ = 0;
  Eigen::MatrixXd along_;  ///< G
};

/// @brief The same with all entries drawn: what `LazyGaussian` is tested against.
class FullGaussian {
 public:
  Eigen::MatrixXd apply(const FactoredColumns& inputs, double variance, RandomStream& stream) {
    entries_ = normal_matrix(inputs.x.rows(), inputs.x.rows(), stream);
    entries_ *= std::sqrt(variance / static_cast<double>(inputs.x.rows()));
    return entries_ * inputs.x;
  }
  Eigen::MatrixXd transpose_times(const Eigen::MatrixXd& d,
                                  const FactoredColumns& /*inputs*/,
                                  RandomStream& /*stream*/) const {
    return entries_.transpose() * d;
  }

 private:
  Eigen::MatrixXd entries_;
};

}  // namespace attica
