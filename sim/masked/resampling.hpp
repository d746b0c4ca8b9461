#pragma once
/// @file
/// @brief Masked autoencoders of one tied linear unit, trained to the minimum of their loss on K
/// stored masks per sample or on the exact mean over all masks.
///
/// Loss of a sample x and a mask, as in theory/masked/resampling.hpp: l = R y² - 2 y t with y and t
/// the sums of w_i x_i/√d over visible and hidden coordinates, R that of w_i²/d over hidden ones.

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <vector>

#include "attica/core/masked/noise_law.hpp"
#include "attica/core/random.hpp"

namespace attica {

/// Where samples x = √(β/d) s u + diag(γ)^½ z come from.
struct SpikedSource {
  Eigen::VectorXd variances;  ///< γ
  Eigen::VectorXd direction;  ///< u, |u|² = d
  double beta = 0;

  /// @brief E[x xᵀ] w.
  Eigen::VectorXd covariance_times(const Eigen::VectorXd& w) const;
  /// @brief E x_i².
  Eigen::VectorXd diagonal() const;
};

/// @brief Draws u: random signs, or normal numbers scaled to |u|² = d. γ are the quantiles of their
/// law at (i - 1/2)/d, rising: their order is no matter, as u does not depend on it.
SpikedSource draw_source(const NoiseVariances& noise,
                         double beta,
                         Eigen::Index dimension,
                         bool normal,
                         RandomStream& stream);

/// Samples, one a column, with their second moments S = XᵀX/n.
struct SpikedSamples {
  SpikedSource source;
  Eigen::MatrixXf x;
  Eigen::MatrixXd moments;
};

/// @brief Draws n samples. Sums are of double precision, samples are kept in single precision.
SpikedSamples draw_samples(const SpikedSource& source, Eigen::Index samples, RandomStream& stream);

/// @brief Scales the part of all samples along u such that its second moment in the sample is the
/// expected one, uᵀE[xxᵀ]u.
///
/// This one number has a relative standard deviation of (2/n)^½ and makes most of the variance of
/// the overlap of w and u. Means change by order 1/n only.
void match_signal_moment(SpikedSamples& samples);

/// @brief The mean over all masks of the loss, and its gradient.
///
/// With Q = |w|²/d, h = wᵀSw/d, h3 = wᵀSw³/d² (powers by coordinate), and k, k3 the same with the
/// diagonal of S alone, it is exactly
///     a²b [Q(h-k) - 2(h3-k3)] + ab [Qk - k3] - 2ab (h-k),   a = 1-ρ, b = ρ.
/// @param s_w, s_w3 S w and S w³
/// @param diagonal of S
/// @param gradient filled unless null
double mean_masked_loss(const Eigen::VectorXd& w,
                        const Eigen::VectorXd& s_w,
                        const Eigen::VectorXd& s_w3,
                        const Eigen::VectorXd& diagonal,
                        double rho,
                        Eigen::VectorXd* gradient = nullptr);

/// What a unit predicts hidden coordinates by: act(y) in place of y.
enum class UnitActivation { identity, tanh, relu };

/// What is minimised.
struct UnitObjective {
  double rho = 0.75;                       ///< probability that a coordinate is hidden
  double lambda = 0;                       ///< (λ/2n)|w|² is added to the mean loss
  std::optional<Eigen::Index> masks = {};  ///< K stored masks per sample; empty: all masks
  UnitActivation activation = UnitActivation::identity;
};

/// What training ended with.
struct TrainedUnit {
  Eigen::VectorXd w;
  double train_loss = 0;  ///< mean of l over the samples and their masks
  int gradients = 0;      ///< iterations of L-BFGS
  bool converged = false;

  /// (Σw²)²/Σw⁴: the number of coordinates that w is spread over.
  double participation() const;
  /// "localised" on fewer than 8 coordinates, where the theory has no minimum; "not converged";
  /// else "finished".
  const char* status() const;
};

/// @brief K masks of every sample: a byte a coordinate, 1 where it is visible.
class StoredMasks {
 public:
  /// @param masks K >= 1
  StoredMasks(Eigen::Index dimension,
              Eigen::Index samples,
              Eigen::Index masks,
              double rho,
              RandomStream& stream);

  Eigen::Index masks() const { return masks_; }
  /// The mask of that sample.
  const std::uint8_t* of(Eigen::Index sample, Eigen::Index mask) const {
    return visible_.data() + (sample * masks_ + mask) * dimension_;
  }

 private:
  Eigen::Index dimension_;
  Eigen::Index masks_;
  std::vector<std::uint8_t> visible_;
};

/// @brief The mean loss over the samples and their masks, and its gradient, which is filled.
double stored_masked_loss(const Eigen::MatrixXf& samples,
                          const StoredMasks& masks,
                          const Eigen::VectorXd& w,
                          Eigen::VectorXd& gradient,
                          UnitActivation activation = UnitActivation::identity);

/// @brief The mean over all masks of the loss of a unit that is not linear, and its gradient, which
/// is filled. Given x, y is taken as normal and R as ρQ, which neglects terms of order 1/d.
/// @param samples, squares x, and its squares by coordinate
double mean_activated_loss(const Eigen::MatrixXf& samples,
                           const Eigen::MatrixXf& squares,
                           const Eigen::VectorXd& w,
                           double rho,
                           UnitActivation activation,
                           Eigen::VectorXd& gradient);

/// @brief Minimises the objective from a normal start by L-BFGS.
/// @param address of the replicate: start and masks have streams of their own, other masks for
/// every
/// K
TrainedUnit train_unit(const SpikedSamples& samples,
                       const UnitObjective& objective,
                       StreamAddress address);

/// @brief Memory that training takes, in bytes, and about how many floating-point operations.
double training_bytes(double dimension, double samples, const UnitObjective& objective);
double training_flops(double dimension, double samples, const UnitObjective& objective);

/// What a trained unit is, in the terms of the theory.
struct UnitMeasures {
  double alignment = 0;    ///< w·u/d, of either sign
  double weight_norm = 0;  ///< |w|²/d
  double noise_norm = 0;   ///< Σγ_i w_i²/d
  double overlap = 0;      ///< squared cosine of w and u
  double test_loss = 0;    ///< on new samples with new masks
  double accuracy = 0;     ///< P(sign w·x = sign s), of the better sign of w
};
UnitMeasures measured(const SpikedSource& source, const Eigen::VectorXd& w, double rho);

/// @brief Squared cosines of u with the first eigenvector of S, of S - diag(S), and with diag(S)^½
/// times that of the correlation matrix.
std::vector<double> eigenvector_overlaps(const SpikedSamples& samples);

/// @brief Accuracy after a logistic regression without intercept of `labels` labels sign s on w·x,
/// whose slope has the sign of Σ y_i w·x_i; mean over data sets of labelled samples.
double labelled_accuracy(const UnitMeasures& unit,
                         double beta,
                         std::int64_t labels,
                         std::int64_t data_sets,
                         RandomStream& stream);

}  // namespace attica
