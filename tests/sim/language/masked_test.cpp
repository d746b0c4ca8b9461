#include "attica/sim/language/masked.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>

#include "attica/sim/language/pairs.hpp"
#include "sim/language/product_chain.hpp"

using namespace attica;
using namespace attica::testing;
using Eigen::Index;

namespace language_masked_test {

MaskedTraining small(bool factored, std::vector<std::uint64_t> recorded) {
  return {.factored = factored,
          .width = 32,
          .heads = 4,
          .mlp_width = 64,
          .tail = true,
          .recorded = std::move(recorded)};
}

const MaskedRecords kNothing{
    .measure = [](std::uint64_t, MaskedNetwork&) { return std::vector<double>(); },
    .tell = [](std::uint64_t, const std::vector<double>&) {}};

/// The largest |mixed difference| of the logits at site 0 over so many other sites, each changed
/// from symbol 0 to 1: sum over sets of changed sites of (-1)^(size) logits.
double mixed_difference(networks::Transformer<double>& network, int others) {
  const int length = network.shape().length;
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(network.shape().outputs);
  for (unsigned set = 0; set < 1U << others; ++set) {
    networks::Batch batch;
    batch.tokens.push_back(network.shape().outputs);  // hidden
    int changed = 0;
    for (int j = 0; j + 1 < length; ++j) {
      const int on = j < others && (set >> j & 1U) != 0 ? 1 : 0;
      changed += on;
      batch.tokens.push_back(on);
    }
    batch.sites.push_back(0);
    batch.targets.push_back(0);
    networks::set_equal_lengths(batch, length);
    const auto logits = network.forward(batch);
    for (Index a = 0; a < sum.size(); ++a) sum[a] += (changed % 2 == 0 ? 1 : -1) * logits.row(0)[a];
  }
  return sum.cwiseAbs().maxCoeff();
}

networks::Transformer<double> random_network(const MaskedTraining& training, Index sites) {
  networks::Transformer<double> network(masked_shape(training, sites, kSymbols));
  network.parameters().initialise("*", {.scale = 0.3}, {.seed = 3});
  return network;
}

TEST_CASE("the factored network of N layers has interactions of 2^N + 1 symbols, no more",
          "[sim][language]") {
  for (const int layers : {1, 2}) {
    CAPTURE(layers);
    auto network = random_network(
        {.factored = true, .layers = layers, .width = 12, .heads = 2, .mlp_width = 10}, 7);
    const int degree = 1 << layers;
    CHECK(mixed_difference(network, degree) > 1e-5);
    CHECK(mixed_difference(network, degree + 1) < 1e-10);  // rounding of logits of order 10
  }
  // Without squares attention alone: pairs. A standard network has all orders.
  auto pairs = random_network({.factored = true, .width = 12, .heads = 2, .mlp_width = 0}, 7);
  CHECK(mixed_difference(pairs, 1) > 1e-3);
  CHECK(mixed_difference(pairs, 2) < 1e-10);
  auto standard = random_network({.width = 12, .heads = 2, .mlp_width = 10}, 7);
  CHECK(mixed_difference(standard, 3) > 1e-6);
}

TEST_CASE("train_masked: starts at the uniform law, and learns a chain to near its floor",
          "[sim][language][slow]") {
  const MarkovClone text = product_chain(2);
  RandomStream stream({.seed = 14, .id = StreamId::self_test});
  const MaskedWindows test = hide_one(chain_source(text, kSites)(4000, stream), stream);
  const Laws p = chain_laws(text, test);
  const MaskedTraining training = small(false, {0, 1500});
  std::vector<double> excess;
  MaskedNetwork network = masked_network(training, kSites, kSymbols, {.seed = 15});
  const auto result = train_masked(
      network,
      training,
      chain_source(text, kSites),
      {.seed = 15},
      {.measure =
           [&](std::uint64_t, MaskedNetwork& now) {
             return std::vector{mean_cross_entropy(p, network_laws(now, test)) - mean_entropy(p)};
           },
       .tell = [&](std::uint64_t,
                   const std::vector<double>& values) { excess.push_back(values.front()); }});
  CHECK(result.status == networks::TrainingStatus::finished);
  REQUIRE(excess.size() == 2);
  CHECK(excess[0] == Approx(std::log(4.0) - mean_entropy(p)).margin(0.1));
  CHECK(excess[1] > 0);
  CHECK(excess[1] < 0.02);
}

TEST_CASE("train_masked: what stands at the hidden site is not seen", "[sim][language]") {
  for (const bool factored : {false, true}) {
    CAPTURE(factored);
    const MaskedTraining training = small(factored, {20});
    MaskedNetwork network = masked_network(training, kSites, kSymbols, {.seed = 16});
    static_cast<void>(train_masked(
        network, training, chain_source(product_chain(2), kSites), {.seed = 16}, kNothing));
    MaskedWindows one{Windows::Constant(1, kSites, 2), {3}};
    const Laws before = network_laws(network, one);
    one.windows(0, 3) = 0;
    CHECK(network_laws(network, one) == before);
    one.windows(0, 2) = 0;
    CHECK(network_laws(network, one) != before);
  }
}

TEST_CASE("train_masked: stopped and carried on from its file, the same network and records",
          "[sim][language]") {
  const WindowSource source = chain_source(product_chain(2), kSites);
  const StreamAddress address{.seed = 17, .replicate = 3};
  const MaskedTraining training = small(false, {0, 5, 12, 30});
  const auto file = std::filesystem::temp_directory_path() / "attica-masked-test.state";
  const MaskedWindows probe{Windows::Constant(1, kSites, 2), {1}};
  const auto run = [&](int most, const std::filesystem::path& kept) {
    MaskedNetwork network = masked_network(training, kSites, kSymbols, address);
    std::vector<double> told;
    int asked = 0;
    const auto end = train_masked(
        network,
        training,
        source,
        address,
        {.measure = [&](std::uint64_t,
                        MaskedNetwork& now) { return std::vector{network_laws(now, probe)(0, 0)}; },
         .tell =
             [&](std::uint64_t step, const std::vector<double>& values) {
               told.insert(told.end(), {static_cast<double>(step), values.front()});
             }},
        [&] { return asked++ >= most; },
        kept);
    told.push_back(network_laws(network, probe)(0, 1));
    return std::pair(end.status, told);
  };
  std::filesystem::remove(file);
  const auto whole = run(1000, {});
  REQUIRE(whole.first == networks::TrainingStatus::finished);
  int calls = 0;
  auto last = run(9, file);
  while (last.first == networks::TrainingStatus::stopped && ++calls < 10) last = run(9, file);
  CHECK(calls == 3);
  CHECK(last == whole);
  std::filesystem::remove(file);
}

TEST_CASE(
    "the factored network comes to the floor of a chain of order 3, which pairs miss; its "
    "samples have the chain's triples",
    "[sim][language][slow]") {
  const MarkovClone text = product_chain(3);
  const WindowSource source = chain_source(text, kSites);
  RandomStream stream({.seed = 18, .id = StreamId::self_test});
  const MaskedWindows test = hide_one(source(4000, stream), stream);
  const Laws p = chain_laws(text, test);
  const MaskedTraining training = small(true, {2500});
  MaskedNetwork network = masked_network(training, kSites, kSymbols, {.seed = 19});
  static_cast<void>(train_masked(network, training, source, {.seed = 19}, kNothing));
  PairModel pairs(kSites, kSymbols);
  pairs.fit({.steps = 2500}, [&](std::int64_t step) {
    RandomStream own({.seed = 20, .step = static_cast<std::uint64_t>(step)});
    return PairModel::Examples{hide_one(source(256, own), own), {}};
  });
  const double floor = mean_entropy(p);
  const double excess = mean_cross_entropy(p, network_laws(network, test)) - floor;
  const double excess_of_pairs = mean_cross_entropy(p, pairs.laws(test)) - floor;
  CHECK(excess > 0);
  CHECK(excess < 0.1);
  CHECK(excess_of_pairs > 2 * excess);
  CHECK(excess_of_pairs > 0.1);

  // Samples: nearer to the chain's triples than those of pairs are, and near those of a sample.
  const Windows truth = source(200000, stream);
  const auto distance = [&](const Windows& windows) {
    return pattern_variation(windows, truth, kSymbols, {0, 1, 2});
  };
  const Windows start = chain_source(product_chain(1), kSites)(4000, stream);
  const double own = distance(gibbs_windows(network, start, 20, stream));
  CHECK(own < distance(source(4000, stream)) + 0.05);
  CHECK(own < distance(gibbs_windows(pairs, start, 20, stream)) - 0.05);
}

}  // namespace language_masked_test
