#include "attica/sim/multinomial_newton.hpp"

#include <Eigen/Cholesky>
#include <cmath>

#include "attica/core/potts_ensembles.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

class Regression {
 public:
  explicit Regression(const MultinomialProblem& problem)
      : p_(problem),
        basis_(zero_sum_basis(problem.classes)),
        penalty_(VectorXd::Constant(problem.features.rows(), problem.lambda)) {
    penalty_[0] = problem.constant_lambda;
  }

  /// Sets the probabilities at Omega. Returns the objective.
  double objective(const MatrixXd& omega) {
    probabilities_.noalias() = (p_.features.transpose() * omega) * basis_.transpose();
    double loss = 0;
    for (Index m = 0; m < probabilities_.rows(); ++m) {
      auto h = probabilities_.row(m);
      const double shift = h.maxCoeff();
      const double target = h[p_.targets[m]] - shift;
      h = (h.array() - shift).exp();
      const double sum = h.sum();
      loss += p_.weights[m] * (std::log(sum) - target);
      h /= sum;
    }
    return loss + 0.5 * penalty_.dot(omega.rowwise().squaredNorm());
  }

  /// At the Omega of the last call of `objective`: d/dOmega = sum_m w_m f_m (p_m - e_t)^T B.
  MatrixXd gradient(const MatrixXd& omega) const {
    MatrixXd residual = probabilities_;
    for (Index m = 0; m < residual.rows(); ++m) residual(m, p_.targets[m]) -= 1;
    return p_.features * (p_.weights.asDiagonal() * residual * basis_) +
           penalty_.asDiagonal() * omega;
  }

  /// Blocks (k, l) = sum_m w_m S_kl f_m f_m^T with S = B^T (diag p - p p^T) B.
  MatrixXd hessian() const {
    const Index rows = p_.features.rows();
    const Index channels = basis_.cols();
    MatrixXd h(rows * channels, rows * channels);
    const MatrixXd mean = probabilities_ * basis_;
    for (Index k = 0; k < channels; ++k) {
      for (Index l = 0; l <= k; ++l) {
        const VectorXd second = probabilities_ * basis_.col(k).cwiseProduct(basis_.col(l));
        const VectorXd s = p_.weights.cwiseProduct(second - mean.col(k).cwiseProduct(mean.col(l)));
        h.block(k * rows, l * rows, rows, rows).noalias() =
            p_.features * s.asDiagonal() * p_.features.transpose();
        h.block(l * rows, k * rows, rows, rows) = h.block(k * rows, l * rows, rows, rows);
      }
      h.diagonal().segment(k * rows, rows) += penalty_;
    }
    return h;
  }

 private:
  const MultinomialProblem& p_;
  MatrixXd basis_;
  VectorXd penalty_;        ///< of every row of Omega
  MatrixXd probabilities_;  ///< M x C
};

}  // namespace

MultinomialFit fit_multinomial(const MultinomialProblem& problem, double gradient_tolerance) {
  constexpr int kMostIterations = 100;
  constexpr int kMostHalvings = 40;
  constexpr double kShareOfSlope = 1e-4;  // Armijo's condition
  constexpr double kJitter = 1e-12;  // directions that the data do not determine are left alone
  Regression regression(problem);
  const Index rows = problem.features.rows();
  const Index channels = problem.classes - 1;
  MultinomialFit fit{.coefficients = MatrixXd::Zero(rows, channels)};
  fit.objective = regression.objective(fit.coefficients);
  for (; fit.iterations < kMostIterations; ++fit.iterations) {
    const MatrixXd gradient = regression.gradient(fit.coefficients);
    fit.converged = gradient.cwiseAbs().maxCoeff() <= gradient_tolerance;
    if (fit.converged) break;
    MatrixXd hessian = regression.hessian();
    hessian.diagonal().array() += kJitter * (1 + hessian.diagonal().maxCoeff());
    const MatrixXd step = -hessian.ldlt().solve(gradient.reshaped()).reshaped(rows, channels);
    const double slope = gradient.cwiseProduct(step).sum();
    double length = 1;
    double reached = 0;
    for (int k = 0; k < kMostHalvings; ++k, length /= 2) {
      reached = regression.objective(fit.coefficients + length * step);
      if (reached <= fit.objective + kShareOfSlope * length * slope) break;
    }
    if (!(reached < fit.objective)) break;  // round-off, or not finite
    fit.coefficients += length * step;
    fit.objective = reached;
  }
  return fit;
}

}  // namespace attica
