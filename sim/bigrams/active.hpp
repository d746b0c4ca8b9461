#pragma once
/// @file
/// @brief Sparse attention: the value gradient sees the tokens at the positions with weight alone,
/// so only those are drawn, O(Q + nnz + N²) a sample at any T and with the law of whole
/// sequences.

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "attica/sim/bigrams/sampler.hpp"
#include "attica/sim/bigrams/trainer.hpp"

namespace attica {

/// @brief u = X a^(k) and the next token of fresh samples, for a fixed sparse A.
class ActiveSampler {
 public:
  /// @param attention non-zeros of A, a column per last token
  ActiveSampler(const BigramModel& model, const std::vector<SparseColumn>& attention);

  struct Sample {
    Eigen::Index last = 0;  ///< k
    Eigen::VectorXd u;      ///< X a^(k)
    Token next = 0;         ///< y
  };
  void draw(Sample& sample, RandomStream& stream);

  /// @brief What a batch's hat gradient of V, V M - C, is made of.
  struct Sums {
    Eigen::MatrixXd m;  ///< M = Σ u hᵀ, h = D⁻¹u - (1·u) 1, D = diag μ
    Eigen::MatrixXd c;  ///< C = Σ y hᵀ
  };
  /// @brief The sums over a batch of fresh samples. Where few tokens are active only a few dozen
  /// samples differ: how many of each there are is drawn in their place.
  void draw(std::int64_t batch, Sums& sums, RandomStream& stream);

 private:
  struct Column {
    Eigen::VectorXd weights;         ///< of A at the active positions, those of A or Q
    std::vector<std::size_t> slots;  ///< place among them of each attended position
    TokenLaw choice;                 ///< of a slot
  };
  /// Samples with one last token, if few differ: y + N pattern for each pattern of the tokens at
  /// the active positions.
  struct Outcomes {
    Eigen::Index first;  ///< pattern of this last token among those of all
    TokenLaw law;
  };
  void enumerate(const BigramModel& model);
  void count_outcomes(std::int64_t batch, RandomStream& stream);

  TokenLaw stationary_;
  std::vector<TokenLaw> next_;
  std::vector<Column> columns_;
  Eigen::VectorXd inverse_mu_;
  std::vector<Outcomes> outcomes_;  ///< empty: there are too many
  Eigen::MatrixXd u_;               ///< of every pattern
  Eigen::MatrixXd h_;
  Eigen::MatrixXd hits_;  ///< of a batch; @shape{next tokens x patterns}
  std::vector<Token> tokens_;
};

/// @brief Refits V by `steps` >= 1 steps with hat gradients while Â stays: a linear problem that
/// relaxes at the rate η_V ‖Â‖²_μ a step to V = μ1ᵀ + (⟨Q, Â⟩_μ/‖Â‖²_μ) (P - μ1ᵀ).
/// @return the mean of V over the last half of the steps
Eigen::MatrixXd refit_value(const BigramModel& model,
                            const RoundedBigram& rounded,
                            double eta_v,
                            std::int64_t batch,
                            std::int64_t steps,
                            RandomStream& stream);

}  // namespace attica
