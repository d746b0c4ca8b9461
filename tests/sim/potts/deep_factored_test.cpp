#include "attica/sim/potts/deep_factored.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/core/potts/body_ensembles.hpp"
#include "attica/sim/potts/sampler.hpp"
#include "core/reference_models.hpp"
#include "finite_differences.hpp"
#include "reference_values.hpp"

using namespace attica;
using namespace attica::testing;
using Eigen::Index;
using Eigen::MatrixXd;

namespace potts_deep_factored_test {

/// A_l = 0.3 sin(1 + l + i + 2j), V_l = 0.3 cos(1 + 2l + 2a + c).
void set_recorded_values(DeepFactoredNetwork<double>& network) {
  for (int l = 0; l < network.shape().layers; ++l) {
    auto a = network.parameters().matrix(fmt::format("A{}", l));
    auto v = network.parameters().matrix(fmt::format("V{}", l));
    for (Index i = 0; i < a.rows; ++i) {
      for (Index j = 0; j < a.columns; ++j) {
        a.row(i)[j] = 0.3 * std::sin(static_cast<double>(1 + l + i + 2 * j));
      }
    }
    for (Index b = 0; b < v.rows; ++b) {
      for (Index c = 0; c < v.columns; ++c) {
        v.row(b)[c] = 0.3 * std::cos(static_cast<double>(1 + 2 * l + 2 * b + c));
      }
    }
  }
}

double block_norm(const DeepFactoredNetwork<double>& network,
                  const std::vector<double>& gradient,
                  const std::string& name) {
  const networks::Block& block = network.parameters().block(name);
  double square = 0;
  for (Index k = block.offset; k < block.offset + block.size(); ++k) {
    square += std::pow(gradient[static_cast<std::size_t>(k)], 2);
  }
  return std::sqrt(square);
}

TEST_CASE("DeepFactoredNetwork: recorded population losses and gradients", "[sim]") {
  const Reference r = reference_values("potts").at("fourbody");
  const BodyModel model = four_body();
  const PottsEnumeration all = enumerate(model);
  const MaskedPopulation population = MaskedPopulation::enumerated(model, all);
  for (const int layers : {1, 2, 3}) {
    for (const bool residual : {false, true}) {
      const std::string key = fmt::format("deep_N{}_r{}", layers, residual ? 1 : 0);
      CAPTURE(key);
      const Reference expected = r.at(key);
      DeepFactoredNetwork<double> network(
          {.sites = 5, .colours = 3, .layers = layers, .residual = residual});
      set_recorded_values(network);
      const double loss = expected.at("loss").get<double>();
      CHECK(population.bayes_loss() + network.excess_loss(population) ==
            Approx(loss).epsilon(1e-12));
      // The population's gradient as a weighted sum of gradients of single sequences.
      std::vector<double> gradient(network.gradient().size(), 0.0);
      double sum = 0;
      for (Index n = 0; n < all.states.weights.size(); ++n) {
        for (std::int32_t i = 0; i < 5; ++i) {
          const double weight = all.states.weights[n] / 5;
          sum += weight * network.loss_and_gradient(all.states.sequences.row(n), std::span(&i, 1));
          for (std::size_t k = 0; k < gradient.size(); ++k) {
            gradient[k] += weight * network.gradient()[k];
          }
        }
      }
      CHECK(sum == Approx(loss).epsilon(1e-12));
      for (int l = 0; l < layers; ++l) {
        const auto at = static_cast<std::size_t>(l);
        CHECK(block_norm(network, gradient, fmt::format("A{}", l)) ==
              Approx(expected.at("gA_norm")[at].get<double>()).epsilon(1e-9));
        CHECK(block_norm(network, gradient, fmt::format("V{}", l)) ==
              Approx(expected.at("gV_norm")[at].get<double>()).epsilon(1e-9));
      }
    }
  }
}

TEST_CASE("DeepFactoredNetwork: gradient by finite differences, any batch", "[sim]") {
  const BodyModel model = four_body();
  const Sequences states = enumerate(model).states.sequences;
  RandomStream stream({.seed = 5});
  Sequences batch(37, 5);  // no multiple of the block
  std::vector<std::int32_t> masked;
  for (Index n = 0; n < batch.rows(); ++n) {
    batch.row(n) = states.row(static_cast<Index>(stream.below(243)));
    masked.push_back(static_cast<std::int32_t>(stream.below(5)));
  }
  DeepFactoredNetwork<double> network({.sites = 5, .colours = 3, .layers = 3});
  set_recorded_values(network);
  (void)network.loss_and_gradient(batch, masked);
  const std::vector<double> gradient(network.gradient().begin(), network.gradient().end());
  testing::check_gradient([&] { return network.loss_and_gradient(batch, masked); },
                          network.parameters().values(),
                          gradient);
}

TEST_CASE("DeepFactoredNetwork: the masked colour is not seen", "[sim]") {
  const BodyModel model = four_body();
  DeepFactoredNetwork<double> network({.sites = 5, .colours = 3, .layers = 3});
  set_recorded_values(network);
  // The three sequences differ in the masked site: the same logits, so the losses are those of one
  // distribution and exp(-loss) adds up to 1.
  double sum = 0;
  for (std::uint8_t a = 0; a < 3; ++a) {
    Sequences s(1, 5);
    s << 1, 0, a, 2, 1;
    const std::int32_t masked = 2;
    sum += std::exp(-network.loss_and_gradient(s, std::span(&masked, 1)));
  }
  CHECK(sum == Approx(1).epsilon(1e-12));
}

TEST_CASE("train_deep_factored: two layers pass the pair plateau", "[sim]") {
  Hyperedges edges = all_hyperedges(4, 2);
  edges.couplings.setConstant(0.5);
  const BodyModel model(4, edges, graded(cosine_tensor(2, 3), {0, 1}), 1.0);
  const PottsEnumeration all = enumerate(model);
  const MaskedPopulation population = MaskedPopulation::enumerated(model, all);
  const PopulationSampler sampler(all.states);
  DeepFactoredTraining plan{
      .shape = {.sites = 4, .colours = 3, .layers = 1},
      .initial_scale = {0.2},
      .optimiser = {.kind = networks::OptimiserKind::sgd, .learning_rate = 0.5},
      .batch = 64,
      .recorded = {0, 1000}};
  std::vector<DeepFactoredRecord> seen;
  const networks::TrainingResult end = train_deep_factored(
      plan,
      [&](Index n, RandomStream& s) { return sampler.draw(n, s); },
      population,
      {.seed = 2},
      [&](const DeepFactoredRecord& record) { seen.push_back(record); });
  CHECK(end.status == networks::TrainingStatus::finished);
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].displacement == std::vector<double>{0});
  CHECK(seen[1].displacement[0] > 0.1);
  // Pair data with equal couplings: one layer represents them exactly.
  CHECK(seen[1].excess_loss < 0.1 * seen[0].excess_loss);
  plan.initial_scale = {0.2, 0.2};
  CHECK_THROWS_WITH(train_deep_factored(plan, SequenceSource{}, population, {}, {}),
                    Catch::Contains("initial_scale"));
}

TEST_CASE("DeepFactoredNetwork: a weight counts as repetitions do", "[sim]") {
  const Sequences states = enumerate(four_body()).states.sequences;
  DeepFactoredNetwork<double> network({.sites = 5, .colours = 3, .layers = 3});
  set_recorded_values(network);
  Sequences distinct(2, 5);
  distinct << states.row(17), states.row(200);
  Sequences repeated(4, 5);
  repeated << states.row(17), states.row(200), states.row(200), states.row(200);
  const double loss = network.loss_and_gradient(repeated, std::vector<std::int32_t>{2, 3, 3, 3});
  const std::vector<double> expected(network.gradient().begin(), network.gradient().end());
  const std::vector<std::int32_t> masked{2, 3};
  CHECK(network.loss_and_gradient(distinct, masked, std::vector<double>{0.25, 0.75}) ==
        Approx(loss).epsilon(1e-13));
  for (std::size_t k = 0; k < expected.size(); ++k) {
    CHECK(network.gradient()[k] == Approx(expected[k]).margin(1e-14));
  }
  CHECK_THROWS_WITH(network.loss_and_gradient(distinct, masked, std::vector<double>{1}),
                    Catch::Contains("weights"));
}

TEST_CASE("train_deep_factored: counted states, and a start that is given", "[sim]") {
  const BodyModel model = four_body();
  const PottsEnumeration all = enumerate(model);
  const MaskedPopulation population = MaskedPopulation::enumerated(model, all);
  const PopulationSampler sampler(all.states);
  DeepFactoredTraining plan{
      .shape = {.sites = 5, .colours = 3, .layers = 2},
      .initial_scale = {0.5, 0.5},
      .optimiser = {.kind = networks::OptimiserKind::sgd, .learning_rate = 0.5},
      .batch = 100000,
      .recorded = {0, 3}};
  const auto trained = [&](const auto& source) {
    std::vector<DeepFactoredRecord> seen;
    (void)train_deep_factored(
        plan, source, population, {.seed = 3}, [&](const auto& record) { seen.push_back(record); });
    return seen;
  };
  const SequenceSource sequences = [&](Index n, RandomStream& s) { return sampler.draw(n, s); };
  const StateSource states = [&](Index n, RandomStream& s) { return sampler.draw_states(n, s); };
  const auto one_by_one = trained(sequences);
  const auto counted = trained(states);
  CHECK(counted[0].excess_loss == one_by_one[0].excess_loss);
  // Two batches of 1e5 from one law: 1/sqrt(1e5) is 0.3 per cent, of a gradient of order one.
  CHECK(counted[1].excess_loss == Approx(one_by_one[1].excess_loss).epsilon(0.01));
  CHECK(counted[1].displacement[1] == Approx(one_by_one[1].displacement[1]).epsilon(0.05));
  CHECK(counted[1].excess_loss < 0.99 * counted[0].excess_loss);

  plan.start = random_layers(plan.shape, plan.initial_scale, {.seed = 3});
  CHECK(trained(states)[1].excess_loss == counted[1].excess_loss);
  plan.start.pop_back();
  CHECK_THROWS_WITH(trained(states), Catch::Contains("start"));
}

}  // namespace potts_deep_factored_test
