// Transformers on masked Potts sequences: which sites are masked, and their population.

#include "attica/sim/potts/transformer.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "attica/sim/potts/sampler.hpp"

using namespace attica;

TEST_CASE("masked_sites: one a sequence, all sites alike, the same at every call", "[sim][potts]") {
  constexpr int kSites = 6;
  const TransformerTraining plan{
      .shape = masked_transformer(kSites, 3, 1, 16), .optimiser = {}, .batch = 128, .recorded = {}};
  const StreamAddress address{.seed = 7, .point = 2, .replicate = 3};
  std::vector<double> counts(kSites, 0.0);
  constexpr int kSteps = 500;
  for (std::uint64_t step = 0; step < kSteps; ++step) {
    const std::vector<Eigen::Index> masked = masked_sites(plan, address, step);
    REQUIRE(masked.size() == 128);
    for (const Eigen::Index site : masked) counts.at(static_cast<std::size_t>(site)) += 1;
  }
  const double expected = kSteps * 128.0 / kSites;
  double chi_square = 0;
  for (const double count : counts)
    chi_square += (count - expected) * (count - expected) / expected;
  CHECK(chi_square < 20.5);  // the 99.9 % quantile with 5 degrees of freedom
  CHECK(masked_sites(plan, address, 4) == masked_sites(plan, address, 4));
  CHECK(masked_sites(plan, address, 4) != masked_sites(plan, address, 5));
}

namespace potts_transformer_test {

using Eigen::Index;
using Eigen::VectorXd;

TransformerTraining small_training() {
  return {.shape = masked_transformer(4, 3, 1, 8),
          .optimiser = {.kind = networks::OptimiserKind::sgd, .learning_rate = 0.1},
          .batch = 16,
          .deviation = 0.5,
          .recorded = {0, 3}};
}

PottsModel model_of(Index sites) {
  const Eigen::MatrixXd raw = Eigen::MatrixXd::NullaryExpr(
      sites, sites, [](Index i, Index j) { return std::cos(double(i * j + i + j)); });
  Eigen::MatrixXd couplings = raw + raw.transpose();
  couplings.diagonal().setZero();
  Eigen::MatrixXd colours = Eigen::MatrixXd::Identity(3, 3);
  colours(0, 1) = colours(1, 0) = 0.4;
  return {couplings, colours, 0.7};
}

TEST_CASE("MaskedInputs: the population has the loss and the gradient of all masked sequences",
          "[sim][potts]") {
  const TransformerTraining plan = small_training();
  const PottsModel model = model_of(4);
  const ExcessLoss excess(model, enumerate(model).states);
  const WeightedSequences& states = excess.population();
  const MaskedTest test(excess, plan.shape.outputs);
  const auto population = test.inputs().population(plan.shape);
  CHECK(test.inputs().batch().sequences() == 4 * 27);
  CHECK(population->weights().size() == 4 * 81);
  CHECK(population->weights().sum() == Approx(1).epsilon(1e-13));

  networks::Transformer<float> network = initial_transformer(plan, {.seed = 4});
  const VectorXd theta = networks::trained_values(network.parameters());
  VectorXd losses, gradient;
  population->pass(theta, losses, &population->weights(), &gradient);
  // The divergence comes from the true conditionals, not from drawn colours.
  const double loss = population->weights().dot(losses);
  CHECK(loss == Approx(test.divergence(network) + excess.bayes_loss()).epsilon(1e-6));

  networks::Batch batch;
  for (Index row = 0; row < states.sequences.rows(); ++row) {
    for (Index i = 0; i < 4; ++i) {
      append_masked(batch, states.sequences.row(row).data(), 4, i, plan.shape.outputs);
      batch.weights.push_back(states.weights[row] / 4);
    }
  }
  networks::set_equal_lengths(batch, 4);
  CHECK(loss == Approx(network.loss_and_gradient(batch)).epsilon(1e-6));
  const std::span<const float> all = network.gradient();
  const VectorXd expected =
      Eigen::Map<const Eigen::VectorXf>(all.data(), theta.size()).cast<double>();
  CHECK((gradient - expected).cwiseAbs().maxCoeff() < 1e-6);
}

TEST_CASE("MaskedInputs: of a pool, equal draws are one sample", "[sim][potts]") {
  const TransformerTraining plan = small_training();
  const PottsModel model = model_of(4);
  const WeightedSequences states = enumerate(model).states;
  const PopulationSampler sampler(states);
  RandomStream stream({.seed = 9});
  const ExcessLoss pool(model, equally_weighted(sampler.draw(300, stream)));
  const MaskedTest test(pool, plan.shape.outputs);
  const auto population = test.inputs().population(plan.shape);
  CHECK(population->weights().size() <= 4 * 81);
  CHECK(population->weights().sum() == Approx(1).epsilon(1e-13));
  CHECK(population->weights().minCoeff() >= 1 / 1200.0 - 1e-15);
  networks::Transformer<float> network = initial_transformer(plan, {.seed = 4});
  networks::Batch batch;
  for (Index row = 0; row < 300; ++row) {
    for (Index i = 0; i < 4; ++i) {
      append_masked(batch, pool.population().sequences.row(row).data(), 4, i, plan.shape.outputs);
    }
  }
  networks::set_equal_lengths(batch, 4);
  VectorXd losses;
  population->pass(networks::trained_values(network.parameters()), losses);
  CHECK(population->weights().dot(losses) == Approx(network.loss(batch)).epsilon(1e-6));
}

TEST_CASE("MaskedInputs: attention is the softmax of queries and keys", "[sim][potts]") {
  const TransformerTraining plan = small_training();
  const PottsModel model = model_of(4);
  const WeightedSequences states = enumerate(model).states;
  const MaskedInputs inputs(states, plan.shape.outputs);
  networks::Transformer<double> network(plan.shape);
  networks::set_trained_values(
      network.parameters(),
      networks::trained_values(initial_transformer(plan, {.seed = 4}).parameters()));
  const auto block = [&](const char* name) -> Eigen::MatrixXd {
    return network.parameters().matrix(name).map();
  };
  for (const Index query : {0, 2}) {
    VectorXd expected = VectorXd::Zero(4);
    for (Index row = 0; row < states.sequences.rows(); ++row) {
      Eigen::MatrixXd x(4, 8);
      for (Index j = 0; j < 4; ++j) {
        const Index token = j == query ? 3 : Index{states.sequences(row, j)};
        x.row(j) = block("W_E").row(token) + block("W_P").row(j);
      }
      const VectorXd q = block("layer0.W_Q") * x.row(query).transpose();
      const VectorXd scores = x * block("layer0.W_K").transpose() * q / std::sqrt(8.0);
      const VectorXd weights = scores.array().exp();
      expected += states.weights[row] * weights / weights.sum();
    }
    CHECK((inputs.attention(network, query) - expected).cwiseAbs().maxCoeff() < 1e-12);
  }
}

TEST_CASE("train_transformer: runs from one start differ by their data alone", "[sim][potts]") {
  TransformerTraining plan = small_training();
  const PottsModel model = model_of(4);
  const WeightedSequences states = enumerate(model).states;
  const PopulationSampler sampler(states);
  const auto ends = [&](std::uint64_t replicate) {
    std::vector<std::vector<double>> seen;
    const auto end = train_transformer(
        plan,
        [&](Index n, RandomStream& s) { return sampler.draw(n, s); },
        [](networks::Transformer<float>& n) {
          const VectorXd theta = networks::trained_values(n.parameters());
          return std::vector<double>(theta.begin(), theta.end());
        },
        {.seed = 2, .replicate = replicate},
        [&](std::uint64_t, const std::vector<double>& values) { seen.push_back(values); });
    CHECK(end.status == networks::TrainingStatus::finished);
    REQUIRE(seen.size() == 2);
    return seen;
  };
  CHECK(ends(0)[0] != ends(1)[0]);
  plan.start = StreamAddress{.seed = 2};
  const auto a = ends(0);
  const auto b = ends(1);
  CHECK(a[0] == b[0]);
  CHECK(a[1] != b[1]);
  CHECK(ends(1)[1] == b[1]);
}

}  // namespace potts_transformer_test
