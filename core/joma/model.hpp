#pragma once
/// @file
/// @brief One attention layer followed by an MLP, in the exact reduced state of its gradient
/// dynamics (Tian et al. 2023, arXiv:2310.00535).
///
/// A sample is a query m, a label n and a context x >= 0 over M tokens. With attention logits z_m,
///
///     b = x o z_m                                  (linear)
///     b = x o exp(z_m / T) / A                     (exponential)
///     b = x o exp(z_m / T) / sum_j x_j e^{z_mj/T}  (softmax)
///     s_k = v_k.b + kappa r_km,   h_k = phi(s_k).
///
/// Embeddings are frozen, so that v_k (the weights of hidden unit k seen from the tokens) and r_km
/// (seen from the queries) replace its weight vector exactly. They are orthonormal, or those of the
/// tokens have a Gram matrix K = U^T U and are orthogonal to those of the queries. With weights w_k
/// and key-query matrix Q, v_k = U^T w_k and z_m = U^T Q^T u_m, descent moves w_k and Q, hence
///
///     v_k' = K E[g_k phi' b],   z_m' = K E_m[J^T sum_k g_k phi' v_k],   J = db/dz_m.
///
/// Source of the orthonormal case: Theorem 1 there. Overlapping embeddings are ours.

#include <Eigen/Core>
#include <span>
#include <vector>

namespace attica {

enum class JomaAttention { linear, exponential, softmax };

/// phi: s, max(s, 0) with derivative 0 at 0, s^2/2, tanh s, s/(1+e^-s).
enum class JomaActivation { linear, relu, quadratic, tanh, silu };

/// With hidden units h and label n:
enum class JomaLoss {
  linear,         ///< -sum_k G_nk h_k: the only one with a constant back-propagated gradient
  cross_entropy,  ///< -log softmax(W h)_n
  squared,        ///< |tau_n - h|^2 / 2
};

/// The samples of a population, with weights.
struct JomaSamples {
  Eigen::MatrixXd contexts;  ///< row i = x of sample i, >= 0; @shape{samples x M}
  std::vector<int> queries;  ///< m, 0..queries-1
  std::vector<int> labels;   ///< n, 0..classes-1
  Eigen::VectorXd weights;   ///< probabilities; they sum to 1
};

/// What the network computes and is trained on.
struct JomaLaw {
  JomaAttention attention = JomaAttention::exponential;
  JomaActivation activation = JomaActivation::linear;
  JomaLoss loss = JomaLoss::linear;
  double temperature = 1;    ///< T > 0
  double amplitude = 1;      ///< A > 0, exponential attention
  double residual = 1;       ///< kappa: 1 with the residual connection, 0 without
  Eigen::MatrixXd top = {};  ///< G, W or tau by the loss; @shape{classes x units}. Empty with cross
                             ///< entropy: identity
  Eigen::MatrixXd gram = {};  ///< K, symmetric positive definite; @shape{tokens x tokens}. Empty:
                              ///< identity
};

/// @brief Weights seen from tokens and queries, and attention logits; also their increments.
struct JomaState {
  Eigen::MatrixXd v;  ///< @shape{units x tokens}
  Eigen::MatrixXd r;  ///< @shape{units x queries}
  Eigen::MatrixXd z;  ///< @shape{queries x tokens}

  /// @brief All entries, v, r, z, by columns.
  Eigen::VectorXd flat() const;
  /// @brief Reads them back into a state of this one's shape.
  JomaState from_flat(const Eigen::Ref<const Eigen::VectorXd>& values) const;
};

/// @brief A validated network with its population.
class JomaModel {
 public:
  /// @throws Error (input) naming the parameter: shapes, ranges, weights that do not sum to 1
  /// within 1e-9, contexts that are 0 with softmax attention, a Gram matrix that is none
  JomaModel(JomaLaw law, JomaSamples samples);

  const JomaLaw& law() const { return law_; }
  const JomaSamples& samples() const { return samples_; }
  Eigen::Index tokens() const { return samples_.contexts.cols(); }
  Eigen::Index units() const { return law_.top.cols(); }
  Eigen::Index queries() const { return queries_; }

  /// @brief Loss over the whole population, and the direction of descent of the state if asked for:
  /// the negative gradient, times K from the right in v and z.
  double loss(const JomaState& state, JomaState* descent = nullptr) const;
  /// @brief The same over chosen samples with weights of their own (a minibatch).
  double loss(const JomaState& state,
              std::span<const int> chosen,
              std::span<const double> weights,
              JomaState* descent = nullptr) const;

  /// @brief What is propagated back to the hidden units, g_k phi', for every sample; with the
  /// linear activation g_k = -dL/dh_k. @shape{samples x units}
  Eigen::MatrixXd back_propagated(const JomaState& state) const;

  /// @brief Rate of the defect of the softmax invariant,
  ///     eps' = -(1/T) sum_k { E[g_k phi' b b^T] - bbar E[g_k phi' b]^T } v_k,
  /// which vanishes if attended contexts b do not vary. Meaningful for softmax attention and
  /// orthonormal embeddings.
  Eigen::VectorXd softmax_defect_rate(const JomaState& state, const Eigen::VectorXd& mean_b) const;

  /// @brief The quantities that exponential and linear attention conserve along gradient flow for
  /// any activation, loss and data: sum_m z_m - sum_k v_k^2 / (2T), resp. sum_m z_m^2 - sum_k
  /// v_k^2, one a token. With overlapping embeddings one for every set S of tokens that K connects,
  ///
  ///     1.K_S^-1 sum_m z_m - sum_k v_k.K_S^-1 v_k / (2T),   sum_m z_m.K_S^-1 z_m - sum_k
  ///     v_k.K_S^-1 v_k,
  ///
  /// and no others: the directions of descent at two connected tokens do not commute, and what they
  /// generate moves the quantity of one against that of the other.
  Eigen::VectorXd invariant(const JomaState& state) const;
  /// @brief By how much one step of size (dv, dz) changes it beyond first order, exactly:
  /// -(1/2T) sum_k dv_k.K_S^-1 dv_k, resp. sum_m dz_m.K_S^-1 dz_m - sum_k dv_k.K_S^-1 dv_k.
  Eigen::VectorXd invariant_step(const JomaState& increment) const;
  /// @brief How many quantities are conserved: sets of tokens that K connects.
  Eigen::Index conserved() const;
  /// @brief 1.K^-1 z_m for every query, which softmax attention conserves, at any step size.
  Eigen::VectorXd logit_sums(const JomaState& state) const;

  /// @brief How fast overlap moves what orthonormal embeddings would conserve: with entry (l, j), l
  /// != j, the quantity of token l is moved at a rate sum_j K_lj times that entry,
  ///
  ///     (1/T) sum_k (v_kj - v_kl) p_kj,   resp. 2 sum_m z_ml G_mj - 2 sum_k v_kl p_kj,
  ///
  /// p_k = E[g_k phi' b] and G the negative gradient by z. Exponential and linear attention.
  Eigen::MatrixXd overlap_rates(const JomaState& state) const;

 private:
  /// Of samples, one a column.
  struct Passed {
    Eigen::MatrixXd attended;  ///< b; @shape{tokens x samples}
    Eigen::MatrixXd backward;  ///< g_k phi'(s_k); @shape{units x samples}
  };

  /// Both of the chosen samples; returns their loss, weighted.
  double forward(const JomaState& state,
                 std::span<const int> chosen,
                 std::span<const double> weights,
                 Passed& at) const;
  /// Query and label of the i-th of the chosen samples.
  Eigen::Index query(std::span<const int> chosen, Eigen::Index i) const {
    return samples_.queries[static_cast<std::size_t>(chosen[static_cast<std::size_t>(i)])];
  }
  Eigen::Index label(std::span<const int> chosen, Eigen::Index i) const {
    return samples_.labels[static_cast<std::size_t>(chosen[static_cast<std::size_t>(i)])];
  }
  /// Weights of all samples.
  std::span<const double> population() const {
    return {samples_.weights.data(), static_cast<std::size_t>(samples_.weights.size())};
  }
  /// The negative gradient by the state.
  double gradient(const JomaState& state,
                  std::span<const int> chosen,
                  std::span<const double> weights,
                  JomaState* descent) const;
  /// Rows times K^-1.
  Eigen::MatrixXd dual(const Eigen::MatrixXd& rows) const;

  JomaLaw law_;
  JomaSamples samples_;
  Eigen::MatrixXd columns_ = {};  ///< contexts, one a column
  std::vector<int> all_ = {};     ///< all samples
  bool identity_top_ = false;
  Eigen::Index queries_ = 1;
  Eigen::MatrixXd inverse_gram_ = {};  ///< empty: identity
  Eigen::MatrixXd sets_ = {};          ///< 1 where a token belongs; @shape{conserved x tokens}
};

}  // namespace attica
