#include "attica/sim/icl/positional.hpp"

#include <array>
#include <cmath>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/sim/chi_squared.hpp"

namespace attica {

using Eigen::Index;

namespace {

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

/// Length of the part of u across p and w*.
double rest_of(const PositionalOverlaps& overlaps) {
  return std::sqrt(std::max(0.0, 1 - overlaps.e * overlaps.e - overlaps.m * overlaps.m));
}

/// Components of the two tokens along p, w* and the rest of u.
struct TokenComponents {
  explicit TokenComponents(RandomStream& stream) {
    std::array<double, 6> normals{};
    stream.fill_normal(normals);
    first = {normals[0], normals[1], normals[2]};
    second = {normals[3], normals[4], normals[5]};
  }
  SeenPair seen(const PositionalOverlaps& u, double rest) const {
    return {u.e * (first[0] + 1) + u.m * first[1] + rest * first[2],
            u.e * (second[0] - 1) + u.m * second[1] + rest * second[2],
            first[1],
            second[1]};
  }
  std::array<double, 3> first, second;
};

/// What a token's semantic attention gives to itself.
double semantic(double q, double other) { return logistic(q * (q - other)); }

/// @param target_one, target_two what the teacher's tokens give to themselves
PairLoss loss_of(double first, double second, double target_one, double target_two) {
  // A row's two entries differ from the teacher's by the same, with opposite signs.
  const double own_one = semantic(first, second);
  const double own_two = semantic(second, first);
  const double error_one = own_one - target_one;
  const double error_two = own_two - target_two;
  const double pull_one = 2 * error_one * own_one * (1 - own_one);
  const double pull_two = 2 * error_two * own_two * (1 - own_two);
  return {error_one * error_one + error_two * error_two,
          pull_one * (2 * first - second) - pull_two * second,
          pull_two * (2 * second - first) - pull_one * first};
}

}  // namespace

PairLoss pair_loss(const PositionalTask& task,
                   double first,
                   double second,
                   double teacher_first,
                   double teacher_second) {
  const double position = task.omega * task.own();
  return loss_of(first,
                 second,
                 (1 - task.omega) * semantic(teacher_first, teacher_second) + position,
                 (1 - task.omega) * semantic(teacher_second, teacher_first) + position);
}

PositionalDraw::PositionalDraw(Index dimension, RandomStream& stream) : tokens_{} {
  stream.fill_normal(tokens_);
  across_ = chi_squared(static_cast<double>(dimension) - 3, stream);
  teacher_first_ = semantic(tokens_[1], tokens_[4]);
  teacher_second_ = semantic(tokens_[4], tokens_[1]);
}

PositionalStudent::PositionalStudent(const PositionalOverlaps& start, Index dimension)
    : overlaps_(start), rest_(rest_of(start)), dimension_(dimension) {
  constexpr Index kLeast = 4;
  require(dimension >= kLeast, "dimension", static_cast<double>(dimension), "dimension >= 4");
  require(start.e * start.e + start.m * start.m <= 1, "e", start.e, "e^2 + m^2 <= 1");
}

void PositionalStudent::step(const PositionalTask& task, double eta, const PositionalDraw& drawn) {
  const auto& [along_p, along_teacher, along_rest, other_p, other_teacher, other_rest] =
      drawn.tokens_;
  const double position = task.omega * task.own();
  const PairLoss loss =
      loss_of(overlaps_.e * (along_p + 1) + overlaps_.m * along_teacher + rest_ * along_rest,
              overlaps_.e * (other_p - 1) + overlaps_.m * other_teacher + rest_ * other_rest,
              (1 - task.omega) * drawn.teacher_first_ + position,
              (1 - task.omega) * drawn.teacher_second_ + position);
  const double rate = eta / static_cast<double>(dimension_);
  const double first = rate * loss.d_first;
  const double second = rate * loss.d_second;
  const double e = overlaps_.e - first * (along_p + 1) - second * (other_p - 1);
  const double m = overlaps_.m - first * along_teacher - second * other_teacher;
  const double along = rest_ - first * along_rest - second * other_rest;
  const double rest = std::sqrt(along * along + (first * first + second * second) * drawn.across_);
  const double norm = std::sqrt(e * e + m * m + rest * rest);
  overlaps_ = {e / norm, m / norm};
  rest_ = rest / norm;
}

SeenPair draw_pair(const PositionalOverlaps& student, RandomStream& stream) {
  return TokenComponents(stream).seen(student, rest_of(student));
}

double sampled_positional_loss(const PositionalTask& task,
                               const PositionalOverlaps& student,
                               std::int64_t pairs,
                               RandomStream& stream,
                               double* gradient_square) {
  double sum = 0;
  double squares = 0;
  for (std::int64_t k = 0; k < pairs; ++k) {
    const SeenPair pair = draw_pair(student, stream);
    const PairLoss loss =
        pair_loss(task, pair.first, pair.second, pair.teacher_first, pair.teacher_second);
    sum += loss.loss;
    squares += loss.d_first * loss.d_first + loss.d_second * loss.d_second;
  }
  if (gradient_square != nullptr) *gradient_square = squares / static_cast<double>(pairs);
  return sum / static_cast<double>(pairs);
}

double positional_curvature(const PositionalTask& task,
                            const PositionalOverlaps& from,
                            const PositionalOverlaps& towards) {
  constexpr double kAngle = 1e-3;
  constexpr double kSpacing = 0.4;
  constexpr double kReach = 6;
  const auto loss = [&](double angle, double t1, double t2, double z1, double z2) {
    const double e = from.e * std::cos(angle) + towards.e * std::sin(angle);
    const double m = from.m * std::cos(angle) + towards.m * std::sin(angle);
    const double across = std::sqrt(1 - m * m);  // p and the rest of u
    return pair_loss(task, m * t1 + across * z1 + e, m * t2 + across * z2 - e, t1, t2).loss;
  };
  std::vector<double> grid;
  for (double x = -kReach; x <= kReach; x += kSpacing) grid.push_back(x);
  double sum = 0;
  double weights = 0;
  for (const double t1 : grid) {
    for (const double t2 : grid) {
      for (const double z1 : grid) {
        for (const double z2 : grid) {
          const double square = t1 * t1 + t2 * t2 + z1 * z1 + z2 * z2;
          if (square > kReach * kReach) continue;
          const double weight = std::exp(-square / 2);
          const auto at = [&](double angle) { return loss(angle, t1, t2, z1, z2); };
          sum += weight * (at(kAngle) + at(-kAngle) - 2 * at(0));
          weights += weight;
        }
      }
    }
  }
  return sum / (weights * kAngle * kAngle);
}

}  // namespace attica
