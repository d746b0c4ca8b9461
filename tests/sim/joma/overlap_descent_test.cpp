#include "attica/sim/joma/overlap_descent.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <utility>

#include "attica/sim/joma/descent.hpp"
#include "attica/sim/joma/networks.hpp"

using namespace attica;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

OverlapDescent descent() {
  RandomStream of_model({.seed = 2});
  RandomStream of_start({.seed = 3});
  JomaModel model = random_joma_model({}, {.attention = JomaAttention::exponential}, of_model);
  JomaState start = random_joma_start(model, 0.3, of_start);
  return {std::move(model), std::move(start), 0.05, 40};
}

}  // namespace

TEST_CASE("OverlapDescent: orthonormal embeddings drift by rounding alone",
          "[sim][joma][study:joma-overlap]") {
  const OverlapDescent descends = descent();
  const Index tokens = descends.orthonormal.tokens();
  const OverlapDrift none = descends.with(MatrixXd::Identity(tokens, tokens));
  CHECK_FALSE(none.blown_up_at.has_value());
  CHECK(none.drift.cwiseAbs().maxCoeff() < 1e-13);
  CHECK(none.violation < 1e-13);
}

TEST_CASE("OverlapDescent: the response is the drift of small cosines", "[sim][joma]") {
  const OverlapDescent descends = descent();
  const Index tokens = descends.orthonormal.tokens();
  constexpr double kCosine = 1e-4;
  const MatrixXd gram = equal_overlap(tokens, kCosine);
  const VectorXd drift = descends.with(gram).drift;
  const VectorXd first = descends.response() * pair_cosines(gram);
  CHECK(first.norm() > 1e-10);  // far above rounding
  // The second order is some times the cosine of the first.
  CHECK((drift - first).norm() < 100 * kCosine * first.norm());
}

TEST_CASE("mean_square_cosine: one over the dimension", "[sim][joma]") {
  constexpr Index kTokens = 10;
  constexpr Index kDimension = 40;
  // 50 x 45 squares of relative variance 2.
  CHECK_THAT(mean_square_cosine(RandomStream({.seed = 1}), kTokens, kDimension),
             WithinRel(1.0 / kDimension, 5 * std::sqrt(2.0 / (50 * 45))));
}

TEST_CASE("descent_slope: one along the gradient", "[sim][joma]") {
  const OverlapDescent descends = descent();
  CHECK_THAT(descent_slope(descends.orthonormal, descends.start), WithinAbs(1, 1e-5));
}
