#pragma once
/// @file
/// @brief Covariance and mean of a run's deviations from descent on the population, along a few
/// axes: the recursions of first_order.hpp.
///
/// Deviations z are theta alone or, for heavy ball, theta above v. With V orthonormal axes of the
/// parameters (P x r) every block of R_s is V times its coordinates, and so is every block of C_B:
///
///     R = V U,  C = V [K + (U p U^T - W p W^T)/M] V^T
///
/// where K is what batches add and W what R has gained in the running epoch, whose batches are
/// disjoint. A step leaves the axes for V, H V and noise: the noise g_s - g of the samples lies in
/// the range of as many random combinations of it, and its coordinates are slopes of the losses.
/// The axes that hold most of C are then kept. Where r = P nothing is left out.

#include <cstdint>

#include "attica/theory/training/first_order.hpp"

namespace attica {

/// @brief The population at one place.
struct PopulationPoint {
  Eigen::VectorXd theta, losses, gradient;

  PopulationPoint(const PopulationModel& model, Eigen::VectorXd theta);
  double loss(const PopulationModel& model) const { return model.weights().dot(losses); }
};

/// @brief Losses of test and training at a point, and what the rules of validity ask.
struct LossMoments {
  Moment test, train, batch;
};

class Deviations {
 public:
  Deviations(const PopulationModel& model, const TrainingPlan& plan, const TheoryMethod& method);

  /// @brief Turns the axes to those of C and takes differences along them.
  void look(const PopulationPoint& point);
  /// @brief `count` updates from `first` on, with H, T and Sigma of `point`. Where the method holds
  /// them over one step only, `look` has been there.
  void advance(const PopulationPoint& point, std::uint64_t first, std::uint64_t count);

  /// @brief First order at the point looked at.
  LossMoments losses() const;
  Moment observe(const Observable& f) const;
  /// @brief Eigenvalues of H along the axes, ascending: all of them where the axes are all.
  Eigen::VectorXd ritz_values() const;
  /// @brief Mean square of what a batch's gradient differs by from the population's, at the point
  /// of the last advance: tr Sigma / B of fresh data. Beside the axes by random combinations.
  double gradient_noise() const { return gradient_noise_; }
  bool complete() const { return complete_; }

 private:
  /// Differences along orthonormal axes.
  struct Differences {
    Eigen::MatrixXd axes;
    Eigen::MatrixXd slopes;   ///< of the losses; @shape{n x axes}
    Eigen::MatrixXd hessian;  ///< H v
    Eigen::MatrixXd third;    ///< T(v, v)
    Eigen::MatrixXd own;      ///< sum_s w_s H_s v, if weights were given

    /// @brief Adds axes without weights.
    void append(const Differences& more);
  };
  /// @param weights w, one column for each of the first axes
  Differences along(const PopulationPoint& point,
                    const Eigen::MatrixXd& axes,
                    const Eigen::MatrixXd& weights) const;
  /// Slopes of the losses of a model alone: of samples or of their parts.
  Eigen::MatrixXd slopes(const PopulationModel& model,
                         const PopulationPoint& point,
                         const Eigen::MatrixXd& axes) const;
  /// What batches take: samples, or parts of them.
  const PopulationModel& taken() const { return plan_.parts != nullptr ? *plan_.parts : model_; }
  double parts_of_a_batch() const { return static_cast<double>(plan_.batch * plan_.parts_taken); }
  struct Noise {
    Eigen::MatrixXd axes;
    double square;  ///< trace of the covariance of g_s beside the axes known before
  };
  /// Axes beside `axes` that span noise: random combinations of g_s - g.
  Noise noise_beside(const PopulationPoint& point,
                     const Eigen::MatrixXd& axes,
                     std::uint64_t step) const;
  /// p o (R - W) of the parameters, for the term H_s R_s. @shape{n x axes}
  Eigen::MatrixXd own_weights(const Eigen::MatrixXd& coordinates) const;
  /// U p U^T
  Eigen::MatrixXd weighted_square(const Eigen::MatrixXd& coordinates) const;
  /// (1/M)(U p U^T - W p W^T) + K, all blocks.
  Eigen::MatrixXd coordinates_of_covariance() const;
  Eigen::Index rank() const { return axes_.cols(); }
  double per_sample() const { return samples_ ? 1 / static_cast<double>(plan_.samples) : 0; }

  void rotate(const Eigen::MatrixXd& rotation);
  void truncate(double rate);

  const PopulationModel& model_;
  const TrainingPlan& plan_;
  TheoryMethod method_;
  const Eigen::VectorXd& p_;
  bool samples_;
  Eigen::Index blocks_;  ///< of z
  bool complete_;        ///< the axes span all parameters
  bool turned_ = false;  ///< the axes are those of C, and `widths_` its eigenvalues

  Eigen::MatrixXd axes_;   ///< V
  Eigen::MatrixXd data_;   ///< U; @shape{blocks r x n}
  Eigen::MatrixXd epoch_;  ///< W, or empty
  Eigen::MatrixXd batch_;  ///< K
  Eigen::VectorXd mean_;   ///< d; @shape{blocks P}
  double gradient_noise_ = 0;

  // Of the last look.
  const PopulationPoint* point_ = nullptr;
  Eigen::VectorXd widths_;  ///< eigenvalues of C of the parameters, descending
  Differences seen_;
};

/// @brief Largest and smallest eigenvalue of H, by a few steps of Lanczos.
struct CurvatureRange {
  double largest = 0, smallest = 0;
};
CurvatureRange curvature_range(const PopulationModel& model,
                               const Eigen::VectorXd& theta,
                               double step,
                               std::uint64_t seed);

}  // namespace attica
