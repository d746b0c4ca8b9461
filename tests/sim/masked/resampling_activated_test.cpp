#include <catch2/catch.hpp>
#include <cmath>

#include "attica/sim/masked/resampling.hpp"

using namespace attica;
using Catch::Matchers::WithinAbs;
using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::VectorXd;

namespace masked_resampling_activated_test {

constexpr double kRho = 0.7;

SpikedSamples samples_of(Index d, Index n) {
  RandomStream model({.seed = 3, .id = StreamId::model});
  RandomStream data({.seed = 4});
  return draw_samples(draw_source({NoiseLaw::beta, 1}, 1.3, d, true, model), n, data);
}

VectorXd weights(Index d) { return VectorXd::LinSpaced(d, -1.1, 1.7); }

TEST_CASE("losses of tanh and ReLU: gradients by differences", "[sim][masked]") {
  constexpr Index kD = 37;
  constexpr Index kN = 50;
  const SpikedSamples samples = samples_of(kD, kN);
  const MatrixXf squares = samples.x.cwiseAbs2();
  RandomStream bits({.seed = 7, .id = StreamId::minibatch});
  const StoredMasks masks(kD, kN, 1, kRho, bits);
  for (const UnitActivation activation : {UnitActivation::tanh, UnitActivation::relu}) {
    for (const bool stored : {false, true}) {
      CAPTURE(static_cast<int>(activation), stored);
      const auto loss = [&](const VectorXd& w, VectorXd& gradient) {
        return stored ? stored_masked_loss(samples.x, masks, w, gradient, activation)
                      : mean_activated_loss(samples.x, squares, w, kRho, activation, gradient);
      };
      const VectorXd w = weights(kD);
      VectorXd gradient;
      loss(w, gradient);
      // Single precision: 1e-6 of a loss of order 1 over the step.
      constexpr double kStep = 1e-2;
      for (const Index i : {0, 11, 36}) {
        VectorXd up = w;
        VectorXd down = w;
        up[i] += kStep;
        down[i] -= kStep;
        VectorXd unused;
        CHECK_THAT(gradient[i],
                   WithinAbs((loss(up, unused) - loss(down, unused)) / (2 * kStep), 5e-4));
      }
    }
  }
}

TEST_CASE("mean_activated_loss: the mean over many masks, up to 1/d", "[sim][masked]") {
  constexpr Index kD = 400;
  constexpr Index kN = 60;
  constexpr Index kMasks = 400;
  const SpikedSamples samples = samples_of(kD, kN);
  const MatrixXf squares = samples.x.cwiseAbs2();
  RandomStream bits({.seed = 8, .id = StreamId::minibatch});
  const StoredMasks masks(kD, kN, kMasks, kRho, bits);
  const VectorXd w = weights(kD);
  VectorXd unused;
  for (const UnitActivation activation : {UnitActivation::tanh, UnitActivation::relu}) {
    const double many = stored_masked_loss(samples.x, masks, w, unused, activation);
    const double mean = mean_activated_loss(samples.x, squares, w, kRho, activation, unused);
    CHECK_THAT(mean, WithinAbs(many, 0.02));
  }
}

}  // namespace masked_resampling_activated_test
