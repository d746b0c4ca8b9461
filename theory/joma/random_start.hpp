#pragma once
/// @file
/// @brief What a transformer shows before its first step: entropy of attention, loss and stable
/// rank averaged over random starts.
///
/// Matrices start with independent entries of variance 1/(3 inputs), as of the uniform law on
/// (-1/sqrt(inputs), 1/sqrt(inputs)). Every formula is an average over starts.

#include <Eigen/Core>
#include <vector>

namespace attica {

/// @brief The input of the first layer at a random start: x = e_token + p_position, the entries of
/// e independent and symmetric.
struct RandomEmbedding {
  int width = 0;                   ///< d
  double variance = 1;             ///< of an entry of e
  double fourth_moment = 3;        ///< of an entry of e; N(0, s^2): 3 s^4
  Eigen::MatrixXd positions = {};  ///< @shape{length x d}; empty: none
};

/// @brief How far the entropy of attention lies below that of uniform attention in the first layer,
/// nats, mean over sequences and queries.
///
/// Scores s_j = q.k_j / sqrt(d_head) have, over W_Q and W_K, the covariance |x_i|^2 x_j.x_k / (9
/// d^2) for any number of heads. With kappa_n the cumulants of the scores that a query sees,
///     ln t - H = kappa_2 / 2 + kappa_3 / 3 + kappa_4 / 8 + ...
/// The mean of kappa_2 is exact, that of kappa_3 is 0 (W_Q -> -W_Q). For kappa_4 the scores of
/// different vectors are taken as independent normal ones of variance s^2: with w_a the share of
/// the keys that are vector a, E kappa_4 = s^4 (24 sum w^3 - 18 (sum w^2)^2 - 6 sum w^2). Left out
/// is what is of the order of s^6, and of s^4 / width.
/// @param sequences tokens, one row a sequence; position j of each has the code `positions.row(j)`
/// @param causal    whether a query sees its own position and those before, or all
double start_entropy_deficit(const std::vector<std::vector<int>>& sequences,
                             const RandomEmbedding& embedding,
                             bool causal);

/// @brief Loss of C independent normal logits of that variance less that of equal ones:
/// E ln(sum_c e^{z_c} / C), nats; variance/2 (1 - 1/C) to first order.
///
/// By E ln X = integral over y of e^{-e^y} - E e^{-e^y X}, sums over equal steps (relative error
/// below 1e-9).
double start_loss_excess(int outputs, double variance);

/// A mean over starts, and how much the next order may change it.
struct StartMean {
  double value = 0;
  double left_out = 0;  ///< absolute
};

/// @brief Mean of |W|_F^2 / |W|^2 of a rows x columns matrix of independent uniform entries, 4 or
/// more of each.
///
/// The largest eigenvalue of W W^T over the variance of an entry is mu (1 + kappa_4/sqrt(rows
/// columns)) + sigma T, with T of the Tracy-Widom law of real matrices, mu = (sqrt(n-1) +
/// sqrt(p))^2, sigma = sqrt(mu) (1/sqrt(n-1) + 1/sqrt(p))^{1/3} (Johnstone 2001, Ann. Stat. 29),
/// and kappa_4 = -6/5 the fourth cumulant of the entries over their squared variance, which moves
/// the edge of the spectrum: to first order in it the edge z of -1/a = z + N b + kappa_4 N a b^2,
/// -1/b = z + M a + kappa_4 M a^2 b is (sqrt(M) + sqrt(N)) (1 + kappa_4 / (2 sqrt(M N))). The next
/// order of that shift is smaller by (M N)^{-1/6} only, a third at 32 x 32: half of the shift is
/// left open.
StartMean start_stable_rank(int rows, int columns);

}  // namespace attica
