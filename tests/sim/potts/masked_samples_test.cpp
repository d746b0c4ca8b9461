#include "attica/sim/potts/masked_samples.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/potts/ensembles.hpp"

using namespace attica;
using Catch::Matchers::WithinAbs;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr Index kSites = 3;
constexpr Index kColours = 3;

MaskedSamples samples() {
  return MaskedSamples(PottsModel(ring_couplings(kSites), cosine_colour_couplings(kColours), 0.8));
}

VectorXd some_parameters(Index count) {
  return VectorXd::NullaryExpr(
      count, [](Index k) { return std::sin(1.0 + 3.0 * static_cast<double>(k)); });
}

}  // namespace

TEST_CASE("FactoredMasked: the mean loss is that of factored attention on all states",
          "[sim][potts][study:potts-samples]") {
  const MaskedSamples all = samples();
  CHECK(all.contexts() == kSites * kColours * kColours);
  const FactoredMasked model(all);
  const VectorXd theta = some_parameters(model.parameters());
  FactoredAttention student{.attention = MatrixXd::Zero(kSites, kSites),
                            .values = theta.tail(kColours * kColours).reshaped(kColours, kColours)};
  Index next = 0;
  for (Index i = 0; i < kSites; ++i) {
    for (Index j = 0; j < kSites; ++j) {
      if (j != i) student.attention(i, j) = theta[next++];
    }
  }
  VectorXd losses;
  model.pass(theta, losses);
  const ExcessLoss excess(all.model(), enumerate(all.model()).states);
  CHECK_THAT(all.p().dot(losses), WithinAbs(excess(student) + all.bayes_loss(), 1e-12));
}

TEST_CASE("FactoredMasked: a sequence has the mean loss of its sites", "[sim][potts]") {
  const MaskedSamples all = samples();
  const FactoredMasked model(all);
  const GroupedPopulation sequences = model.sequences();
  VectorXd theta = some_parameters(model.parameters());
  const FactoredAttention student = model.student(theta);
  CHECK(model.parameters_of(student) == theta);
  const VectorXd weights = VectorXd::NullaryExpr(
      sequences.weights().size(), [](Index k) { return std::cos(static_cast<double>(k)); });
  VectorXd losses;
  VectorXd gradient;
  sequences.pass(theta, losses, &weights, &gradient);
  FactoredAttention sum{MatrixXd::Zero(kSites, kSites), MatrixXd::Zero(kColours, kColours)};
  for (Index n = 0; n < losses.size(); ++n) {
    FactoredAttention one;
    const double loss =
        factored_loss(student, equally_weighted(all.states().sequences.row(n)), &one);
    CHECK_THAT(losses[n], WithinAbs(loss, 1e-12));
    sum.attention += weights[n] * one.attention;
    sum.values += weights[n] * one.values;
  }
  CHECK_THAT((gradient - model.parameters_of(sum)).norm(), WithinAbs(0, 1e-12));
}

TEST_CASE("FactoredMasked: the gradient is the derivative of the losses", "[sim][potts]") {
  const MaskedSamples all = samples();
  const FactoredMasked model(all);
  VectorXd theta = some_parameters(model.parameters());
  const VectorXd weights = VectorXd::NullaryExpr(
      all.p().size(), [](Index k) { return std::cos(static_cast<double>(k)); });
  VectorXd losses;
  VectorXd gradient;
  model.pass(theta, losses, &weights, &gradient);
  constexpr double kStep = 1e-5;
  for (Index k = 0; k < theta.size(); ++k) {
    CAPTURE(k);
    const double at = theta[k];
    VectorXd above;
    VectorXd below;
    theta[k] = at + kStep;
    model.pass(theta, above);
    theta[k] = at - kStep;
    model.pass(theta, below);
    theta[k] = at;
    CHECK_THAT(gradient[k], WithinAbs(weights.dot(above - below) / (2 * kStep), 1e-8));
  }
}

TEST_CASE("stopped_early: comes to the Bayes loss if all of the population is shown",
          "[sim][potts]") {
  const MaskedSamples all = samples();
  const FactoredMasked model(all);
  VectorXd start = VectorXd::Zero(model.parameters());
  start.head(kSites * (kSites - 1)).setConstant(0.5);
  const auto trained = [&](std::int64_t length) {
    return stopped_early(model, start, all.p(), all.p(), 0.05, length, [] { return false; });
  };
  const StoppedTraining end = trained(3000);
  CHECK_FALSE(end.diverged);
  CHECK(end.held_out == end.population);
  CHECK_THAT(end.population, WithinAbs(all.bayes_loss(), 1e-6));
  CHECK(trained(0).diverged);
}

TEST_CASE("MaskedSamples: shares of draws add up, and many of them are the probabilities",
          "[sim][potts]") {
  const MaskedSamples all = samples();
  constexpr double kDraws = 1e6;
  const VectorXd shares = all.draw(static_cast<std::int64_t>(kDraws), RandomStream({.seed = 3}));
  CHECK_THAT(shares.sum(), WithinAbs(1, 1e-12));
  // Five standard deviations of the largest of them.
  CHECK((shares - all.p()).cwiseAbs().maxCoeff() < 5 * std::sqrt(all.p().maxCoeff() / kDraws));
}
