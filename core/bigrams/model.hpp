#pragma once
/// @file
/// @brief The problem of sparse contextual bigrams: which token comes next depends on the last
/// token and, through it, on a few earlier positions.
///
/// Tokens x_1..x_T and the last token k = x_{T+1} are independent draws from μ. The next token is m
/// with probability Σ_t q^(k)_t P[m][x_t]: the last token chooses a position by the law q^(k), the
/// token found there chooses the next one by the bigram law P, P μ = μ (Ren, Wang, Lee 2024,
/// arXiv:2410.23438). The network is f = V X a^(k), X the N x T one-hot matrix of x_1..x_T, with
/// loss ½|y - f|².
///
/// Columns are weighted by μ: ⟨X, Y⟩_μ = Σ_k μ_k X_k·Y_k. Σ = diag μ - μμᵀ is a token's covariance.

#include <Eigen/Core>
#include <algorithm>
#include <cstdint>
#include <vector>

namespace attica {

/// @brief Bigram law and its stationary law.
struct BigramChain {
  Eigen::MatrixXd transition;  ///< P[m][n] = Pr(next m | token n), columns sum to 1; @shape{N x N}
  Eigen::VectorXd stationary;  ///< μ > 0, sums to 1, P μ = μ

  Eigen::Index tokens() const { return stationary.size(); }
};

/// @brief A probability law over positions with few non-zeros.
struct SparseColumn {
  std::vector<Eigen::Index> positions;  ///< rising, 0-based
  std::vector<double> weights;          ///< >= 0, sum to 1

  double norm2() const;
};

/// @brief Throws Error (input) naming `P` or `mu` unless the chain is as BigramChain says: entries
/// finite, P >= 0, sums within 1e-9, |P μ - μ| <= 1e-8.
void validate(const BigramChain& chain);

/// @brief An admissible problem with the constants that follow from it. Immutable.
class BigramModel {
 public:
  /// @param chain P and μ, N >= 2
  /// @param context T >= 2
  /// @param sparsity Q, the largest number of non-zeros of a column, 1 <= Q <= T
  /// @param attention q^(k) for every last token k
  /// @throws Error of kind input naming the offending part
  BigramModel(BigramChain chain,
              Eigen::Index context,
              Eigen::Index sparsity,
              std::vector<SparseColumn> attention);

  Eigen::Index tokens() const { return chain_.tokens(); }
  Eigen::Index context() const { return context_; }
  Eigen::Index sparsity() const { return sparsity_; }
  const BigramChain& chain() const { return chain_; }
  const Eigen::MatrixXd& transition() const { return chain_.transition; }
  const Eigen::VectorXd& stationary() const { return chain_.stationary; }
  const std::vector<SparseColumn>& attention() const { return attention_; }
  /// @brief Q as a dense matrix. @shape{T x N}
  Eigen::MatrixXd dense_attention() const;
  /// @brief Σ = diag μ - μμᵀ
  const Eigen::MatrixXd& covariance() const { return covariance_; }
  /// @brief |q^(k)|² for every k.
  const Eigen::VectorXd& attention_norm2() const { return attention_norm2_; }

  /// @brief K_P = ‖P‖²_μ - |μ|²: what the bigram law tells about the next token.
  double k_p() const { return k_p_; }
  /// @brief K_Q = ‖Q‖²_μ - 1/T.
  double k_q() const { return k_q_; }
  /// @brief κ_V = tr(Σ P Σ Pᵀ)/K_P²: variance of the first gradient's signal, times T.
  double kappa_v() const { return kappa_v_; }
  /// @brief Bayes risk, the loss at V = P, A = Q.
  double bayes_loss() const;
  /// @brief Loss at the standard start V = μ 1ᵀ, A = 1 1ᵀ/T: the prediction is μ.
  double initial_loss() const;
  /// @brief False if all columns of P are μ within rounding (K_P <= 1e-12): nothing to learn.
  bool has_signal() const;
  /// @brief Smallest non-zero attention weight.
  double smallest_weight() const { return smallest_weight_; }

 private:
  BigramChain chain_;
  Eigen::Index context_;
  Eigen::Index sparsity_;
  std::vector<SparseColumn> attention_;
  Eigen::MatrixXd covariance_;
  Eigen::VectorXd attention_norm2_;
  double k_p_ = 0;
  double k_q_ = 0;
  double kappa_v_ = 0;
  double smallest_weight_ = 0;
};

/// @brief What the loss sees of an attention matrix A, for every last token k.
struct AttentionSums {
  Eigen::VectorXd sum;      ///< s_k = Σ_t a^(k)_t
  Eigen::VectorXd norm2;    ///< n_k = |a^(k)|²
  Eigen::VectorXd overlap;  ///< o_k = q^(k)·a^(k)
};

AttentionSums attention_sums(const BigramModel& model, const Eigen::MatrixXd& attention);
AttentionSums attention_sums(const BigramModel& model, const Eigen::MatrixXf& attention);

/// @brief Where a network stands: exact population loss, signals, and what is not signal.
///
/// V = μ1ᵀ + α_V (P - μ1ᵀ) + Δ_V and A = 1/T + α_A (Q - 1/T) + Δ_A with μ-orthogonal remainders.
struct BigramState {
  double loss = 0;
  double excess_loss = 0;  ///< above the Bayes risk
  double alpha_v = 0;
  double alpha_a = 0;
  double d_v = 0;          ///< ‖Δ_V‖²_μ
  double d_a = 0;          ///< ‖Δ_A‖²_μ
  double distance_v2 = 0;  ///< ‖V - P‖²_μ
  double distance_a2 = 0;  ///< ‖A - Q‖²_μ
  double k_v = 0;          ///< tr(Vᵀ V Σ)
  double k_vp = 0;         ///< tr(Vᵀ P Σ)
  double mean_sum = 0;     ///< Σ_k μ_k s_k
};

/// Of these, what V alone decides.
struct BigramValueState {
  double k_v = 0;
  double k_vp = 0;
  double alpha_v = 0;
};

/// The signals and squared remainders among them: what flows reduce to.
struct BigramSignals {
  double alpha_v = 0;
  double alpha_a = 0;
  double d_v = 0;
  double d_a = 0;
};

/// What the flow of these four depends on.
struct BigramConstants {
  double k_p = 0;
  double k_q = 0;
  double context = 0;  ///< T
};
BigramConstants constants(const BigramModel& model);

/// What rounding leaves of a network: the signal of V̂, and errors relative to what is to be learnt.
struct BigramRounding {
  double alpha_v = 0;
  double value = 0;      ///< ‖V̂ - P‖²_μ/K_P
  double attention = 0;  ///< ‖Â - Q‖²_μ/K_Q

  double error() const { return std::max(value, attention); }
};

/// @param value V, @shape{N x N}
/// @param sums of the attention matrix
/// @pre model.has_signal() and K_Q != 0 for the signals to mean anything
BigramState bigram_state(const BigramModel& model,
                         const Eigen::MatrixXd& value,
                         const AttentionSums& sums);
/// @brief The same without A, whose sums take a time of order N T.
BigramValueState bigram_value_state(const BigramModel& model, const Eigen::MatrixXd& value);

/// Learning rates of V and A, of flows as of training steps.
struct BigramRates {
  double eta_v = 1;  ///< η_V > 0
  double eta_a = 1;  ///< η_A > 0
};

/// @brief V = μ 1ᵀ, the standard start of the value matrix.
Eigen::MatrixXd stationary_value(const BigramModel& model);
/// @brief V = θ P̂ + (1-θ) μ1ᵀ, a start from the bigram law P̂ of another task.
Eigen::MatrixXd transfer_start(const BigramModel& model,
                               double theta,
                               const Eigen::MatrixXd& source);
/// @brief A = 1 1ᵀ/T, the start of the attention matrix. @shape{T x N}
Eigen::MatrixXd uniform_attention(const BigramModel& model);

}  // namespace attica
