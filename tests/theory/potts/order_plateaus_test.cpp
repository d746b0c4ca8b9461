#include "attica/theory/potts/order_plateaus.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/core/potts/body_ensembles.hpp"
#include "core/reference_models.hpp"
#include "reference_values.hpp"

using namespace attica;
using namespace attica::testing;
using Eigen::Index;

TEST_CASE("order_plateau: recorded plateaus of a four-body model", "[theory]") {
  const Reference r = reference_values("potts").at("fourbody").at("plateaus");
  const BodyModel model = four_body();
  const PottsEnumeration all = enumerate(model);
  const MaskedPopulation population = MaskedPopulation::enumerated(model, all);
  // The regressions behind the recorded numbers stopped at a gradient of 1e-9: loss exact to 1e-10.
  CHECK(order_plateau(population, 3, 1) == Approx(r.at("1body").get<double>()).epsilon(1e-10));
  CHECK(order_plateau(population, 3, 2) == Approx(r.at("2body").get<double>()).epsilon(1e-10));
  CHECK(order_plateau(population, 3, 3) == Approx(r.at("3body").get<double>()).epsilon(1e-10));
  CHECK(order_plateau(population, 3, 4) == Approx(population.bayes_loss()).epsilon(1e-12));
  // No other site seen: the entropy of the marginals.
  CHECK(order_plateau(population, 3, 1) == Approx(marginal_loss(all.states, 3)).epsilon(1e-12));
}

TEST_CASE("order_plateau: data of pairs need order 2 only", "[theory]") {
  Hyperedges edges = all_hyperedges(4, 2);
  edges.couplings = cosine_body_couplings(edges);
  const BodyModel model(4, edges, cosine_tensor(2, 3), 0.7);
  const MaskedPopulation population = MaskedPopulation::enumerated(model, enumerate(model));
  for (const int order : {2, 3, 4}) {
    CHECK(order_plateau(population, 3, order) == Approx(population.bayes_loss()).epsilon(1e-11));
  }
  CHECK(order_plateau(population, 3, 1) > population.bayes_loss() + 1e-3);
}

TEST_CASE("order_plateau: a weighted interaction order closes its gap alone", "[theory]") {
  // Only three-index parts, on all hyperedges of four sites: two of the other sites together say
  // something, one alone says little.
  Hyperedges edges = all_hyperedges(5, 4);
  edges.couplings.setConstant(0.5);
  const BodyModel model(5, edges, graded(cosine_tensor(4, 3), {0, 0, 1, 0}), 0.7);
  const MaskedPopulation population = MaskedPopulation::enumerated(model, enumerate(model));
  CHECK(order_plateau(population, 3, 3) == Approx(population.bayes_loss()).epsilon(1e-11));
  CHECK(order_plateau(population, 3, 2) > population.bayes_loss() + 0.05);
}

TEST_CASE("order_plateau: converges at every temperature, in falling order", "[theory]") {
  // Thousands of contexts: near the optimum the loss itself is known to some 1e-14 only.
  Hyperedges edges = all_hyperedges(7, 4);
  edges.couplings.setConstant(1 / std::sqrt(edges_per_site(edges, 7)));
  for (const double beta : {0.2, 0.4, 0.8}) {
    const BodyModel model(7, edges, graded(cosine_tensor(4, 3), {0, 0.3, 0.6, 1}), beta);
    const MaskedPopulation population = MaskedPopulation::enumerated(model, enumerate(model));
    const double pairs = order_plateau(population, 3, 2);
    CHECK(order_plateau(population, 3, 1) > pairs);
    CHECK(pairs > population.bayes_loss());
  }
}

TEST_CASE("order_plateau: where sites are alike, counts give what all contexts give", "[theory]") {
  for (const Index sites : {4, 6}) {
    Hyperedges edges = all_hyperedges(sites, 4);
    edges.couplings.setConstant(1 / std::sqrt(edges_per_site(edges, sites)));
    for (const double beta : {-0.4, 0.8}) {
      CAPTURE(sites, beta);
      const BodyModel model(sites, edges, graded(cosine_tensor(4, 3), {0.1, 0.3, 0.6, 1}), beta);
      const MaskedPopulation population = MaskedPopulation::enumerated(model, enumerate(model));
      const CountedContexts counted = counted_contexts(ExchangeableBody::of(model).value());
      for (const int order : {1, 2, 3, 4}) {
        CAPTURE(order);
        CHECK(order_plateau(counted, order) ==
              Approx(order_plateau(population, 3, order)).epsilon(1e-10));
      }
    }
  }
}

TEST_CASE("order_plateau: without a matrix of features, and of many parameters", "[theory]") {
  Hyperedges edges = all_hyperedges(5, 4);
  edges.couplings = cosine_body_couplings(edges);
  const BodyModel few(5, edges, graded(cosine_tensor(4, 3), {0.1, 0.3, 0.6, 1}), 0.8);
  const MaskedPopulation population = MaskedPopulation::enumerated(few, enumerate(few));
  for (const int order : {1, 2, 3, 4}) {
    CAPTURE(order);
    CHECK(iterated_order_plateau(population, 3, order) ==
          Approx(order_plateau(population, 3, order)).epsilon(1e-9));
  }
  // Three bodies need order 3: sums over five have 5727 parameters a site, and gain nothing.
  Hyperedges threes = all_hyperedges(7, 3);
  threes.couplings = cosine_body_couplings(threes);
  const BodyModel many(7, threes, cosine_tensor(3, 4), 0.3);
  const MaskedPopulation large = MaskedPopulation::enumerated(many, enumerate(many));
  CHECK(order_plateau(large, 4, 5) == Approx(large.bayes_loss()).epsilon(1e-8));
  CHECK(iterated_order_plateau(large, 4, 2) > large.bayes_loss() + 1e-3);
}

TEST_CASE("context_features: count, and orthogonality over uniform contexts", "[theory]") {
  const BodyModel flat(4, all_hyperedges(4, 2), cosine_tensor(2, 3), 1.0);  // couplings 0
  const MaskedPopulation population = MaskedPopulation::enumerated(flat, enumerate(flat));
  const Eigen::MatrixXd x = context_features(population.sites()[1], 1, 3, 3);
  REQUIRE(x.rows() == 27);  // as many as contexts: every function of the context is a sum of them
  CHECK(context_feature_count(4, 3, 3) == 27);
  CHECK(context_feature_count(4, 3, 2) == 1 + 3 * 2 + 3 * 4);
  const Eigen::MatrixXd gram = x * x.transpose();
  CHECK((gram - Eigen::MatrixXd(gram.diagonal().asDiagonal())).cwiseAbs().maxCoeff() < 1e-12);
  CHECK_THROWS_WITH(order_plateau(population, 3, 0), Catch::Contains("'order'"));
}
