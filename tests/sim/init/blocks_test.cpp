#include "attica/sim/init/blocks.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/normal_matrix.hpp"

using namespace attica;
using Catch::WithinAbs;
using Catch::WithinRel;
using Eigen::MatrixXd;

namespace init_blocks_test {

TEST_CASE("draw_forward: without attention and MLP tokens stay as they are", "[sim][init]") {
  const BlockNetwork network{.context = 6,
                             .dimension = 16,
                             .heads = 2,
                             .beta = 1,
                             .cosine = 0.4,
                             .value_variance = 0,
                             .mlp_variance = 0,
                             .bias_variance = 0,
                             .skip = 1,
                             .mlp_skip = 1,
                             .mlp = true,
                             .layer_norm = false,
                             .blocks = 2};
  RandomStream stream({.seed = 3});
  for (const BlockMeasures& m : draw_forward(network, stream)) {
    CHECK_THAT(m.distance, WithinRel(0.6, 1e-12));
    CHECK_THAT(m.spread, WithinAbs(0, 1e-7));
  }
  RandomStream again({.seed = 3});
  for (const GradientMeasures& m : draw_gradients(network, again)) {
    // Of g ~ N(0, 1/d) the part along x is lost to the normalisation.
    CHECK(m.own < 1.6);
    CHECK(m.query_weight < 1e-20);
  }
}

BlockNetwork small_network() {
  BlockNetwork network;
  network.context = 5;
  network.dimension = 12;
  network.heads = 2;
  network.beta = 1.2;
  network.cosine = 0.3;
  network.value_variance = 1.3;
  network.mlp_variance = 0.8;
  network.bias_variance = 0.05;
  network.skip = 0.9;
  network.mlp_skip = 1.1;
  network.blocks = 3;
  return network;
}

TEST_CASE("loss_at_input: gradients by differences", "[sim][init]") {
  for (const bool mlp : {true, false}) {
    for (const bool layer_norm : {false, true}) {
      BlockNetwork network = small_network();
      network.mlp = mlp;
      network.layer_norm = layer_norm;
      CAPTURE(mlp, layer_norm);
      const auto at = [&](const MatrixXd& x) {
        RandomStream stream({.seed = 4});
        return loss_at_input(network, x, stream);
      };
      RandomStream other({.seed = 5});
      const MatrixXd x = network.input() + normal_matrix(network.dimension, network.context, other);
      const MatrixXd gradient = at(x).gradient;
      // A difference of third order with rounding of 1e-16/step.
      constexpr double kStep = 1e-5;
      double worst = 0;
      for (Eigen::Index k = 0; k < x.size(); k += 7) {
        MatrixXd up = x;
        MatrixXd down = x;
        up(k) += kStep;
        down(k) -= kStep;
        const double slope = (at(up).loss - at(down).loss) / (2 * kStep);
        worst = std::max(worst, std::abs(slope - gradient(k)));
      }
      CHECK(worst < 1e-7 * gradient.cwiseAbs().maxCoeff());
    }
  }
}

TEST_CASE("draw_forward, draw_gradients: the action of weights has the law of all entries",
          "[sim][init]") {
  const BlockNetwork network = small_network();
  constexpr int kNetworks = 3000;
  constexpr std::size_t kValues = 7;
  std::array<std::array<double, kValues>, 2> sums{};
  std::array<std::array<double, kValues>, 2> squares{};
  for (const DrawnWeights weights : {DrawnWeights::action, DrawnWeights::entries}) {
    const auto way = static_cast<std::size_t>(weights);
    for (std::uint64_t k = 0; k < kNetworks; ++k) {
      RandomStream stream({.seed = 6 + way, .replicate = k});
      const BlockMeasures last = draw_forward(network, stream, weights).back();
      const GradientMeasures first = draw_gradients(network, stream, weights).front();
      const std::array<double, kValues> values = {std::log(last.distance),
                                                  last.participation,
                                                  last.shared,
                                                  std::log(first.own),
                                                  std::log(first.value_weight),
                                                  std::log(first.query_weight),
                                                  std::log(first.key_weight)};
      for (std::size_t v = 0; v < kValues; ++v) {
        sums[way][v] += values[v] / kNetworks;
        squares[way][v] += values[v] * values[v] / kNetworks;
      }
    }
  }
  // Means and mean squares of two independent samples: within 5 standard errors.
  for (std::size_t v = 0; v < kValues; ++v) {
    CAPTURE(v);
    const auto variance = [&](std::size_t way) {
      return squares[way][v] - sums[way][v] * sums[way][v];
    };
    const double error = std::sqrt((variance(0) + variance(1)) / kNetworks);
    CHECK_THAT(sums[0][v], WithinAbs(sums[1][v], 5 * error));
    CHECK_THAT(variance(0) / variance(1), WithinAbs(1, 0.2));
  }
}

}  // namespace init_blocks_test
