#pragma once
/// @file
/// @brief Stochastic gradient descent on sampled sequences of sparse contextual bigrams.
///
/// For a sample with last token k: u = X a^(k) by adding a_t into bin x_t, r = V u - y, w = Vᵀ r,
/// then ∇_V = r uᵀ and ∇_{a^(k)}[t] = w[x_t] by look-up. The one-hot matrix X is never formed.
/// Column k of A is used by samples with last token k alone, so samples come sorted by k and a
/// column is updated as soon as its samples are through: O(T + N²) work a sample, O(T) memory
/// beside A.

#include <Eigen/Core>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "attica/core/random.hpp"
#include "attica/sim/bigrams/sampler.hpp"
#include "attica/sim/bigrams/trainer.hpp"

namespace attica {

/// Update rules.
enum class BigramAlgorithm {
  sgd_raw,        ///< plain gradients
  sgd_projected,  ///< gradients projected on the constraint set, no preconditioner
  sgd_hat,        ///< hat gradients: projected and preconditioned (theory/bigrams/population.hpp)
  l1,             ///< hat gradients and a soft threshold; column sums are free to shrink
  l1_sum1,        ///< hat gradients and the proximal step under column sums 1
  softmax,  ///< A = softmax(W) per column, W <- W - (η_A/μ_k) J(a) ∇_a; V by hat gradients
};

/// @brief Where samples come from; replaced in tests by fixed ones.
struct BigramSource {
  /// Numbers of samples with each last token in the next batch.
  std::function<void(std::span<std::int64_t> counts)> counts;
  /// Fills x_1..x_T of the next samples with this last token, one after the other, and the token
  /// after each.
  std::function<void(Eigen::Index last, std::span<Token> tokens, std::span<Token> next)> samples;
};

/// @brief A run on real samples. Real is float or double.
template <class Real>
class BigramSgd final : public BigramTrainer {
 public:
  using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
  using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;

  /// @param address of the samples: id, point and replicate; its step counts the steps
  /// @param value the start of V; A starts uniform
  /// @throws Error of kind input naming 'eta', 'batch'
  BigramSgd(const BigramModel& model,
            BigramAlgorithm algorithm,
            const BigramRates& rates,
            double batch,
            const Eigen::MatrixXd& value,
            const StreamAddress& address);
  ~BigramSgd() override;

  void step() override;
  /// @brief A step on samples of another source.
  void step(const BigramSource& source);

  /// @brief Starts again from this A (softmax: this W).
  void set_attention(const Eigen::MatrixXd& attention);
  /// @brief Later steps leave V as it is.
  void freeze_value() { value_frozen_ = true; }
  auto attention() const { return a_.topRows(model_->context()); }

  Eigen::MatrixXd value() const override { return v_.template cast<double>(); }
  AttentionSums sums() const override;
  void threshold(double tau) override;
  std::vector<SparseColumn> large_entries(double fraction) const override;
  double zero_fraction() const override;
  /// @brief Mean loss of the last batch, before its step.
  double batch_loss() const { return batch_loss_; }

 private:
  struct Work;
  /// Adds what so many samples with last token k give to the gradients.
  void add_samples(Eigen::Index k, Eigen::Index samples, const BigramSource& source);
  auto column(Eigen::Index k) { return a_.col(k).head(model_->context()); }
  void update_column(Eigen::Index k, const Eigen::Ref<const Vector>& gradient);
  void shrink_column(Eigen::Index k);
  void update_value(const Matrix& gradient);

  BigramAlgorithm algorithm_;
  BigramSampler sampler_;
  StreamAddress address_;
  bool value_frozen_ = false;
  Matrix v_;
  Matrix a_;  ///< with rows of 0 behind the context, to whole registers
  Matrix w_;  ///< softmax: the logits
  Vector mu_;
  Vector inverse_mu_;
  double batch_loss_ = 0;
  std::unique_ptr<Work> work_;
};

extern template class BigramSgd<float>;
extern template class BigramSgd<double>;

}  // namespace attica
