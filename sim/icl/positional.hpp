#pragma once
/// @file
/// @brief Online SGD of a student whose attention is positional or semantic, in finite dimension.
/// Only its overlaps matter: a step costs the same at any d.

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <vector>

#include "attica/core/icl/positional.hpp"
#include "attica/core/random.hpp"

namespace attica {

/// @brief Loss of one pair of tokens, ½|teacher - student|_F², and its derivatives by the student's
/// q_i = u·(x_i ± p). T is a number, or an array of several pairs'.
template <class T>
struct PairLossOf {
  T loss, d_first, d_second;
};
using PairLoss = PairLossOf<double>;
/// @param first, second the student's q_1, q_2
/// @param teacher_first, teacher_second the teacher's q*_1, q*_2
PairLoss pair_loss(const PositionalTask& task,
                   double first,
                   double second,
                   double teacher_first,
                   double teacher_second);

/// @brief What is drawn for a step: a pair of tokens by their components along p, w* and the rest
/// of u, and the χ² of d - 3 degrees of those across. Students that share a draw see the same pair.
class PositionalDraw {
 public:
  PositionalDraw(Eigen::Index dimension, RandomStream& stream);

 private:
  friend class PositionalStudents;
  std::array<double, 6> tokens_{};
  double across_;
  double teacher_first_, teacher_second_;  ///< what the teacher's semantic attention gives
};

/// @brief Students on the unit sphere of R^d by what their training depends on: the overlaps, and
/// the length of the rest of u. All see the same pairs, each has a task of its own; they are
/// computed several at a time.
class PositionalStudents {
 public:
  using Lanes = Eigen::Array<double, 4, 1>;  ///< of students that are computed at a time

  /// @param tasks one a student
  /// @throws Error (input) naming dimension (>= 4) or e (e² + m² <= 1)
  PositionalStudents(const PositionalOverlaps& start,
                     Eigen::Index dimension,
                     const std::vector<PositionalTask>& tasks);

  /// @brief u ← normalise(u - (η/d) ∇_u l) on a fresh pair; exact in law. Of the tokens the
  /// components along p, w* and the rest of u are drawn; those across add a χ² of d - 3 degrees to
  /// the length.
  void step(double eta, RandomStream& stream) { step(eta, PositionalDraw(dimension_, stream)); }
  /// @param drawn for the dimension of these students
  void step(double eta, const PositionalDraw& drawn);
  std::size_t size() const { return count_; }
  /// @param k < size()
  PositionalOverlaps overlaps(std::size_t k = 0) const;

 private:
  struct Group {
    Lanes e, m, rest;
    Lanes content, position;  ///< 1 - ω, and ω A
  };
  std::vector<Group> groups_;
  std::size_t count_;
  Eigen::Index dimension_;
};

/// @brief Mean loss of the student over that many fresh pairs.
/// @param gradient_square if not null, the mean of d_first² + d_second²
double sampled_positional_loss(const PositionalTask& task,
                               const PositionalOverlaps& student,
                               std::int64_t pairs,
                               RandomStream& stream,
                               double* gradient_square = nullptr);

/// @brief Second derivative of the mean loss along a great circle of u, by second differences of a
/// sum over a grid of tokens instead of fresh pairs, to some 0.1 %.
/// @param towards a state at a right angle to `from`, which may be the origin
double positional_curvature(const PositionalTask& task,
                            const PositionalOverlaps& from,
                            const PositionalOverlaps& towards);

}  // namespace attica
