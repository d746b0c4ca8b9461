#pragma once
/// @file
/// @brief Tokens through the blocks of a transformer at initialisation.
///
/// A block is x → N(a x + attention(x)), then x → N(m x + MLP(x)), N(x) = x √d/|x|. If all pairs of
/// tokens have the same cosine c, it obeys a recursion c' = N/(N+R) at every half:
///
///     attention  N = a²c + s_v² (c + (1-c) C) + s_b²,  R = (1-c)(a² + s_v² (Y - C))
///     MLP        N = m²c + s_w² K12 + s_b²,  R = m²(1-c) + s_w² (K11 - K12)
///
/// with the participation Y and the shared attention C of softmax_rows.hpp at the logits' variance
/// s² = β²(1-c) ln T, and the kernels K11, K12 of ReLU units (arc cosine). To first order in 1/d
/// networks differ from one another: g = ln(c/(1-c)) obeys g' = G(g) + noise of mean b and variance
/// v, so that its mean deviation e and its variance w between networks obey e' = G' e + ½ G'' w +
/// b, w' = G'² w + v. Setting: Giorlandino and Goldt, arXiv:2505.24333, whose recursion is the
/// limit T → ∞, d → ∞.

#include <Eigen/Core>
#include <vector>

#include "attica/theory/init/softmax_rows.hpp"

namespace attica {

/// A transformer at initialisation. Variances of matrices are over their inputs' dimension.
struct InitialTransformer {
  double context = 0;         ///< T
  double dimension = 0;       ///< d
  double heads = 1;           ///< H; d_k = d/H
  double beta = 0;            ///< logits have variance β² ln T
  double cosine = 0;          ///< p of the input
  double value_variance = 1;  ///< s_v²
  double mlp_variance = 1;    ///< s_w², of both matrices
  double bias_variance = 0;   ///< s_b²
  double skip = 1;            ///< a
  double mlp_skip = 1;        ///< m
  bool mlp = true;
  bool limit = false;  ///< Y, C and J of infinite context
};

/// Attention at a cosine of the tokens.
struct AttentionAt {
  double participation = 0;
  double shared = 0;
  double jacobian = 0;             ///< J
  double shared_jacobian = 0;      ///< E tr J_A J_B; 0 unless asked for, as what follows
  double key_jacobian = 0;         ///< E |q|² J_A², E |q|² = 1, of a query q
  double shared_key_jacobian = 0;  ///< E q_A·q_B tr J_A J_B
  double trace = 0;                ///< E (tr J_A)²
  double shared_trace = 0;         ///< E tr J_A tr J_B
};
/// @brief To order 1/d_k, with all of the participation's.
AttentionAt attention_at(const InitialTransformer& network, double cosine, bool jacobians = false);

/// Of a row and of two rows at a cosine of the tokens: what networks differ by.
struct AttentionScatter {
  double variance = 0;       ///< Var Σ A²
  double squares = 0;        ///< Cov(Σ_j A_tj², Σ_j A_sj²)
  double square_shared = 0;  ///< Cov(Σ_j A_tj², Σ_j A_tj A_sj)
};

/// @brief Attention of a network against the cosine of its tokens, for recursions that ask for it
/// again and again: known at Chebyshev nodes of ln(c/(1-c)) and interpolated. It depends on neither
/// skip connections nor values nor the MLP.
class AttentionCurve {
 public:
  /// Relative error of the interpolation (tests).
  static constexpr double kAccuracy = 1e-5;

  /// @param least, most 0 < least < most < 1: outside of these cosines attention is computed anew
  AttentionCurve(const InitialTransformer& network, double least, double most);
  /// @brief Without Jacobians.
  AttentionAt at(double cosine) const;
  AttentionScatter scatter(double cosine) const;
  /// @brief The curve with participation and shared attention times these factors at its nodes: by
  /// how much an error of either changes a result.
  AttentionCurve scaled(double participation, double shared) const;

 private:
  Eigen::VectorXd interpolated(double cosine) const;

  InitialTransformer network_;
  double low_ = 0, high_ = 0;        ///< of ln(c/(1-c))
  Eigen::VectorXd nodes_, weights_;  ///< in [-1, 1]; of the barycentric formula
  Eigen::MatrixXd values_;           ///< a column a node
};

/// One half of a block: c' = common/(common + rest).
struct HalfBlock {
  double common = 0;  ///< N
  double rest = 0;    ///< R
  double cosine() const { return common / (common + rest); }
  double distance() const { return rest / (common + rest); }
};
HalfBlock attention_half(const InitialTransformer& network,
                         double cosine,
                         const AttentionAt& attention);
HalfBlock mlp_half(const InitialTransformer& network, double cosine);

/// Means over networks after a block, and of the attention in it.
struct BlockMoments {
  double distance = 0;         ///< 1 - c
  double middle_distance = 0;  ///< the same after attention
  double participation = 0;
  double shared = 0;
  double spread = 0;  ///< standard deviation of 1 - c between networks; order 0: 0
  /// Of the mean field minus that of the first order.
  double distance_shift = 0, participation_shift = 0, shared_shift = 0;
  /// Relative scatter of the tokens' norms that attention makes: beyond `kClones` pairs of tokens
  /// differ, and what this theory says of this block and later ones does not hold.
  double clones = 0;
};
inline constexpr double kClones = 0.01;

/// @brief Blocks 1 ... `blocks`.
/// @param order 0: mean field, every network alike; 1: with the spread between networks, to first
/// order in 1/d, for 0 < p
/// @param known of a network with this β, T, d and H; null: attention is computed where it is
/// needed
std::vector<BlockMoments> propagate(const InitialTransformer& network,
                                    int blocks,
                                    int order,
                                    const AttentionCurve* known = nullptr);

/// @brief How far the cosines of pairs of tokens scatter in one network: their variance, without
/// what a token has in common in all its pairs, over (1-c)², before each of the blocks.
///
/// To first order in 1/d, of tokens whose cosines are equal before the first. A half block x → a x
/// + y adds 2a²(1-c) y2 + y2² to d times the variance, y2 the variance of an entry of y between
/// tokens. An MLP, whose units have the variance V between tokens given what tokens share, adds
/// s_w⁴ E V² as well. What two rows' attention scatters by is left out: it is of order 1/(T³H).
std::vector<double> pair_scatter(const InitialTransformer& network, int blocks);

/// @brief Cosines after each half block in mean field: after attention, after the MLP.
struct BlockCosines {
  double input = 0, middle = 0, output = 0;
};
std::vector<BlockCosines> mean_field(const InitialTransformer& network, int blocks);

}  // namespace attica
