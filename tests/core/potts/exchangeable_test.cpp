#include "attica/core/potts/exchangeable.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/core/potts/body_ensembles.hpp"

using namespace attica;
using Eigen::Index;

namespace {

BodyModel alike(Index sites, int order, double beta) {
  Hyperedges edges = all_hyperedges(sites, order);
  edges.couplings.setConstant(0.3);
  return {sites, edges, cosine_tensor(order, 3), beta};
}

std::vector<std::uint8_t> counts_of(const std::uint8_t* sequence, Index sites, Index skipped) {
  std::vector<std::uint8_t> counts(3, 0);
  for (Index j = 0; j < sites; ++j) {
    if (j != skipped) ++counts[sequence[j]];
  }
  return counts;
}

}  // namespace

TEST_CASE("enumerate_counts: all vectors once, each with its total", "[core]") {
  const Sequences all = enumerate_counts(5, 4);
  REQUIRE(all.rows() == 56);  // 8 over 3
  CHECK(count_vectors(5, 4) == 56);
  std::map<std::vector<std::uint8_t>, int> seen;
  for (Index k = 0; k < all.rows(); ++k) {
    CHECK(all.row(k).cast<int>().sum() == 5);
    ++seen[{all.row(k).begin(), all.row(k).end()}];
  }
  CHECK(seen.size() == 56);
  CHECK_THROWS_WITH(enumerate_counts(300, 2), Catch::Contains("'sites'"));
  CHECK_THROWS_WITH(enumerate_counts(40, 20), Catch::Contains("'sites'"));
}

TEST_CASE("ExchangeableBody: energies and logits of every state", "[core]") {
  for (const int order : {2, 3, 4}) {
    CAPTURE(order);
    const BodyModel model = alike(5, order, -0.7);
    const std::optional<ExchangeableBody> counted = ExchangeableBody::of(model);
    REQUIRE(counted);
    const PottsEnumeration all = enumerate(model);
    Eigen::VectorXd h(3);
    Eigen::VectorXd by_counts(3);
    for (Index n = 0; n < all.states.sequences.rows(); ++n) {
      const std::uint8_t* s = all.states.sequences.row(n).data();
      REQUIRE(counted->log_weight(counts_of(s, 5, -1).data()) ==
              Approx(-model.reduced_energy(s)).margin(1e-12));
      model.site_logits(s, 2, h.data());
      counted->site_logits(counts_of(s, 5, 2).data(), by_counts.data());
      REQUIRE((h - by_counts).cwiseAbs().maxCoeff() < 1e-12);
    }
  }
}

TEST_CASE("counted_contexts: the masked population, counted", "[core]") {
  const BodyModel model = alike(6, 4, 0.5);
  const PottsEnumeration all = enumerate(model);
  const MaskedPopulation population = MaskedPopulation::enumerated(model, all);
  const CountedContexts counted = counted_contexts(ExchangeableBody::of(model).value());
  REQUIRE(counted.counts.rows() == 21);  // 7 over 2
  CHECK(counted.bayes_loss == Approx(population.bayes_loss()).epsilon(1e-12));
  CHECK(counted.log_partition == Approx(all.log_partition).epsilon(1e-12));
  std::map<std::vector<std::uint8_t>, double> weights;
  const MaskedSite& site = population.sites()[4];
  for (Index n = 0; n < site.weights.size(); ++n) {
    weights[counts_of(site.contexts.row(n).data(), 6, 4)] += site.weights[n];
  }
  for (Index k = 0; k < counted.counts.rows(); ++k) {
    const std::vector<std::uint8_t> key(counted.counts.row(k).begin(), counted.counts.row(k).end());
    CHECK(counted.weights[k] == Approx(weights.at(key)).epsilon(1e-11));
  }
}

TEST_CASE("ExchangeableBody: nothing of models whose sets are not all alike", "[core]") {
  Hyperedges edges = all_hyperedges(5, 3);
  edges.couplings.setConstant(1.0);
  const ColourTensor tensor = cosine_tensor(3, 3);
  REQUIRE(ExchangeableBody::of({5, edges, tensor, 1.0}));
  Hyperedges uneven = edges;
  uneven.couplings[3] = 0.9;
  CHECK_FALSE(ExchangeableBody::of({5, uneven, tensor, 1.0}));
  Hyperedges twice = edges;
  twice.sites.row(1) = twice.sites.row(0);
  CHECK_FALSE(ExchangeableBody::of({5, twice, tensor, 1.0}));
  const Hyperedges few{edges.sites.topRows(4), edges.couplings.head(4)};
  CHECK_FALSE(ExchangeableBody::of({5, few, tensor, 1.0}));
}
