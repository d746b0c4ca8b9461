/// All sequences of a latent tree as a transformer reads them: against fresh samples and the
/// simulation's own loss.

#include "attica/sim/joma/tree_population.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <utility>
#include <vector>

#include "attica/sim/networks/measures.hpp"
#include "attica/theory/joma/latent_tree.hpp"

using namespace attica;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace joma_tree_population_test {

TEST_CASE("TreePopulation: losses and entropies are those of the simulation", "[studies][tree]") {
  const LatentTreeSampler sampler(bit_tree(2, 4, 0.7, 0.1, 0.9));
  const TreePopulation population(sampler, sequence_law(sampler.tree()));
  RandomStream stream({.seed = 5});
  constexpr std::size_t kSamples = 40000;
  const DeepTask task = tree_task(sampler, 1, tree_samples(sampler, kSamples, stream));
  const DeepNetwork options{.layers = 2, .heads = 2, .width = 6, .mlp_width = 6};
  networks::Transformer<float> network = deep_network(options, task, {.seed = 3});

  // The weights of the labelled batch are the law.
  const networks::Batch& all = population.labelled();
  CHECK(population.loss(network) == Approx(network.loss(all)).epsilon(1e-6));
  // Fresh samples: a loss has a deviation of about 1 between them.
  CHECK(population.loss(network) ==
        Approx(measure_deep(network, task, 0).test_loss).margin(4 / std::sqrt(kSamples)));
  const auto model = population.model(network.shape());
  const VectorXd theta = networks::trained_values(network.parameters());
  VectorXd losses;
  model->pass(theta, losses);
  CHECK(model->weights().dot(losses) == Approx(population.loss(network)).epsilon(1e-6));

  // Entropy: over the samples, each with the attention of all its positions.
  networks::Batch everywhere = task.test.front();
  const std::vector<double> weights = std::exchange(everywhere.weights, {});
  networks::set_all_sites(everywhere);
  everywhere.targets.assign(everywhere.sites.size(), 0);
  network.forward(everywhere);
  for (const int layer : {0, 1}) {
    double entropy = 0;
    for (std::size_t s = 0; s < weights.size(); ++s) {
      for (const int head : {0, 1}) {
        entropy += weights[s] * networks::mean_row_entropy(network.attention(layer, head, s)) / 2;
      }
    }
    CHECK(population.attention_entropy(network, layer) == Approx(entropy).margin(0.01));
  }
}

TEST_CASE("TreePopulation: impossible sequences are no samples", "[studies][tree]") {
  const LatentTreeSampler sampler(bit_tree(2, 2, 1, 0, 1));
  const TreePopulation population(sampler, sequence_law(sampler.tree()));
  // Two leaves below each of two children that show a bit of the class each: of two classes the
  // second bit is 0.
  const DeepTask task = tree_task(sampler, 1, {{0, {0, 0, 0, 0}}});
  const networks::Transformer<float> network = deep_network({.width = 4}, task, {});
  CHECK(population.model(network.shape())->weights().size() == 2);
}

}  // namespace joma_tree_population_test
