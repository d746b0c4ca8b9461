#pragma once
/// @file
/// @brief What all ways of training on sparse contextual bigrams have in common: real samples or a
/// Gaussian surrogate, plain or with l1.

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "attica/core/bigrams/model.hpp"

namespace attica {

/// @brief A run in progress. Steps change V and A; observables are exact population values.
class BigramTrainer {
 public:
  /// @param batch B, the number of samples in a step; whole and at least 1 for real samples
  BigramTrainer(const BigramModel& model, const BigramRates& rates, double batch)
      : model_(&model), rates_(rates), batch_(batch) {}
  virtual ~BigramTrainer() = default;
  BigramTrainer(const BigramTrainer&) = delete;
  BigramTrainer& operator=(const BigramTrainer&) = delete;

  virtual void step() = 0;

  const BigramModel& model() const { return *model_; }
  std::int64_t steps() const { return steps_; }
  double samples() const { return static_cast<double>(steps_) * batch_; }
  /// @brief λ >= 0 of the following steps.
  void set_l1(double lambda) { lambda_ = lambda; }
  double l1() const { return lambda_; }

  virtual Eigen::MatrixXd value() const = 0;
  virtual AttentionSums sums() const = 0;
  /// @brief Sets all entries of A below tau in absolute value to 0.
  virtual void threshold(double tau) = 0;
  /// @brief Per column the entries >= fraction of its largest one; empty where none is positive.
  virtual std::vector<SparseColumn> large_entries(double fraction) const = 0;
  /// @brief Non-zero entries of A off the support of Q, and their number in all.
  virtual double zero_fraction() const = 0;

  BigramState state() const { return bigram_state(*model_, value(), sums()); }
  BigramValueState value_state() const { return bigram_value_state(*model_, value()); }
  /// @brief True once an entry of V or the norm of a column of A is above 1e6 or not finite.
  bool diverged() const;

 protected:
  const BigramModel* model_;
  BigramRates rates_;
  double batch_;
  double lambda_ = 0;
  std::int64_t steps_ = 0;
};

/// @brief sign(x) max(|x| - h, 0)
inline double soft_threshold(double x, double h) { return x > h ? x - h : x < -h ? x + h : 0; }

/// @brief Minimiser of ½|a - z|² + shrink |a|₁ under 1ᵀa = 1: soft(z - ν, shrink) with the ν that
/// makes the sum 1, exactly (the sum is piecewise linear in ν).
Eigen::VectorXd soft_threshold_sum1(const Eigen::VectorXd& z, double shrink);

/// Solution after rounding: sparse, column sums 1.
struct RoundedBigram {
  Eigen::MatrixXd value;                ///< V̂
  std::vector<SparseColumn> attention;  ///< Â; weights sum to 1
  bool failed = false;                  ///< a column has no positive entry
};

/// @brief Keeps per column the entries >= keep times the largest, adds λ/K_V to undo the bias of
/// l1, normalises the columns, and moves their sums into V̂ = μ1ᵀ + c (V - μ1ᵀ), c = Σ μ_k s_k.
RoundedBigram rounded(const BigramTrainer& trainer, double keep);

/// @brief Whether the entries left are those that the model's attention has.
bool found_support(const BigramModel& model, const RoundedBigram& rounded);

/// @brief How far that is from the solution; errors are infinite if rounding failed.
BigramRounding rounding_of(const BigramModel& model, const RoundedBigram& rounded);

}  // namespace attica
