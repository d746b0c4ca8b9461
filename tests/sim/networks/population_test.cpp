// A transformer on its population against single samples, differences and the gradient that SGD
// follows.

#include "attica/sim/networks/population.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

#include "attica/core/parallel.hpp"
#include "attica/core/random.hpp"
#include "finite_differences.hpp"
#include "refused.hpp"

using namespace attica;
using namespace attica::networks;
using attica::testing::refused;
using Eigen::VectorXd;

namespace networks_population_test {

constexpr int kLength = 4;

TransformerShape shape_of(Loss loss) {
  return {.vocabulary = 4,
          .outputs = 3,
          .length = kLength,
          .width = 6,
          .layers = 2,
          .heads = 2,
          .mlp_width = 5,
          .attention_bias = true,
          .normalisation = Normalisation::pre,
          .activation = Activation::tanh,
          .loss = loss};
}

template <class T>
Transformer<T> network_of(const TransformerShape& shape) {
  Transformer<T> network(shape);
  RandomStream stream({.seed = 3, .id = StreamId::initialisation});
  for (T& x : network.parameters().values()) x += static_cast<T>(0.5 * stream.normal());
  return network;
}

/// Sequences of random tokens, with one or two sites each.
Batch inputs_of(std::size_t sequences) {
  RandomStream stream({.seed = 5});
  Batch batch;
  for (std::size_t b = 0; b < sequences; ++b) {
    const auto row = static_cast<std::int32_t>(batch.tokens.size());
    for (int i = 0; i < kLength; ++i) {
      batch.tokens.push_back(static_cast<std::int32_t>(stream.below(4)));
    }
    batch.sites.push_back(row + 1);
    if (b % 3 == 0) batch.sites.push_back(row + 3);
  }
  set_equal_lengths(batch, kLength);
  return batch;
}

/// Every target of every site a sample; then one sample with the first target of all sites.
struct Samples {
  std::vector<PopulationTerm> terms;
  VectorXd p;

  Samples(const Batch& inputs, int outputs) {
    const auto sites = static_cast<std::int32_t>(inputs.sites.size());
    for (std::int32_t target = 0; target < outputs; ++target) {
      for (std::int32_t site = 0; site < sites; ++site) {
        terms.push_back({.site = site, .target = target, .sample = target * sites + site});
      }
    }
    for (std::int32_t site = 0; site < sites; ++site) {
      terms.push_back(
          {.site = site, .target = 0, .sample = outputs * sites, .factor = 0.1 * (site + 1)});
    }
    p = VectorXd::LinSpaced(outputs * sites + 1, 1, 2);
    p /= p.sum();
  }
};

/// The batch in which the sites have the targets and weights of these samples, the loss of which is
/// sum_s w_s l_s: one sequence for every term.
template <class T>
double reference(Transformer<T>& network,
                 const Batch& inputs,
                 const std::vector<PopulationTerm>& terms,
                 const VectorXd& w,
                 VectorXd* gradient = nullptr) {
  double sum = 0;
  if (gradient != nullptr) gradient->setZero(trained_values(network.parameters()).size());
  for (const PopulationTerm& term : terms) {
    const std::int32_t row = inputs.sites[static_cast<std::size_t>(term.site)];
    const std::int32_t first = row / kLength * kLength;
    Batch one{.tokens = {inputs.tokens.begin() + first, inputs.tokens.begin() + first + kLength},
              .offsets = {0, kLength},
              .sites = {row - first},
              .targets = {term.target},
              .weights = {term.factor * w[term.sample]}};
    sum += network.loss_and_gradient(one);
    if (gradient == nullptr) continue;
    VectorXd own(gradient->size());
    Index at = 0;
    for (const Block& block : network.parameters().blocks()) {
      if (block.frozen) continue;
      for (Index k = 0; k < block.size(); ++k) {
        own[at++] =
            static_cast<double>(network.gradient()[static_cast<std::size_t>(block.offset + k)]);
      }
    }
    *gradient += own;
  }
  return sum;
}

TEST_CASE("TransformerPopulation: losses and gradients are those of single samples",
          "[sim][networks]") {
  for (const Loss loss : {Loss::cross_entropy, Loss::squared}) {
    for (const std::size_t sequences : {2, 40, 300}) {  // one, pairs, several parts
      const TransformerShape shape = shape_of(loss);
      Transformer<double> network = network_of<double>(shape);
      network.parameters().freeze("W_K");
      network.parameters().freeze("W_P");
      const Batch inputs = inputs_of(sequences);
      const Samples samples(inputs, shape.outputs);
      const TransformerPopulation<double> population(network, inputs, samples.terms, samples.p);
      const VectorXd theta = trained_values(network.parameters());
      REQUIRE(theta.size() == population.parameters());
      REQUIRE(theta.size() < std::ssize(network.parameters().values()));
      CHECK(population.weights().sum() == Approx(1).epsilon(1e-14));

      // Weights of either sign.
      VectorXd w(samples.p.size());
      RandomStream stream({.seed = 11});
      for (double& x : w) x = stream.normal();
      VectorXd losses, gradient, expected;
      population.pass(theta, losses, &w, &gradient);
      const double sum = reference(network, inputs, samples.terms, w, &expected);
      CHECK(w.dot(losses) == Approx(sum).epsilon(1e-11).margin(1e-11));
      CHECK((gradient - expected).cwiseAbs().maxCoeff() <
            1e-11 * (1 + expected.cwiseAbs().maxCoeff()));
      for (Index s = 0; s < w.size(); s += 37) {
        VectorXd one = VectorXd::Zero(w.size());
        one[s] = 1;
        CHECK(losses[s] ==
              Approx(reference(network, inputs, samples.terms, one)).epsilon(1e-12).margin(1e-12));
      }
      VectorXd alone;
      population.pass(theta, alone);
      CHECK((alone - losses).cwiseAbs().maxCoeff() < 1e-12 * losses.cwiseAbs().maxCoeff());
    }
  }
}

TEST_CASE("TransformerPopulation: the gradient is the derivative of the losses",
          "[sim][networks]") {
  for (const Loss loss : {Loss::cross_entropy, Loss::squared}) {
    const TransformerShape shape = shape_of(loss);
    const Batch inputs = inputs_of(40);
    const Samples samples(inputs, shape.outputs);
    const Transformer<double> network = network_of<double>(shape);
    const TransformerPopulation<double> population(network, inputs, samples.terms, samples.p);
    VectorXd theta = trained_values(network.parameters());
    VectorXd w = samples.p;
    w[3] = -0.2;
    VectorXd losses, gradient;
    population.pass(theta, losses, &w, &gradient);
    testing::check_gradient(
        [&] {
          population.pass(theta, losses);
          return w.dot(losses);
        },
        testing::entries(theta),
        testing::entries(gradient),
        {.tolerance = 1e-9, .relative = 1e-6, .stride = 5});
  }
}

TEST_CASE("TransformerPopulation: single precision, other threads, measures", "[sim][networks]") {
  const TransformerShape shape = shape_of(Loss::cross_entropy);
  const Batch inputs = inputs_of(40);
  const Samples samples(inputs, shape.outputs);
  const Transformer<float> network = network_of<float>(shape);
  const TransformerPopulation<float> single(network, inputs, samples.terms, samples.p);
  Transformer<double> wide(shape);
  const VectorXd theta = trained_values(network.parameters());
  set_trained_values(wide.parameters(), theta);
  CHECK(trained_values(wide.parameters()) == theta);
  const TransformerPopulation<double> population(wide, inputs, samples.terms, samples.p);
  VectorXd a, b, da, db;
  single.pass(theta, a, &samples.p, &da);
  population.pass(theta, b, &samples.p, &db);
  CHECK((a - b).cwiseAbs().maxCoeff() < 1e-5 * b.cwiseAbs().maxCoeff());
  CHECK((da - db).cwiseAbs().maxCoeff() < 1e-5 * db.cwiseAbs().maxCoeff());

  // The networks of threads are interchangeable.
  std::vector<VectorXd> gradients(24);
  in_parallel(gradients.size(), [&](std::size_t k) {
    VectorXd losses;
    const VectorXd moved = theta * (1 + 0.01 * static_cast<double>(k % 3));
    population.pass(moved, losses, &samples.p, &gradients[k]);
  });
  for (std::size_t k = 3; k < gradients.size(); ++k) {
    CHECK(std::memcmp(gradients[k].data(),
                      gradients[k % 3].data(),
                      sizeof(double) * static_cast<std::size_t>(theta.size())) == 0);
  }
  const auto square = [](Transformer<double>& n) {
    return trained_values(n.parameters()).squaredNorm();
  };
  CHECK(population.measure(2 * theta, square) == Approx(4 * theta.squaredNorm()));
}

TEST_CASE("TransformerPopulation: refuses what it cannot describe", "[sim][networks]") {
  const TransformerShape shape = shape_of(Loss::cross_entropy);
  const Batch inputs = inputs_of(6);
  const Samples samples(inputs, shape.outputs);
  const auto make = [&](const TransformerShape& s,
                        const std::vector<PopulationTerm>& terms,
                        const VectorXd& p,
                        const std::function<void(Transformer<double>&)>& edit = {}) {
    return refused([&] {
      Transformer<double> network(s);
      if (edit) edit(network);
      const TransformerPopulation<double> population(network, inputs, terms, p);
    });
  };
  CHECK(make(shape, samples.terms, samples.p) == "accepted");
  TransformerShape dropout = shape;
  dropout.dropout = 0.1;
  CHECK(make(dropout, samples.terms, samples.p) == "dropout");
  CHECK(make(shape, samples.terms, 2 * samples.p) == "p");
  for (const auto& [bad, name] : {std::pair(PopulationTerm{.site = 1000}, "terms.site"),
                                  std::pair(PopulationTerm{.target = 3}, "terms.target"),
                                  std::pair(PopulationTerm{.sample = 1000}, "terms.sample")}) {
    std::vector<PopulationTerm> terms = samples.terms;
    terms[0] = bad;
    CHECK(make(shape, terms, samples.p) == name);
  }
  CHECK(make(shape, {samples.terms.begin() + 1, samples.terms.end()}, samples.p) == "terms.sample");
  const auto slow = [](Transformer<double>& n) {
    n.parameters().configure("W_Q", [](Block& block) { block.learning_rate_factor = 0.5; });
  };
  CHECK(make(shape, samples.terms, samples.p, slow) == "learning_rate_factor");
  const auto frozen = [&](Transformer<double>& n) {
    slow(n);
    n.parameters().freeze("W_Q");
  };
  CHECK(make(shape, samples.terms, samples.p, frozen) == "accepted");
}

}  // namespace networks_population_test
