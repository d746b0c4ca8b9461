#include "attica/sim/potts/loss_quadratic.hpp"

#include <catch2/catch.hpp>

#include "attica/core/potts/ensembles.hpp"
#include "attica/core/potts/enumeration.hpp"

using namespace attica;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using Eigen::Index;
using Eigen::VectorXd;

TEST_CASE("LossQuadratic: squared distance to the colours has their variance as its trace",
          "[sim][potts][study:potts-learning]") {
  // The loss 3/2 |x - s|² of two sites: H = 3, K = 9 times the covariance, tr H⁺K = 3 times the
  // variance.
  constexpr double kSteep = 3;
  WeightedSequences population{.sequences = Sequences(3, 2), .weights = VectorXd(3)};
  population.sequences << 0, 1, 2, 0, 1, 1;
  population.weights << 0.5, 0.2, 0.3;
  const VectorXd mean = population.sequences.cast<double>().transpose() * population.weights;
  const LossGradient gradient = [&](const VectorXd& x, const WeightedSequences& data) -> VectorXd {
    return kSteep * (x - data.sequences.cast<double>().transpose() * data.weights);
  };
  const LossQuadratic quadratic(population, mean, gradient);
  const double square =
      population.sequences.cast<double>().rowwise().squaredNorm().dot(population.weights);
  CHECK_THAT(quadratic.trace, WithinRel(kSteep * (square - mean.squaredNorm()), 1e-8));
  const VectorXd s = VectorXd::Constant(2, 0.6);
  constexpr double kSamples = 7;
  CHECK_THAT(quadratic.scatter(s, kSamples),
             WithinAbs(s.squaredNorm() / (2 * kSteep) - quadratic.trace / (2 * kSamples), 1e-8));
}

TEST_CASE("PottsQuadratics: a trace of one for every free parameter where the model is right",
          "[sim][potts]") {
  constexpr Index kSites = 3;
  constexpr Index kColours = 2;
  const PottsModel model(ring_couplings(kSites), potts_colour_couplings(kColours), 0.5);
  const WeightedSequences population = enumerate(model).states;
  const PottsQuadratics quadratics(model, population);
  // A bias and two couplings of each site.
  CHECK_THAT(quadratics.general_trace(), WithinRel(3.0, 1e-4));
  // The mean gradient of the whole population at the truth is 0.
  constexpr double kSamples = 10;
  CHECK_THAT(quadratics.general_scatter(population, kSamples),
             WithinAbs(-quadratics.general_trace() / (2 * kSamples), 1e-6));
  CHECK_THAT(quadratics.factored_scatter(population, kSamples),
             WithinAbs(-quadratics.factored_trace() / (2 * kSamples), 1e-6));
}
