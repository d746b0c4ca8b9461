#include "attica/sim/potts/factored_attention.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/core/potts/ensembles.hpp"
#include "attica/core/potts/enumeration.hpp"
#include "attica/sim/potts/sampler.hpp"
#include "finite_differences.hpp"

using namespace attica;
using Catch::Matchers::WithinAbs;
using Eigen::Index;

namespace potts_factored_attention_test {

constexpr double kTolerance = 1e-12;  // double precision, sums of some thousand terms of order 1

Sequences random_sequences(Index count, Index sites, Index colours) {
  RandomStream stream({.seed = 9});
  Sequences s(count, sites);
  for (Index n = 0; n < s.size(); ++n) {
    s.data()[n] = static_cast<std::uint8_t>(stream.below(static_cast<std::uint64_t>(colours)));
  }
  return s;
}

FactoredAttention gradient_of(const FactoredNetwork<double>& network, Index sites, Index colours) {
  const double* g = network.gradient().data();
  return {Eigen::Map<const networks::RowMatrix<double>>(g, sites, sites),
          Eigen::Map<const networks::RowMatrix<double>>(g + sites * sites, colours, colours)
              .transpose()};
}

TEST_CASE("FactoredNetwork: all sites agree with the plain formula", "[sim][potts]") {
  for (const auto& [sites, colours, count] :
       {std::tuple<Index, Index, Index>{7, 4, 600}, {20, 21, 45}, {3, 2, 1}}) {
    RandomStream stream({.seed = 1, .id = StreamId::initialisation});
    const FactoredAttention student = random_student(sites, colours, 0.4, stream);
    const Sequences batch = random_sequences(count, sites, colours);
    FactoredNetwork<double> network(sites, colours);
    network.set(student);
    FactoredAttention expected;
    const double loss = factored_loss(student, equally_weighted(batch), &expected);
    CHECK_THAT(network.loss_and_gradient(batch), WithinAbs(loss, kTolerance));
    const FactoredAttention found = gradient_of(network, sites, colours);
    CHECK((found.attention - expected.attention).cwiseAbs().maxCoeff() < kTolerance);
    CHECK((found.values - expected.values).cwiseAbs().maxCoeff() < kTolerance);
    // Column sums of V are conserved by gradient descent.
    CHECK(found.values.colwise().sum().cwiseAbs().maxCoeff() < kTolerance);
  }
}

TEST_CASE("FactoredNetwork: weights agree with the plain formula", "[sim][potts]") {
  RandomStream stream({.seed = 8, .id = StreamId::initialisation});
  const FactoredAttention student = random_student(7, 4, 0.4, stream);
  WeightedSequences batch{random_sequences(600, 7, 4), {}};
  batch.weights = Eigen::VectorXd::LinSpaced(600, 0, 1) / 300;
  FactoredNetwork<double> network(7, 4);
  network.set(student);
  FactoredAttention expected;
  const double loss = factored_loss(student, batch, &expected);
  CHECK_THAT(network.loss_and_gradient(batch), WithinAbs(loss, kTolerance));
  const FactoredAttention found = gradient_of(network, 7, 4);
  CHECK((found.attention - expected.attention).cwiseAbs().maxCoeff() < kTolerance);
  CHECK((found.values - expected.values).cwiseAbs().maxCoeff() < kTolerance);
}

TEST_CASE("FactoredNetwork: one masked site, summed over all choices, is all sites",
          "[sim][potts]") {
  const Index sites = 9;
  const Index colours = 5;
  RandomStream stream({.seed = 2, .id = StreamId::initialisation});
  FactoredNetwork<double> network(sites, colours);
  network.set(random_student(sites, colours, 0.5, stream));
  const Sequences batch = random_sequences(11, sites, colours);
  const double loss = network.loss_and_gradient(batch);
  const FactoredAttention expected = gradient_of(network, sites, colours);
  FactoredAttention sum{Eigen::MatrixXd::Zero(sites, sites),
                        Eigen::MatrixXd::Zero(colours, colours)};
  double mean = 0;
  for (int i = 0; i < sites; ++i) {
    mean += network.loss_and_gradient(batch, std::vector<std::int32_t>(11, i)) / sites;
    const FactoredAttention g = gradient_of(network, sites, colours);
    sum.attention += g.attention / sites;
    sum.values += g.values / sites;
  }
  CHECK_THAT(mean, WithinAbs(loss, kTolerance));
  CHECK((sum.attention - expected.attention).cwiseAbs().maxCoeff() < kTolerance);
  CHECK((sum.values - expected.values).cwiseAbs().maxCoeff() < kTolerance);
}

TEST_CASE("FactoredNetwork: gradient equals central differences", "[sim][potts]") {
  const Index sites = 4;
  const Index colours = 3;
  RandomStream stream({.seed = 3, .id = StreamId::initialisation});
  const FactoredAttention student = random_student(sites, colours, 0.6, stream);
  const Sequences batch = random_sequences(8, sites, colours);
  const std::vector<std::int32_t> masked{0, 1, 2, 3, 3, 2, 1, 0};
  FactoredNetwork<double> network(sites, colours);
  network.set(student);
  network.loss_and_gradient(batch, masked);
  const std::vector<double> gradient(network.gradient().begin(), network.gradient().end());
  const auto diagonal = [](std::size_t k) { return k < 16 && k % 5 == 0; };
  testing::check_gradient([&] { return network.loss_and_gradient(batch, masked); },
                          network.parameters().values(),
                          gradient,
                          {.skip = diagonal});
}

TEST_CASE("train_factored: finds the model, with either masking", "[sim][potts][slow]") {
  RandomStream instance({.seed = 5, .id = StreamId::model});
  const PottsModel model(
      gaussian_couplings(5, instance), zero_sum(gaussian_colour_couplings(3, instance)), 1.5);
  const WeightedSequences population = enumerate(model).states;
  const ExcessLoss excess(model, population);
  const PopulationSampler sampler(population);
  RandomStream stream({.seed = 5, .id = StreamId::initialisation});
  const FactoredAttention start = random_student(5, 3, 0.1, stream);
  for (const MaskedSites masked : {MaskedSites::all, MaskedSites::one}) {
    FactoredTraining plan{
        .optimiser = {.kind = networks::OptimiserKind::sgd,
                      .learning_rate = 1.0,
                      .schedule = {networks::Schedule::Kind::cosine_tail, 1500, 3000}},
        .batch = 128,
        .masked = masked,
        .recorded = {0, 3000}};
    std::vector<double> losses;
    const auto result = train_factored(
        start,
        plan,
        [&](Index n, RandomStream& s) { return sampler.draw(n, s); },
        {.seed = 5},
        [&](std::uint64_t, const FactoredAttention& f) { losses.push_back(excess(f)); });
    CHECK(result.status == networks::TrainingStatus::finished);
    CHECK(losses[0] > 0.05);
    CHECK(losses[1] < 0.005);
  }
}

TEST_CASE("train_factored: states counted or sequences one by one train alike", "[sim][potts]") {
  const WeightedSequences population =
      enumerate(PottsModel(cosine_couplings(4), cosine_colour_couplings(2), 1)).states;
  const PopulationSampler sampler(population);
  RandomStream stream({.seed = 7, .id = StreamId::initialisation});
  const FactoredAttention start = random_student(4, 2, 0.3, stream);
  FactoredTraining plan{.optimiser = {.kind = networks::OptimiserKind::sgd, .learning_rate = 0.5},
                        .batch = 100,
                        .recorded = {20}};
  const auto trained = [&](const auto& source) {
    FactoredAttention end;
    (void)train_factored(
        start, plan, source, {.seed = 7}, [&](std::uint64_t, const auto& s) { end = s; });
    return end;
  };
  const SequenceSource sequences = [&](Index n, RandomStream& s) { return sampler.draw(n, s); };
  const StateSource states = [&](Index n, RandomStream& s) { return sampler.draw_states(n, s); };
  const FactoredAttention one = trained(sequences);
  const FactoredAttention other = trained(states);
  CHECK((one.attention - start.attention).cwiseAbs().maxCoeff() > 0.1);
  constexpr double kRounding = 1e-5;  // single precision, 20 steps
  CHECK((one.attention - other.attention).cwiseAbs().maxCoeff() < kRounding);
  CHECK((one.values - other.values).cwiseAbs().maxCoeff() < kRounding);
  plan.masked = MaskedSites::one;
  CHECK_THROWS_AS(trained(states), Error);
}

TEST_CASE("train_factored: divergence is a status, bad options are errors", "[sim][potts]") {
  RandomStream stream({.seed = 5, .id = StreamId::initialisation});
  const FactoredAttention start = random_student(4, 3, 0.3, stream);
  const SequenceSource source = [](Index n, RandomStream&) { return random_sequences(n, 4, 3); };
  const auto ignore = [](std::uint64_t, const FactoredAttention&) {};
  FactoredTraining plan{.optimiser = {.kind = networks::OptimiserKind::sgd, .learning_rate = 1e30},
                        .batch = 4,
                        .recorded = {50}};
  CHECK(train_factored(start, plan, source, {}, ignore).status ==
        networks::TrainingStatus::diverged);
  plan.batch = 0;
  CHECK_THROWS_AS(train_factored(start, plan, source, {}, ignore), Error);
  plan.batch = 4;
  plan.optimiser.learning_rate = -1;
  CHECK_THROWS_AS(train_factored(start, plan, source, {}, ignore), Error);
}

}  // namespace potts_factored_attention_test
