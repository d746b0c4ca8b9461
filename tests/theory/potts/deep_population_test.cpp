#include "attica/theory/potts/deep_population.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "attica/core/potts/body_ensembles.hpp"
#include "attica/theory/training/first_order.hpp"
#include "core/reference_models.hpp"
#include "finite_differences.hpp"
#include "reference_values.hpp"

using namespace attica;
using namespace attica::testing;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace potts_deep_population_test {

/// What packed_layers packed: N (L^2 + C^2) numbers.
DeepLayers unpacked_layers(const VectorXd& x, Index sites, Index colours) {
  DeepLayers layers;
  for (Index at = 0; at < x.size(); at += sites * sites + colours * colours) {
    layers.push_back({x.segment(at, sites * sites).reshaped(sites, sites),
                      x.segment(at + sites * sites, colours * colours).reshaped(colours, colours)});
  }
  return layers;
}

/// A_l = 0.3 sin(1 + l + i + 2j), V_l = 0.3 cos(1 + 2l + 2a + c).
DeepLayers wave_layers(int depth, Index sites, Index colours) {
  DeepLayers layers;
  for (int l = 0; l < depth; ++l) {
    layers.push_back(
        {MatrixXd::NullaryExpr(sites,
                               sites,
                               [l](Index i, Index j) {
                                 return 0.3 * std::sin(static_cast<double>(1 + l + i + 2 * j));
                               }),
         MatrixXd::NullaryExpr(colours, colours, [l](Index b, Index c) {
           return 0.3 * std::cos(static_cast<double>(1 + 2 * l + 2 * b + c));
         })});
  }
  return layers;
}

/// -ln q(s_i | rest) by the definition, one sequence at a time.
double sequence_loss(const DeepLayers& layers,
                     bool residual,
                     const Eigen::Ref<const Eigen::RowVectorX<std::uint8_t>>& s,
                     Index masked) {
  const Index sites = layers.front().sites();
  const Index colours = layers.front().colours();
  MatrixXd x = MatrixXd::Zero(sites, colours);
  for (Index j = 0; j < sites; ++j) {
    if (j != masked) x(j, s[j]) = 1;
  }
  MatrixXd z;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    z = layers[l].attention * x * layers[l].values.transpose();
    x = (residual ? 1.0 : 0.0) * x + z.cwiseAbs2();
  }
  const VectorXd h = z.row(masked);
  return std::log(h.array().exp().sum()) - h[s[masked]];
}

/// Mean over all sequences and sites of f(sequence, site, weight's share).
void for_examples(const PottsEnumeration& all,
                  const std::function<void(Index row, Index site, double weight)>& f) {
  const Index sites = all.states.sequences.cols();
  for (Index n = 0; n < all.states.weights.size(); ++n) {
    for (Index i = 0; i < sites; ++i) {
      f(n, i, all.states.weights[n] / static_cast<double>(sites));
    }
  }
}

double population_loss(const DeepLayers& layers, bool residual, const PottsEnumeration& all) {
  double sum = 0;
  for_examples(all, [&](Index n, Index i, double weight) {
    sum += weight * sequence_loss(layers, residual, all.states.sequences.row(n), i);
  });
  return sum;
}

/// The mean loss, and its gradient if asked for.
double mean_loss(const DeepPopulation& population,
                 const VectorXd& x,
                 VectorXd* gradient = nullptr) {
  VectorXd losses;
  population.pass(x, losses, gradient == nullptr ? nullptr : &population.weights(), gradient);
  return population.weights().dot(losses);
}

TEST_CASE("DeepPopulation: recorded population losses and gradients", "[theory]") {
  const Reference r = reference_values("potts").at("fourbody");
  const BodyModel model = four_body();
  const MaskedPopulation masked = MaskedPopulation::enumerated(model, enumerate(model));
  for (const int depth : {1, 2, 3}) {
    for (const bool residual : {false, true}) {
      const std::string key = fmt::format("deep_N{}_r{}", depth, residual ? 1 : 0);
      CAPTURE(key);
      const Reference expected = r.at(key);
      const DeepLayers layers = wave_layers(depth, 5, 3);
      const DeepPopulation population(masked, 3, depth, residual);
      VectorXd packed;
      const double loss = mean_loss(population, packed_layers(layers), &packed);
      const DeepLayers gradient = unpacked_layers(packed, 5, 3);
      CHECK(loss == Approx(expected.at("loss").get<double>()).epsilon(1e-12));
      CHECK(mean_loss(population, packed_layers(layers)) == loss);
      for (std::size_t l = 0; l < gradient.size(); ++l) {
        CHECK(gradient[l].attention.norm() ==
              Approx(expected.at("gA_norm")[l].get<double>()).epsilon(1e-9));
        CHECK(gradient[l].values.norm() ==
              Approx(expected.at("gV_norm")[l].get<double>()).epsilon(1e-9));
      }
    }
  }
}

TEST_CASE("DeepPopulation: gradient by differences of a loss summed sequence by sequence",
          "[theory]") {
  Hyperedges edges = all_hyperedges(4, 3);
  edges.couplings = cosine_body_couplings(edges);
  const BodyModel model(4, edges, cosine_tensor(3, 2), 0.8);
  const PottsEnumeration all = enumerate(model);
  const MaskedPopulation masked = MaskedPopulation::enumerated(model, all);
  for (const bool residual : {false, true}) {
    const DeepPopulation population(masked, 2, 3, residual);
    VectorXd x = packed_layers(wave_layers(3, 4, 2));
    VectorXd gradient;
    mean_loss(population, x, &gradient);
    check_gradient([&] { return population_loss(unpacked_layers(x, 4, 2), residual, all); },
                   entries(x),
                   entries(gradient));
    // Of weights of either sign, and sequences one by one.
    const GroupedPopulation sequences = population.sequences(all.states);
    const VectorXd w = VectorXd::NullaryExpr(
        all.states.weights.size(), [](Index k) { return std::cos(static_cast<double>(k)); });
    VectorXd losses;
    sequences.pass(x, losses, &w, &gradient);
    const DeepLayers layers = unpacked_layers(x, 4, 2);
    for (Index n = 0; n < losses.size(); ++n) {
      double mean = 0;
      for (Index i = 0; i < 4; ++i) {
        mean += sequence_loss(layers, residual, all.states.sequences.row(n), i) / 4;
      }
      CHECK(losses[n] == Approx(mean).epsilon(1e-12));
    }
    check_gradient(
        [&] {
          VectorXd at;
          sequences.pass(x, at);
          return w.dot(at);
        },
        entries(x),
        entries(gradient));
  }
}

TEST_CASE("DeepPopulation: sizes whose loops are unrolled", "[theory]") {
  for (const Index sites : {4, 6}) {
    CAPTURE(sites);
    Hyperedges edges = all_hyperedges(sites, 3);
    edges.couplings = cosine_body_couplings(edges);
    const BodyModel model(sites, edges, cosine_tensor(3, 3), 0.8);
    const PottsEnumeration all = enumerate(model);
    const DeepPopulation population(MaskedPopulation::enumerated(model, all), 3, 3, true);
    const auto loss = [&](const VectorXd& x) {
      return population_loss(unpacked_layers(x, sites, 3), true, all);
    };
    const VectorXd x = packed_layers(wave_layers(3, sites, 3));
    VectorXd gradient;
    CHECK(mean_loss(population, x, &gradient) == Approx(loss(x)).epsilon(1e-12));
    const double step = 1e-5;
    const VectorXd along =
        VectorXd::NullaryExpr(x.size(), [](Index k) { return std::cos(static_cast<double>(k)); });
    CHECK(gradient.dot(along) ==
          Approx((loss(x + step * along) - loss(x - step * along)) / (2 * step)).epsilon(1e-6));
  }
}

TEST_CASE("DeepPopulation: what scaling a map leaves alone", "[theory]") {
  const BodyModel model = four_body();
  const MaskedPopulation masked = MaskedPopulation::enumerated(model, enumerate(model));
  const auto products = [&](bool residual) {
    const DeepLayers layers = wave_layers(3, 5, 3);
    VectorXd packed;
    mean_loss(DeepPopulation(masked, 3, 3, residual), packed_layers(layers), &packed);
    const DeepLayers gradient = unpacked_layers(packed, 5, 3);
    std::vector<double> of_layer;
    for (std::size_t l = 0; l < layers.size(); ++l) {
      of_layer.push_back(layers[l].attention.cwiseProduct(gradient[l].attention).sum());
      // c A_l, V_l/c are the same network.
      CHECK(layers[l].values.cwiseProduct(gradient[l].values).sum() ==
            Approx(of_layer[l]).epsilon(1e-12));
    }
    return of_layer;
  };
  // Without residuals c A_l, A_{l+1}/c^2 are the same network as well: |A_l|^2 - 2|A_{l+1}|^2 is
  // conserved by gradient flow, and layers move together.
  const std::vector<double> alone = products(false);
  CHECK(alone[0] == Approx(2 * alone[1]).epsilon(1e-12));
  CHECK(alone[1] == Approx(2 * alone[2]).epsilon(1e-12));
  const std::vector<double> carried = products(true);
  CHECK(std::abs(carried[0] - 2 * carried[1]) > 0.1 * std::abs(carried[0]));
}

/// Two layers on pairs of two colours: 8 states, 24 examples.
struct Small {
  static BodyModel pairs() {
    Hyperedges edges = all_hyperedges(3, 2);
    edges.couplings = cosine_body_couplings(edges);
    return {3, std::move(edges), cosine_tensor(2, 2), 0.9};
  }

  BodyModel model = pairs();
  PottsEnumeration all = enumerate(model);
  MaskedPopulation masked = MaskedPopulation::enumerated(model, all);
  DeepPopulation population{masked, 2, 2, true};
  VectorXd start = 2 * packed_layers(wave_layers(2, 3, 2));

  DeepLayers layers(const VectorXd& x) const { return unpacked_layers(x, 3, 2); }
  /// The gradient of one example, by differences.
  VectorXd example_gradient(const VectorXd& at, Index row, Index site) const {
    VectorXd x = at;
    VectorXd g(x.size());
    const auto loss = [&] {
      return sequence_loss(layers(x), true, all.states.sequences.row(row), site);
    };
    for (Index k = 0; k < x.size(); ++k) {
      g[k] = testing::central_difference(loss, testing::entries(x), static_cast<std::size_t>(k));
    }
    return g;
  }
};

TEST_CASE("DeepPopulation: mean and variance over all batches, sequence by sequence",
          "[theory][slow]") {
  // B = 1, three steps: 24^3 runs, all of them made. What the first order leaves is of relative
  // order eta.
  const Small small;
  constexpr std::uint64_t kSteps = 3;
  const auto exact = [&](double eta) {
    struct Sums {
      double mean = 0, square = 0;
    };
    std::vector<Sums> sums(3);  // loss, layers 1 and 2
    const std::function<void(const VectorXd&, double, std::uint64_t)> run =
        [&](const VectorXd& x, double weight, std::uint64_t step) {
          if (step == kSteps) {
            const VectorXd moved = x - small.start;
            const auto msd = [&](Index at) {
              return moved.segment(at, 9).squaredNorm() / 3 +
                     moved.segment(at + 9, 4).squaredNorm() / 2;
            };
            const double values[] = {mean_loss(small.population, x), msd(0), msd(13)};
            for (std::size_t k = 0; k < 3; ++k) {
              sums[k].mean += weight * values[k];
              sums[k].square += weight * values[k] * values[k];
            }
            return;
          }
          for_examples(small.all, [&](Index n, Index i, double share) {
            run(x - eta * small.example_gradient(x, n, i), weight * share, step + 1);
          });
        };
    run(small.start, 1, 0);
    return sums;
  };
  constexpr double kEta = 0.02;
  const auto sums = exact(kEta);
  const auto msd = [&](Index at) {
    return [&, at](const VectorXd& x) {
      const VectorXd moved = x - small.start;
      return moved.segment(at, 9).squaredNorm() / 3 + moved.segment(at + 9, 4).squaredNorm() / 2;
    };
  };
  const auto path = training_theory(small.population,
                                    {.start = small.start,
                                     .rate = [](std::uint64_t) { return kEta; },
                                     .batch = 1,
                                     .recorded = {1, kSteps}},
                                    {msd(0), msd(13)});
  REQUIRE(path.size() == 2);
  const Moment found[] = {path[1].loss, path[1].observed[0], path[1].observed[1]};
  for (std::size_t k = 0; k < 3; ++k) {
    CAPTURE(k);
    CHECK(found[k].shift == Approx(sums[k].mean - found[k].order_0).epsilon(2 * kEta));
    CHECK(std::abs(found[k].shift) > 1e-6);
    const double variance = sums[k].square - sums[k].mean * sums[k].mean;
    // Of a displacement the fluctuation of the noise's own square counts here as well: B = 1.
    if (k == 0) CHECK(found[k].variance == Approx(variance).epsilon(0.1));
  }
}

}  // namespace potts_deep_population_test
