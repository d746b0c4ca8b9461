#pragma once
/// @file
/// @brief Stochastic gradient descent of the linear attention matrix in Gaussian masked modelling.
///
/// A (L x L, zero diagonal) predicts every site from the others: residual of sample z is r = z - A
/// z. A step on a batch of B samples is
///   A <- (1 - eta lambda) A + (eta/B) offdiag( sum_b (mask_b * r_b) z_b^T ),
/// with fresh samples of N(0, Sigma) (online) or samples drawn with replacement from a data set.
/// Test errors are exact population values, [(1-A) Sigma (1-A)^T]_ii, at the recorded steps only;
/// mean squares without factor 1/2.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "attica/core/gauss/mlm.hpp"
#include "attica/core/random.hpp"

namespace attica {

/// Which sites of a sample are masked, that is predicted in it.
enum class SgdMask {
  all_sites,
  one_site,     ///< one site of each sample, chosen uniformly: probability 1/L
  independent,  ///< every site of every sample with the given probability
};

struct SgdSettings {
  double eta = 0.1;  ///< learning rate > 0
  Eigen::Index batch = 1;
  double lambda = 0;  ///< weight decay, >= 0
  SgdMask mask = SgdMask::all_sites;
  double mask_probability = 1;  ///< for SgdMask::independent, in (0, 1]
};

/// @brief Writes independent samples into the columns of an L x n matrix.
using SampleSource = std::function<void(Eigen::Ref<Eigen::MatrixXd> samples)>;

/// @brief Samples of N(0, Sigma). The stream must outlive the source.
SampleSource gaussian_source(const GaussianMlm& problem, RandomStream& stream);
/// @brief Rows of `data` (M x L) drawn with replacement. Data and stream must outlive the source.
SampleSource resampling_source(const Eigen::MatrixXd& data, RandomStream& stream);

/// @brief A run in progress, started at A = 0.
///
/// Several steps are made at once: with the samples of K steps in the columns of Z, all residuals
/// follow from (1 - A) Z and the Gram matrix Z^T Z by a triangular recursion, and A changes once.
/// That is the same arithmetic as K single steps up to the order of sums.
class LinearAttentionSgd {
 public:
  /// @param masks stream of the masks; used unless all sites are masked
  /// @throws Error of kind input naming 'eta', 'batch', 'lambda' or 'mask_probability'
  LinearAttentionSgd(Eigen::Index sites,
                     const SgdSettings& settings,
                     SampleSource source,
                     RandomStream& masks);

  /// @brief Makes steps until `step` is reached or the run diverges.
  void advance(std::int64_t step);

  Eigen::MatrixXd attention() const {
    return Eigen::MatrixXd::Identity(residual_map_.rows(), residual_map_.cols()) - residual_map_;
  }
  /// @brief 1 - A, which maps a sample to its residuals.
  const Eigen::MatrixXd& residual_map() const { return residual_map_; }
  std::int64_t step() const { return step_; }
  /// @brief The step in which a residual was not finite; empty as long as there is none.
  std::optional<std::int64_t> diverged() const { return diverged_; }

 private:
  void block(Eigen::Index steps);
  void draw_masks(Eigen::Ref<Eigen::MatrixXd> residuals);

  SgdSettings settings_;
  SampleSource source_;
  RandomStream& masks_;
  Eigen::Index block_steps_;
  Eigen::MatrixXd residual_map_, samples_, residuals_, gram_;
  Eigen::VectorXd diagonal_;
  std::int64_t step_ = 0;
  std::optional<std::int64_t> diverged_;
};

/// A recorded run.
struct SgdRun {
  Eigen::MatrixXd
      test;  ///< errors of every site at the recorded steps reached; @shape{L x reached}
  std::optional<std::int64_t> diverged = {};  ///< step in which the run left the finite numbers
};

/// @brief Runs to the last of `steps` or to divergence.
/// @param steps recorded steps, >= 0, rising
/// @throws Error of kind input naming 'steps'
SgdRun record_sgd(const GaussianMlm& problem,
                  LinearAttentionSgd& sgd,
                  std::span<const std::int64_t> steps);

/// How a stationary error is measured.
struct SteadyPlan {
  std::int64_t burn_in = 1000;
  std::int64_t interval = 10;  ///< steps between two recorded errors
  std::int64_t records = 1000;
  std::int64_t blocks = 20;  ///< batch means: records / blocks consecutive records form one mean
};

struct SteadyError {
  double mean = 0;  ///< time average of the site-averaged test error
  double standard_error =
      0;  ///< from the spread of the block means, valid if blocks are longer than the memory
  std::optional<std::int64_t> diverged = {};
};

/// @brief Time average after the burn-in.
/// @throws Error of kind input naming 'burn_in', 'interval', 'records' or 'blocks' (2 <= blocks <=
/// records)
SteadyError steady_sgd_error(const GaussianMlm& problem,
                             LinearAttentionSgd& sgd,
                             const SteadyPlan& plan);

}  // namespace attica
