#include "attica/sim/icl/positional.hpp"

#include <array>
#include <cmath>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/sim/chi_squared.hpp"

namespace attica {

using Eigen::Index;

namespace {

using Lanes = PositionalStudents::Lanes;
constexpr Index kLanes = Lanes::RowsAtCompileTime;

/// Length of the part of u across p and w*.
double rest_of(const PositionalOverlaps& overlaps) {
  return std::sqrt(std::max(0.0, 1 - overlaps.e * overlaps.e - overlaps.m * overlaps.m));
}

/// σ(x) of a number or of lanes.
template <class T>
T logistic(const T& x) {
  using std::exp;
  return 1 / (1 + exp(-x));
}

/// What a token's semantic attention gives to itself.
template <class T>
T semantic(const T& q, const T& other) {
  return logistic<T>(q * (q - other));
}

/// @param target_one, target_two what the teacher's tokens give to themselves
template <class T>
[[gnu::always_inline]] inline PairLossOf<T> loss_of(const T& first,
                                                    const T& second,
                                                    const T& target_one,
                                                    const T& target_two) {
  // A row's two entries differ from the teacher's by the same, with opposite signs.
  const T own_one = semantic<T>(first, second);
  const T own_two = semantic<T>(second, first);
  const T error_one = own_one - target_one;
  const T error_two = own_two - target_two;
  const T pull_one = 2 * error_one * own_one * (1 - own_one);
  const T pull_two = 2 * error_two * own_two * (1 - own_two);
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
  return loss_of<double>(first,
                         second,
                         (1 - task.omega) * semantic(teacher_first, teacher_second) + position,
                         (1 - task.omega) * semantic(teacher_second, teacher_first) + position);
}

PositionalDraw::PositionalDraw(Index dimension, RandomStream& stream) {
  stream.fill_normal(tokens_);
  across_ = chi_squared(static_cast<double>(dimension) - 3, stream);
  teacher_first_ = semantic(tokens_[1], tokens_[4]);
  teacher_second_ = semantic(tokens_[4], tokens_[1]);
}

PositionalStudents::PositionalStudents(const PositionalOverlaps& start,
                                       Index dimension,
                                       const std::vector<PositionalTask>& tasks)
    : count_(tasks.size()), dimension_(dimension) {
  constexpr Index kLeast = 4;
  require(dimension >= kLeast, "dimension", static_cast<double>(dimension), "dimension >= 4");
  require(start.e * start.e + start.m * start.m <= 1, "e", start.e, "e^2 + m^2 <= 1");
  const auto all = [](double x) { return Lanes(Lanes::Constant(x)); };
  for (std::size_t k = 0; k < tasks.size(); ++k) {
    const auto lane = static_cast<Index>(k) % kLanes;
    if (lane == 0)
      groups_.push_back({all(start.e), all(start.m), all(rest_of(start)), all(0), all(0)});
    groups_.back().content[lane] = 1 - tasks[k].omega;
    groups_.back().position[lane] = tasks[k].omega * tasks[k].own();
  }
}

void PositionalStudents::step(double eta, const PositionalDraw& drawn) {
  const auto& [along_p, along_teacher, along_rest, other_p, other_teacher, other_rest] =
      drawn.tokens_;
  const double rate = eta / static_cast<double>(dimension_);
  for (Group& u : groups_) {
    const auto [l, d_first, d_second] =
        loss_of<Lanes>(u.e * (along_p + 1) + u.m * along_teacher + u.rest * along_rest,
                       u.e * (other_p - 1) + u.m * other_teacher + u.rest * other_rest,
                       u.content * drawn.teacher_first_ + u.position,
                       u.content * drawn.teacher_second_ + u.position);
    const Lanes first = rate * d_first;
    const Lanes second = rate * d_second;
    const Lanes e = u.e - first * (along_p + 1) - second * (other_p - 1);
    const Lanes m = u.m - first * along_teacher - second * other_teacher;
    const Lanes along = u.rest - first * along_rest - second * other_rest;
    const Lanes rest = (along.square() + (first.square() + second.square()) * drawn.across_).sqrt();
    const Lanes norm = (e.square() + m.square() + rest.square()).sqrt();
    u.e = e / norm;
    u.m = m / norm;
    u.rest = rest / norm;
  }
}

PositionalOverlaps PositionalStudents::overlaps(std::size_t k) const {
  const Group& u = groups_[k / kLanes];
  const auto lane = static_cast<Index>(k) % kLanes;
  return {u.e[lane], u.m[lane]};
}

double sampled_positional_loss(const PositionalTask& task,
                               const PositionalOverlaps& student,
                               std::int64_t pairs,
                               RandomStream& stream,
                               double* gradient_square) {
  const double rest = rest_of(student);
  const double position = task.omega * task.own();
  Lanes sums = Lanes::Zero();
  Lanes squares = Lanes::Zero();
  for (std::int64_t k = 0; k < pairs; k += kLanes) {
    Eigen::Array<double, kLanes, 6> tokens;  // a pair a row, a component a column
    stream.fill_normal({tokens.data(), static_cast<std::size_t>(tokens.size())});
    const Lanes teacher_first = tokens.col(1);
    const Lanes teacher_second = tokens.col(4);
    auto loss = loss_of<Lanes>(
        student.e * (tokens.col(0) + 1) + student.m * teacher_first + rest * tokens.col(2),
        student.e * (tokens.col(3) - 1) + student.m * teacher_second + rest * tokens.col(5),
        (1 - task.omega) * semantic(teacher_first, teacher_second) + position,
        (1 - task.omega) * semantic(teacher_second, teacher_first) + position);
    const auto left = static_cast<Index>(pairs - k);
    if (left < kLanes) {
      for (Lanes* value : {&loss.loss, &loss.d_first, &loss.d_second})
        value->tail(kLanes - left).setZero();
    }
    sums += loss.loss;
    squares += loss.d_first.square() + loss.d_second.square();
  }
  if (gradient_square != nullptr) *gradient_square = squares.sum() / static_cast<double>(pairs);
  return sums.sum() / static_cast<double>(pairs);
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
