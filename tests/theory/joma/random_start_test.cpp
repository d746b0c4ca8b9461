/// A network before its first step: by hand, by quadrature, by sampling.

#include "attica/theory/joma/random_start.hpp"

#include <Eigen/Eigenvalues>
#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

#include "attica/core/random.hpp"

using namespace attica;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace joma_random_start_test {

MatrixXd uniform_matrix(Index rows, Index columns, double bound, RandomStream& stream) {
  return MatrixXd::NullaryExpr(rows, columns, [&] { return bound * (2 * stream.uniform() - 1); });
}

TEST_CASE("start_entropy_deficit: two tokens by hand", "[theory][joma]") {
  // kappa_2 = (s_a - s_b)^2 / 4; E |a|^2 |a - b|^2 = d^2 + 2d + d^2 for N(0, 1).
  const int d = 10;
  const double second = (2.0 * d * d + 2 * d) / (9.0 * d * d) / 4;
  const double both = second / 2 - 6 * second * second / 8;
  CHECK(start_entropy_deficit({{0, 1}}, {.width = d}, false) == Approx(both).epsilon(1e-12));
  // Three of one token and one of another: kappa_2 = pq D^2, kappa_4 = pq (1 - 6pq) D^4, E D^4 = 12
  // s^4.
  const double pq = 3.0 / 16;
  const double fourth = pq * (1 - 6 * pq) * 3 * std::pow(4 * second, 2);
  CHECK(start_entropy_deficit({{0, 0, 0, 1}}, {.width = d}, false) ==
        Approx(4 * pq * second / 2 + fourth / 8).epsilon(1e-12));
  // The first query of a causal mask sees itself alone, and equal tokens have equal scores.
  CHECK(start_entropy_deficit({{0, 1}}, {.width = d}, true) == Approx(both / 2).epsilon(1e-12));
  CHECK(start_entropy_deficit({{3, 3, 3}}, {.width = d}, true) == 0);
}

TEST_CASE("start_entropy_deficit: that of drawn embeddings and weights", "[theory][joma]") {
  const int d = 24;
  const std::vector<int> tokens = {2, 2, 0, 1, 2, 3, 4, 1};
  const auto length = static_cast<Index>(tokens.size());
  const bool codes = GENERATE(false, true);
  const double bound = 1.2;  // of uniform embeddings
  RandomEmbedding embedding{
      .width = d, .variance = bound * bound / 3, .fourth_moment = std::pow(bound, 4) / 5};
  RandomStream stream({.seed = 3});
  if (codes) embedding.positions = uniform_matrix(length, d, 1, stream);
  constexpr int kDraws = 4000;
  double sum = 0;
  double squares = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    const MatrixXd table = uniform_matrix(5, d, bound, stream);
    MatrixXd x(length, d);
    for (Index j = 0; j < length; ++j) x.row(j) = table.row(tokens[static_cast<std::size_t>(j)]);
    if (codes) x += embedding.positions;
    const MatrixXd q = x * uniform_matrix(d, d, 1 / std::sqrt(d), stream);
    const MatrixXd k = x * uniform_matrix(d, d, 1 / std::sqrt(d), stream);
    double deficit = 0;
    for (Index i = 0; i < length; ++i) {
      VectorXd p = (k.topRows(i + 1) * q.row(i).transpose() / std::sqrt(d)).array().exp();
      p /= p.sum();
      deficit +=
          (std::log(i + 1) + (p.array() * p.array().log()).sum()) / static_cast<double>(length);
    }
    sum += deficit / kDraws;
    squares += deficit * deficit / kDraws;
  }
  const double error = std::sqrt((squares - sum * sum) / kDraws);
  const double theory = start_entropy_deficit({tokens}, embedding, true);
  INFO(theory << " against " << sum << " +- " << error);
  // kappa_2^3 and the spread of kappa_2 over starts in the fourth cumulant: about a per cent.
  CHECK(std::abs(sum - theory) < 4 * error + 0.01 * theory);
  CHECK(error < 0.01 * theory);
}

TEST_CASE("start_loss_excess: one and two outputs, small logits", "[theory][joma]") {
  CHECK(start_loss_excess(1, 0.5) == Approx(0).margin(1e-8));
  CHECK(start_loss_excess(7, 0) == Approx(0).margin(1e-8));
  // Two: E ln cosh(x / 2), x ~ N(0, 2 variance).
  const double variance = 0.7;
  double cosh = 0;
  for (double n = -9; n <= 9; n += 0.01) {
    cosh += 0.01 * std::exp(-n * n / 2) / std::sqrt(2 * std::numbers::pi) *
            std::log(std::cosh(n * std::sqrt(2 * variance) / 2));
  }
  CHECK(start_loss_excess(2, variance) == Approx(cosh).epsilon(1e-7));
  // Second order: variance/2 (1 - 1/C), the next order is variance^2.
  CHECK(start_loss_excess(2000, 1e-3) == Approx(0.5e-3 * (1 - 1 / 2000.0)).epsilon(2e-3));
}

TEST_CASE("start_stable_rank: that of drawn matrices", "[theory][joma]") {
  const auto [rows, columns] = GENERATE(std::pair{32, 32}, std::pair{64, 64}, std::pair{20, 100});
  RandomStream stream({.seed = 5});
  const int draws = 1500;
  double mean = 0;
  for (int draw = 0; draw < draws; ++draw) {
    const MatrixXd w = uniform_matrix(rows, columns, 1, stream);
    const MatrixXd gram = w * w.transpose();
    const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(gram, Eigen::EigenvaluesOnly);
    mean += w.squaredNorm() / solver.eigenvalues().maxCoeff() / draws;
  }
  const StartMean theory = start_stable_rank(rows, columns);
  // Spread 8 % of a draw: 0.2 %, 4 standard errors.
  CHECK(std::abs(mean - theory.value) < theory.left_out + 0.008 * theory.value);
  CHECK(theory.left_out < 0.025 * theory.value);
  // Large matrices: the edge of Marchenko and Pastur, 4, to 1.2 (16/n^2)^{1/3} of Tracy and Widom.
  CHECK(start_stable_rank(1000000, 1000000).value == Approx(1e6 / 4).epsilon(1e-3));
}

}  // namespace joma_random_start_test
