#include "attica/sim/init/reversal.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace attica;
using Catch::Matchers::WithinRel;

namespace reversal_test {

ReversalTask task() {
  return {.network = {.context = 6,
                      .dimension = 32,
                      .heads = 4,
                      .beta = 0.5,
                      .cosine = 0.1,
                      .skip = 2,
                      .mlp_skip = 2,
                      .layer_norm = true,
                      .blocks = 2},
          .letters = 4,
          .length = 300};
}

TEST_CASE("train_reversal: a shallow network learns the task, the same at every call",
          "[sim][init]") {
  const StreamAddress address{.seed = 3};
  const auto once = train_reversal(task(), address);
  REQUIRE(once);
  CHECK(once->left_half < 0.9);
  CHECK(once->left < 0.5 * once->left_half);
  CHECK(train_reversal(task(), address)->left == once->left);
  CHECK_FALSE(train_reversal(task(), address, [] { return true; }));
}

TEST_CASE("train_reversal: tokens start as far apart as those of blocks.hpp", "[sim][init][slow]") {
  // Deep, with a weak skip: letters and positions are forgotten, and both collapse alike. The mean
  // over networks of ln(1 - c), which scatters by a fifth.
  ReversalTask deep = task();
  deep.network.context = 16;
  deep.network.dimension = 128;
  deep.network.blocks = 6;
  deep.network.skip = deep.network.mlp_skip = 1;
  deep.letters = 64;
  deep.length = 2;
  double trained = 0, drawn = 0;
  constexpr int kNetworks = 60;
  for (std::uint64_t k = 0; k < kNetworks; ++k) {
    const StreamAddress address{.seed = 4, .id = StreamId::initialisation, .replicate = k};
    trained += std::log(train_reversal(deep, address)->distance) / kNetworks;
    RandomStream stream(address);
    drawn += std::log(draw_forward(deep.network, stream).back().distance) / kNetworks;
  }
  CHECK_THAT(std::exp(trained - drawn), WithinRel(1.0, 0.2));
}

}  // namespace reversal_test
