#include "attica/sim/icl/positional.hpp"

#include <Eigen/Core>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>

#include "finite_differences.hpp"
#include "reference_values.hpp"
#include "refused.hpp"

using namespace attica;
using attica::testing::reference_values;
using attica::testing::refused;
using Catch::Matchers::WithinAbs;
using Eigen::Matrix2d;
using Eigen::Vector2d;
using Eigen::VectorXd;

namespace icl_positional_test {

/// Row-wise softmax of a matrix of logits.
Matrix2d softmax_rows(const Matrix2d& logits) {
  Matrix2d weights = logits.array().exp();
  for (int i = 0; i < 2; ++i) weights.row(i) /= weights.row(i).sum();
  return weights;
}

double loss_by_matrices(const PositionalTask& task, const Vector2d& q, const Vector2d& teacher) {
  Matrix2d position;
  position << 1, -1, -1, 1;
  const Matrix2d target = (1 - task.omega) * softmax_rows(teacher * teacher.transpose()) +
                          task.omega * softmax_rows(task.a * task.a * position);
  return (target - softmax_rows(q * q.transpose())).squaredNorm() / 2;
}

/// The definition of PositionalStudents::step, on the whole vector. p and w* are the first two
/// axes.
void positional_step_literally(const PositionalTask& task,
                               double eta,
                               VectorXd& student,
                               RandomStream& stream) {
  const Eigen::Index d = student.size();
  VectorXd first(d);
  VectorXd second(d);
  for (VectorXd* token : {&first, &second}) {
    for (double& entry : *token) entry = stream.normal();
  }
  const double teacher_first = first(1);
  const double teacher_second = second(1);
  first(0) += 1;
  second(0) -= 1;
  const PairLoss loss =
      pair_loss(task, student.dot(first), student.dot(second), teacher_first, teacher_second);
  student -= eta / static_cast<double>(d) * (loss.d_first * first + loss.d_second * second);
  student.normalize();
}

struct Moments {
  double e = 0, m = 0, ee = 0, mm = 0;
};

/// Means and variances of the overlaps after some steps of many students.
template <class Run>
Moments moments_over(int count, Run run) {
  Moments sums;
  for (int k = 0; k < count; ++k) {
    const PositionalOverlaps end = run(k);
    sums.e += end.e / count;
    sums.m += end.m / count;
    sums.ee += end.e * end.e / count;
    sums.mm += end.m * end.m / count;
  }
  sums.ee -= sums.e * sums.e;
  sums.mm -= sums.m * sums.m;
  return sums;
}

TEST_CASE("PositionalStudents: those that share a draw step as each would alone",
          "[sim][positional]") {
  constexpr Eigen::Index kDimension = 30;
  const std::vector<PositionalTask> tasks = {{0.7, 0.2}, {1.1, 0.9}, {2, 0}, {0.3, 1}, {1, 0.4}};
  const StreamAddress address{.seed = 5};
  PositionalStudents together({0.2, 0.3}, kDimension, tasks);
  REQUIRE(together.size() == tasks.size());
  RandomStream shared(address);
  for (int step = 0; step < 50; ++step) together.step(0.4, shared);
  for (std::size_t k = 0; k < tasks.size(); ++k) {
    PositionalStudents alone({0.2, 0.3}, kDimension, {tasks[k]});
    RandomStream stream(address);
    for (int step = 0; step < 50; ++step) alone.step(0.4, stream);
    CHECK(alone.overlaps().e == together.overlaps(k).e);
    CHECK(alone.overlaps().m == together.overlaps(k).m);
  }
}

TEST_CASE("pair_loss: that of the attention matrices, and its derivatives", "[sim][positional]") {
  const PositionalTask task{0.8, 0.3};
  for (const Vector2d& q : {Vector2d(0.4, -1.2), Vector2d(2, 1.5), Vector2d(-0.3, 0.1)}) {
    const Vector2d teacher(1.1, 0.4);
    const PairLoss found = pair_loss(task, q(0), q(1), teacher(0), teacher(1));
    CHECK_THAT(found.loss, WithinAbs(loss_by_matrices(task, q, teacher), 1e-14));
    Vector2d x = q;
    attica::testing::check_gradient([&] { return loss_by_matrices(task, x, teacher); },
                                    attica::testing::entries(x),
                                    std::array{found.d_first, found.d_second});
  }
}

TEST_CASE("PositionalStudents: in law the training of the whole vector", "[sim][positional]") {
  // Large steps in few dimensions, where every term of the reduction counts.
  constexpr int kDimension = 6;
  constexpr int kSteps = 12;
  constexpr int kRuns = 20000;
  constexpr double kEta = 3;
  const PositionalTask task{1, 0.4};
  const Moments reduced = moments_over(kRuns, [&](int k) {
    RandomStream stream({.seed = 1, .replicate = static_cast<std::uint64_t>(k)});
    PositionalStudents student({0.3, 0.5}, kDimension, {task});
    for (int step = 0; step < kSteps; ++step) student.step(kEta, stream);
    return student.overlaps();
  });
  const Moments literal = moments_over(kRuns, [&](int k) {
    RandomStream stream({.seed = 2, .replicate = static_cast<std::uint64_t>(k)});
    VectorXd student = VectorXd::Zero(kDimension);
    student(0) = 0.3;
    student(1) = 0.5;
    student(4) = std::sqrt(1 - 0.3 * 0.3 - 0.5 * 0.5);
    for (int step = 0; step < kSteps; ++step) {
      positional_step_literally(task, kEta, student, stream);
    }
    return PositionalOverlaps{student(0), student(1)};
  });
  // Five standard errors of the difference of two means of numbers that scatter by less than 0.5.
  constexpr double kMean = 5 * 0.5 * 0.01;
  CHECK_THAT(reduced.e, WithinAbs(literal.e, kMean));
  CHECK_THAT(reduced.m, WithinAbs(literal.m, kMean));
  CHECK_THAT(reduced.ee, WithinAbs(literal.ee, kMean / 2));
  CHECK_THAT(reduced.mm, WithinAbs(literal.mm, kMean / 2));
  CHECK(reduced.ee > kMean);
}

TEST_CASE("sampled_positional_loss: that of the semantic state", "[sim][positional]") {
  // q = q*: 2 ω² E(σ - A)², from two known expectations.
  const auto entry = reference_values("incontext").at("positional").at("moments")[0];
  const PositionalTask task{1.2, 0.6};
  const double own = task.own();
  const double known =
      2 * task.omega * task.omega *
      (entry.at("square").get<double>() - 2 * own * entry.at("mean").get<double>() + own * own);
  RandomStream stream({.seed = 4});
  constexpr int kPairs = 400000;
  // A pair's loss lies between 0 and 2ω²: five standard errors at most.
  CHECK_THAT(sampled_positional_loss(task, {0, 1}, kPairs, stream),
             WithinAbs(known, 5 * task.omega * task.omega / std::sqrt(kPairs)));
}

TEST_CASE("positional_curvature: that of sampled losses near the semantic state",
          "[sim][positional]") {
  // At ω = 0 the loss vanishes there.
  const PositionalTask task{1, 0};
  constexpr double kAngle = 0.1;
  RandomStream stream({.seed = 6});
  double sampled = 0;
  for (const double angle : {kAngle, -kAngle}) {
    const PositionalOverlaps at{std::sin(angle), std::cos(angle)};
    sampled += sampled_positional_loss(task, at, 200000, stream) / (kAngle * kAngle);
  }
  // The next order is of 2 % at this angle.
  CHECK(positional_curvature(task, {0, 1}, {1, 0}) == Approx(sampled).epsilon(0.04));
}

TEST_CASE("positional simulation: bad input names the parameter", "[sim][positional]") {
  CHECK(refused([] { PositionalStudents student({0.1, 0.1}, 3, {{}}); }) == "dimension");
  CHECK(refused([] { PositionalStudents student({0.8, 0.8}, 10, {{}}); }) == "e");
}

}  // namespace icl_positional_test
