#pragma once
/// @file
/// @brief Proximal steps with an l1 penalty on the attention matrix: the law of the entries that
/// should be zero.
///
/// Off the support all entries of a column are exchangeable chains
///
///     x <- soft((1 - η K_V) x + η (K_V s - K_VP)/T + η σ z, η λ),
///     soft(x, h) = sign(x) max(|x| - h, 0),
///
/// with the gradient noise σ and the column's sum s. Drift, of order 1/T, and the noise's skewness
/// matter for their sum alone, (T-Q) E x in s: skewed noise has as many small pushes one way as it
/// has large ones the other way, and the threshold takes the small ones off. Their stationary
/// second moment sets the floor of ‖A - Q‖²_μ that SGD cannot go below, and by how much l1 lowers
/// it. On the support the penalty shifts by -λ/K_V. The chain is propagated as a probability vector
/// on a grid: no sampling. Proximal l1 training: Ren, Wang, Lee 2024 (arXiv:2410.23438); the
/// analysis of the noise: docs/bigrams.md.

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attica/core/bigrams/model.hpp"

namespace attica {

struct TruthMoments;

/// @brief E x² of the chain for small steps (λ << σ): (D/K)[(1+2c²)/2 - c/(√π erfcx c)],
/// c = λ/√(K D), D = η σ².
double l1_second_moment(double k_v, double lambda, double diffusion);

/// One step of a chain.
struct ChainStep {
  double contraction = 1;  ///< 1 - η K_V
  double drift = 0;
  double noise = 0;   ///< standard deviation
  double third = 0;   ///< third cumulant of the noise
  double shrink = 0;  ///< η λ
};

/// @brief Law of one chain, on a grid symmetric about 0.
class SoftThresholdChain {
 public:
  /// @param spacing of the grid; η σ/8 keeps discretisation errors of moments below 1 %
  /// @param reach largest |x| represented
  SoftThresholdChain(double spacing, double reach);

  /// @brief Starts from a normal law with everything below `threshold` set to 0.
  void start(double mean, double variance, double threshold);
  /// @brief Noise is normal with the first Edgeworth correction.
  void step(const ChainStep& step);

  /// Values of a function of an entry at the grid points.
  using Function = Eigen::VectorXd;
  const Eigen::VectorXd& law() const { return law_; }
  Function identity() const;

  /// What becomes of ψ(x') one step earlier.
  struct Backward {
    Function mean;        ///< E[ψ(x') | x]
    double variance = 0;  ///< E Var[ψ(x') | x] under the law of x
    double slope = 0;     ///< derivative of E ψ(x') by the drift
  };
  /// @param masses `backward_kernel` of the step
  Backward backward(const ChainStep& step,
                    const Eigen::VectorXd& masses,
                    const Function& psi,
                    const Eigen::VectorXd& law) const;
  /// Of a step's noise: the masses of pushes by -w, ..., w cells.
  Eigen::VectorXd backward_kernel(const ChainStep& step) const;
  /// Of ψ after `start`: its variance, and its covariance with the entry before the threshold.
  struct AtStart {
    double variance = 0;
    double covariance = 0;
  };
  AtStart at_start(double mean, double variance, double threshold, const Function& psi) const;

  double mean() const;
  double second_moment() const;
  /// @brief Probability of being at least x.
  double tail(double x) const;
  /// @brief Probability of being exactly zero after the last step.
  double zero_fraction() const { return zero_fraction_; }

 private:
  double position(Eigen::Index i) const;
  /// Probabilities of a start's entries before the threshold.
  Eigen::VectorXd before_threshold(double mean, double variance) const;
  /// Where a step's contraction and drift take the grid points: the point below, kept on the grid,
  /// and the share of the way to the next.
  struct Places {
    Eigen::Array<Eigen::Index, Eigen::Dynamic, 1> low;
    Eigen::ArrayXd share;
    Eigen::ArrayXd free_share;  ///< off the grid as well
  };
  Places moved(const ChainStep& step) const;
  /// How far the threshold moves a point towards 0: whole cells and the rest of one.
  struct Shift {
    Eigen::Index whole;
    double rest;
  };
  Shift shift(double shrink) const;
  /// Masses of pushes by j cells at entry width + j, given the variance that sharing has added.
  Eigen::VectorXd kernel(const ChainStep& step, double added_variance) const;
  void deposit(Eigen::VectorXd& target, double x, double mass) const;

  double spacing_;
  Eigen::Index half_;      ///< grid points on either side of 0
  Eigen::VectorXd cells_;  ///< from 0 to every grid point
  Eigen::VectorXd law_;
  double zero_fraction_ = 1;
};

/// How a chain came to its law.
struct ChainPast {
  double mean = 0;  ///< of an entry at the start, before the threshold
  double variance = 0;
  double threshold = 0;
  std::vector<ChainStep> steps = {};
  std::vector<Eigen::VectorXd> laws = {};     ///< before each step
  std::vector<Eigen::VectorXd> kernels = {};  ///< `backward_kernel` of each step
};

/// @brief Var s of the sum s = Σ_t x_t of a column: T - Q chains with this past and Q entries that
/// no threshold reaches, which feel the same steps otherwise. The noise of a step sums to zero over
/// all T, and s moves all drifts by (1 - contraction) δs/T. Without thresholds s would not vary.
///
/// In linear response, exact for many entries: with ψ_n(x) = x and, going backwards,
/// ψ_m(x) = E ψ_{m+1}(x') + (1 - contraction) r_m x, r_m the mean over all entries of
/// ∂E ψ_{m+1}(x')/∂drift, the noise of step m adds Σ_t E Var[ψ_{m+1}(x'_t) | x_t] - T (noise r_m)²:
/// what is linear in the noise adds up to nothing.
/// @param steps how many of the past, from the start: Var s after them
double column_sum_variance(const SoftThresholdChain& chain,
                           const ChainPast& past,
                           std::size_t steps,
                           double context,
                           double sparsity);

/// How the search for a floor ended.
enum class L1FloorStatus {
  settled,    ///< the last sweep changed it by a relative 1e-10 at most
  unsettled,  ///< the sweeps were used up, which happens just below the stability limit
  unstable,   ///< there is none: a noisier floor raises the noise more than once over
};
std::string to_string(L1FloorStatus status);

/// The floor of the attention matrix while V stays at P. Only a settled one is a number to use.
struct [[nodiscard]] L1Floor {
  double distance_a2 = 0;  ///< ‖A - Q‖²_μ
  double noise_ratio = 0;  ///< λ/σ, averaged over last tokens
  L1FloorStatus status = L1FloorStatus::settled;
  int sweeps = 0;
  double residual = 0;  ///< relative change in the last sweep

  /// @brief One of the numbers as a theory states it: +inf where there is no floor, NaN where it
  /// was not found.
  double stated(double value) const;
};

/// Sweeps that a floor may take; the change shrinks by η_A over its stability limit in each.
inline constexpr int kL1FloorSweeps = 10000;

/// @brief The floor by the closed form, (T-Q) E x² + Q (λ/K_P)², solved self-consistently.
/// `L1MeanField` with V at rest at P follows the chain itself, at any λ/σ.
L1Floor l1_floor_closed_form(const BigramModel& model,
                             double eta_a,
                             double lambda,
                             double batch,
                             int most_sweeps = kL1FloorSweeps);

/// A mean field at a step, and ‖·‖²_μ of V's noise.
struct StagedMeanField {
  std::int64_t step = 0;
  BigramState state;
  double noise_v = 0;
  BigramRounding rounded = {};  ///< with l1
  double sure = 0;  ///< probability that rounding, with keep = θ, finds the support; with l1
  double zero_fraction = 0;  ///< of the entries off the support, with l1
};

/// Whether the excess loss counts that the sums of l1's columns differ from run to run.
enum class ColumnSums {
  fixed,
  fluctuating,  ///< follows the law of every step: memory and time grow with the last step
};

/// @brief The mean field of training in stages at `steps`, rising, which count from the end of the
/// first stage, K_V = θ² K_P; entries below `threshold` are then zeroed if l1 sets in.
/// @param lambda 0: without l1, where sums do not fluctuate
/// @throws Error (numerical) as boosted_recursion
std::vector<StagedMeanField> staged_mean_field(const BigramModel& model,
                                               const BigramRates& rates,
                                               double batch,
                                               double lambda,
                                               double theta,
                                               double threshold,
                                               std::span<const std::int64_t> steps,
                                               ColumnSums sums = ColumnSums::fixed);

/// Means over runs of SGD from the first step, through both stages, at a step from the start.
struct BothStages {
  std::int64_t step = 0;
  double excess_loss = 0;  ///< column sums that fluctuate with l1 are counted
  double distance_v2 = 0;  ///< ‖V - P‖²_μ
  double distance_a2 = 0;  ///< ‖A - Q‖²_μ
};

/// @brief The signal is boosted; then, with l1, what is no signal is taken off. Runs differ in the
/// amplitude that is boosted, and so in the step at which stage 1 ends: every amplitude of
/// `boosted_amplitudes` goes through the stages by itself, and their states at a step are averaged.
/// @param lambda    l1 of stage 2; 0: none, stage 1 goes on
/// @param theta     stage 1 of a run ends at K_V = θ² K_P, in (0, 1]
/// @param threshold entries below it are zeroed once, before stage 2
/// @param steps     rising, from the first step of stage 1
/// @throws Error (input) naming the argument, (numerical) as boosted_recursion
/// @source the two stages: Ren, Wang and Lee 2024, arXiv:2410.23438, Figure 1
std::vector<BothStages> both_stages(const BigramModel& model,
                                    const BigramRates& rates,
                                    double batch,
                                    double lambda,
                                    double theta,
                                    double threshold,
                                    std::span<const std::int64_t> steps);

/// @brief Mean-field dynamics of training with l1: mean of V and its noise, mean and variance of
/// the support entries, and the chain's law off the support.
class L1MeanField {
 public:
  /// @brief Takes over where the signals of a recursion without l1 stand, after zeroing entries
  /// below `threshold`.
  L1MeanField(const BigramModel& model,
              const BigramRates& rates,
              double batch,
              double lambda,
              const BigramSignals& start,
              double threshold);
  /// @brief l1 from the first step on: uniform A and this V, whose Vμ need not be μ.
  L1MeanField(const BigramModel& model,
              const BigramRates& rates,
              double batch,
              double lambda,
              const Eigen::MatrixXd& value);

  void step();

  double k_v() const;
  double k_vp() const;
  double alpha_v() const;
  /// @brief Where the mean field stands: means over runs.
  BigramState state() const;
  double noise_v() const { return noise_v_; }          ///< ‖·‖²_μ of V's noise
  double noise_alpha() const { return noise_alpha_; }  ///< variance of α_V: what of it is along P
  double distance_v2() const;
  double excess_loss() const;
  double zero_fraction() const;
  /// @brief Probability that the least sure entry of the support is above 0. The mean field lets
  /// these entries pass through 0, where l1 stops them: it describes them as long as few do.
  double support_probability() const;

  /// @brief Keeps what `fluctuation_losses` needs: the law of every step.
  void keep_laws();
  /// @brief What fluctuating column sums s_k = Σ_t a^(k)_t add to the mean excess loss after each
  /// of these numbers of steps, ½ Σ_k μ_k Var s_k |Vμ|²: `column_sum_variance`.
  /// @pre keep_laws() before the first step, and no number larger than that of the steps made
  std::vector<double> fluctuation_losses(std::span<const std::int64_t> steps) const;
  /// @brief The same after the last step.
  double fluctuation_loss() const;
  /// @brief Mean signal and errors after rounding that keeps the support and nothing else: λ/K_V is
  /// added to its entries, their sum s_k is divided out of the column and multiplies
  /// V̂ = μ1ᵀ + c (V - μ1ᵀ), c = Σ_k μ_k s_k, as in training. To second order in the noise, V
  /// and A taken as independent: where noise has made α_V larger, K_V is larger as well, and less
  /// is added to the entries.
  /// @param share of V's noise that is counted: its covariance is of leading order
  BigramRounding rounded(double share = 1) const;
  /// @brief Probability that rounding keeps the support and nothing else, in every column: entries
  /// of at least `keep` times the largest one, which is taken to be that of the largest mean; on
  /// the support noise is normal.
  double rounding_probability(double keep) const;

 private:
  struct Column {
    std::vector<double> support;  ///< mean entries on the support
    Eigen::MatrixXd noise;        ///< their covariance
    SoftThresholdChain off;       ///< law of an entry off the support
    ChainPast past;               ///< kept if it is asked for
  };
  L1MeanField(const BigramModel& model,
              const BigramRates& rates,
              double batch,
              double lambda,
              Eigen::MatrixXd value,
              const BigramSignals& start,
              double threshold);
  AttentionSums sums() const;

  const BigramModel* model_;
  BigramRates rates_;
  double batch_;
  double lambda_;
  Eigen::MatrixXd value_;  ///< mean of V
  double noise_v_;
  double noise_alpha_ = 0;
  std::shared_ptr<const TruthMoments> truth_;
  std::vector<Column> columns_;
  Eigen::MatrixXd shape_v_;     ///< shape of V's noise
  std::vector<double> pushes_;  ///< |Vμ|² after each number of steps, if laws are kept
};

}  // namespace attica
