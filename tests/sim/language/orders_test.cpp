#include "attica/sim/language/orders.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "attica/sim/language/masked.hpp"

using namespace attica;
using Eigen::Index;

namespace {

constexpr Index kSymbols = 4;
constexpr Index kSites = 5;

MarkovClone chain(int order) {
  RandomStream stream({.seed = 11, .id = StreamId::self_test});
  std::vector<Symbol> sequence;
  for (std::size_t k = 0; k < 4000; ++k) {
    // The next symbol depends on the product of the two before it: no sum of pairs.
    const std::size_t back = k < 2 ? 0 : sequence[k - 1] * sequence[k - 2];
    sequence.push_back(
        static_cast<Symbol>((back + (stream.uniform() < 0.8 ? 0 : stream.below(4))) % kSymbols));
  }
  return {std::make_shared<const TupleFrequencies>(sequence, kSymbols, 3), order};
}

Described described(const MarkovClone& by, Index count) {
  RandomStream stream({.seed = 12, .id = StreamId::self_test});
  Described d{.masked = hide_one(chain_source(chain(3), kSites)(count, stream), stream),
              .laws = {}};
  d.laws = chain_laws(by, d.masked);
  return d;
}

PairShare share_of(int order) {
  const Described training = described(chain(order), 20000);
  const Described test = described(chain(order), 4000);
  return pair_share(training, test, {.steps = 800}, 512, {.seed = 13, .id = StreamId::self_test});
}

}  // namespace

TEST_CASE("pair_share: 1 for a chain of order 2, less for order 3", "[sim][language]") {
  const PairShare two = share_of(2);
  CHECK(two.context > 0.1);
  // What is left is the error of the fit: 240 weights.
  CHECK(two.share() > 0.98);
  const PairShare three = share_of(3);
  CHECK(three.context > two.context);
  CHECK(three.share() < 0.9);
}

TEST_CASE("pair_share: without context there is nothing to share", "[sim][language]") {
  CHECK(share_of(1).context == Approx(0).margin(1e-12));
}

TEST_CASE("blurred: the ends are one symbol's law and the predictor itself", "[sim][language]") {
  const Described d = described(chain(3), 3000);
  const Eigen::VectorXd u =
      Eigen::Map<const Eigen::VectorXd>(chain(1).frequencies().row(1, 0), kSymbols);
  const Laws none = blurred(d.laws, u, 0);
  for (Index k = 0; k < none.rows(); ++k) {
    REQUIRE((none.row(k).transpose() - u).cwiseAbs().maxCoeff() < 1e-12);
  }
  CHECK((blurred(d.laws, u, 1) - d.laws).cwiseAbs().maxCoeff() < 1e-12);
  const double half = mean_loss(blurred(d.laws, u, 0.5), d.masked);
  CHECK(blur_of_loss(d.laws, u, d.masked, half) == Approx(0.5).margin(1e-6));
  CHECK(blur_of_loss(d.laws, u, d.masked, 10) == 0);
  CHECK(blur_of_loss(d.laws, u, d.masked, 0) == 1);
}

TEST_CASE("saturation and crossing: by hand", "[sim][language]") {
  CHECK(saturation({3, 2, 1.05, 1.01, 1, 2}, 0.05) == 2);
  CHECK(saturation({1, 2, 3}, 0.05) == 0);
  CHECK(crossing({1, 2, 3}, {2, 2, 2}) == std::optional<std::size_t>(2));
  CHECK_FALSE(crossing({1, 1}, {2, 1}));
}

TEST_CASE("train_masked: starts at the uniform law, and learns a chain to near its floor",
          "[sim][language][slow]") {
  const MarkovClone text = chain(2);
  RandomStream stream({.seed = 14, .id = StreamId::self_test});
  const MaskedWindows test = hide_one(chain_source(text, kSites)(4000, stream), stream);
  const Laws p = chain_laws(text, test);
  MaskedTraining training{.width = 32, .heads = 4, .mlp_width = 64, .tail = true};
  training.recorded = {0, 1500};
  std::vector<double> excess;
  const auto result = train_masked(
      training,
      kSites,
      kSymbols,
      chain_source(text, kSites),
      {.seed = 15},
      [&](std::uint64_t, MaskedNetwork& network) {
        excess.push_back(mean_cross_entropy(p, network_laws(network, test)) - mean_entropy(p));
      });
  CHECK(result.status == networks::TrainingStatus::finished);
  REQUIRE(excess.size() == 2);
  CHECK(excess[0] == Approx(std::log(4.0) - mean_entropy(p)).margin(0.1));
  CHECK(excess[1] > 0);
  CHECK(excess[1] < 0.02);
}

TEST_CASE("train_masked: what stands at the hidden site is not seen", "[sim][language]") {
  MaskedTraining training{.width = 16, .heads = 2, .mlp_width = 16};
  training.recorded = {20};
  static_cast<void>(train_masked(training,
                                 kSites,
                                 kSymbols,
                                 chain_source(chain(2), kSites),
                                 {.seed = 16},
                                 [&](std::uint64_t, MaskedNetwork& network) {
                                   MaskedWindows one{Windows::Constant(1, kSites, 2), {3}};
                                   const Laws before = network_laws(network, one);
                                   one.windows(0, 3) = 0;
                                   CHECK(network_laws(network, one) == before);
                                   one.windows(0, 2) = 0;
                                   CHECK(network_laws(network, one) != before);
                                 }));
}
