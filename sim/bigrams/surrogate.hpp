#pragma once
/// @file
/// @brief Gaussian surrogates of SGD on sparse contextual bigrams: the population's hat gradient
/// plus Gaussian noise with the gradient noise's leading covariance. No sequence is drawn.
///
/// With S_V = VΣVᵀ, C = VΣPᵀ and the residual covariances R_k (theory/bigrams/population.hpp), a
/// step with batch B has noise
///   on V: L Z Mᵀ/√B, L Lᵀ = Σ_k μ_k n_k R_k, Z standard normal, M = (I - 1μᵀ) D^{-1/2};
///   on A: independent of variance tr(S_V R_k)/(μ_k B) per entry, with its column mean removed.
/// B need not be whole. The idea of the surrogate is that of Ren, Wang, Lee 2024
/// (arXiv:2410.23438); the noise model is derived in docs/bigrams.md.

#include <Eigen/Core>
#include <utility>
#include <vector>

#include "attica/core/random.hpp"
#include "attica/sim/bigrams/trainer.hpp"

namespace attica {

/// @brief What the surrogates share: V, its noise, and each column's noise level.
class BigramSurrogate : public BigramTrainer {
 public:
  Eigen::MatrixXd value() const override { return v_; }
  AttentionSums sums() const override { return sums_; }
  void step() final;

 protected:
  /// @param address of the noise; its step counts the steps
  BigramSurrogate(const BigramModel& model,
                  const BigramRates& rates,
                  double batch,
                  Eigen::MatrixXd value,
                  const StreamAddress& address);

  /// What a column's update needs to know of V.
  struct ColumnStep {
    double keep = 0;  ///< 1 - η_A K_V
    double k_v = 0;
    double k_vp = 0;
    double noise = 0;   ///< η_A σ_k/√(μ_k B), the standard deviation of an entry's noise
    double shrink = 0;  ///< η_A λ
  };
  /// @brief Updates column k of A and its sums.
  virtual void update_column(Eigen::Index k, const ColumnStep& step, RandomStream& stream) = 0;
  /// @brief Updates all columns; one after the other unless overridden.
  virtual void update_columns(const std::vector<ColumnStep>& steps);
  RandomStream column_stream(Eigen::Index k) const;
  /// @brief A stream of column k beside those of the steps.
  RandomStream extra_stream(Eigen::Index k) const;
  /// @brief Population drift of an entry apart from its contraction: η_A (K_V s - K_VP)/T.
  double drift(Eigen::Index k, const ColumnStep& step) const;
  double context() const { return static_cast<double>(model_->context()); }

  AttentionSums sums_;

 private:
  void refresh();

  StreamAddress address_;
  Eigen::MatrixXd v_;
  Eigen::MatrixXd s_v_;
  Eigen::MatrixXd cross_;   ///< C + Cᵀ
  Eigen::MatrixXd factor_;  ///< L
  double trace_s_ = 0;      ///< tr S_V Σ
  double trace_ss_ = 0;     ///< tr S_V²
  double trace_sc_ = 0;     ///< tr S_V (C + Cᵀ)
  double value_value_ = 0;  ///< vᵀ S_V v, v = V μ
  double value_mean_ = 0;   ///< vᵀ S_V μ
  double mean_mean_ = 0;    ///< μᵀ S_V μ
};

/// @brief All entries of A, single precision; columns in parallel on the calling arena's threads.
class DenseSurrogate final : public BigramSurrogate {
 public:
  DenseSurrogate(const BigramModel& model,
                 const BigramRates& rates,
                 double batch,
                 const Eigen::MatrixXd& value,
                 const StreamAddress& address);
  void threshold(double tau) override;
  std::vector<SparseColumn> large_entries(double fraction) const override;
  double zero_fraction() const override;

 private:
  void update_column(Eigen::Index k, const ColumnStep& step, RandomStream& stream) override;
  void update_columns(const std::vector<ColumnStep>& steps) override;

  Eigen::MatrixXf a_;
};

/// @brief The same law in O(NQ) memory at any T, without l1: per column the support entries, the
/// column sum and the radius of the zero-sum rest.
class AggregatedSurrogate : public BigramSurrogate {
 public:
  AggregatedSurrogate(const BigramModel& model,
                      const BigramRates& rates,
                      double batch,
                      const Eigen::MatrixXd& value,
                      const StreamAddress& address);
  /// @throws Error of kind input: entries off the support are not kept one by one
  void threshold(double tau) override;
  /// @brief Entries of the support only: the rest is known by its norm alone.
  std::vector<SparseColumn> large_entries(double fraction) const override;
  double zero_fraction() const override { return 0; }

 protected:
  void update_column(Eigen::Index k, const ColumnStep& step, RandomStream& stream) override;
  const std::vector<double>& support(Eigen::Index k) const {
    return support_[static_cast<std::size_t>(k)];
  }
  /// @brief Mean of column k off the support, and standard deviation of its entries there.
  std::pair<double, double> off_support(Eigen::Index k) const;

 private:
  std::vector<std::vector<double>> support_;
  std::vector<double> radius_;
};

/// @brief The same law for l1 with most entries zero: non-zeros are stored, births among the zeros
/// are drawn by their probability. The removal of the noise's mean is left out: of order 1/T in an
/// entry, but not in the sum of a column.
///
/// Until the threshold it is an aggregated surrogate; the entries that then survive are drawn from
/// the normal law that mean and radius leave: means are those of the exact law up to O(1/T), a
/// column's squared norm varies by a relative √(2/T) more.
class SparseSurrogate final : public AggregatedSurrogate {
 public:
  SparseSurrogate(const BigramModel& model,
                  const BigramRates& rates,
                  double batch,
                  const Eigen::MatrixXd& value,
                  const StreamAddress& address);
  /// @brief From now on entries of at least tau are kept one by one.
  /// @throws Error of kind input the second time
  void threshold(double tau) override;
  std::vector<SparseColumn> large_entries(double fraction) const override;
  double zero_fraction() const override;

 private:
  void update_column(Eigen::Index k, const ColumnStep& step, RandomStream& stream) override;
  void update_sums(Eigen::Index k);

  bool stored_ = false;
  std::vector<SparseColumn> columns_;  ///< non-zeros, here of any sign
};

}  // namespace attica
