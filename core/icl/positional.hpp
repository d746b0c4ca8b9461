#pragma once
/// @file
/// @brief Attention between two tokens whose teacher mixes meaning with position.

#include <cmath>

namespace attica {

/// @brief Two tokens x_1, x_2 ~ N(0, I_d) at positions +p and -p, |p| = 1. The student's attention
/// is the row-wise softmax of q qᵀ with q_i = u·(x_i ± p), u on the unit sphere; the teacher's is
/// (1-ω) softmax(q* q*ᵀ) + ω softmax(a² [[1,-1],[-1,1]]) with q*_i = w*·x_i, w* a unit vector
/// orthogonal to p. Loss of a pair: ½ |teacher - student|_F².
/// @source Cui, Behrens, Krzakala, Zdeborová 2024, arXiv:2402.03902; Arnaboldi, Loureiro, Stephan,
/// Krzakala, Zdeborová 2025, arXiv:2506.02651
struct PositionalTask {
  double a = 1;        ///< strength of the teacher's positional attention, a > 0
  double omega = 0.5;  ///< its share, 0 <= ω <= 1

  /// A = σ(2a²): what a token gives to itself by position.
  double own() const { return 1 / (1 + std::exp(-2 * a * a)); }
};

/// @brief Overlaps of the student's direction u with position and with the teacher, e² + m² <= 1.
struct PositionalOverlaps {
  double e = 0;  ///< u·p
  double m = 0;  ///< u·w*
};

/// @throws Error (input) naming `a` or `omega`
void require_valid(const PositionalTask& task);

}  // namespace attica
