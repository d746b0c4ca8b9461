#include "attica/core/potts/body_model.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "attica/core/error.hpp"
#include "attica/core/potts/body_ensembles.hpp"
#include "attica/core/potts/ensembles.hpp"
#include "core/reference_models.hpp"
#include "reference_values.hpp"

using namespace attica;
using namespace attica::testing;
using Eigen::Index;

TEST_CASE("BodyModel: recorded values of a four-body model", "[core]") {
  const Reference r = reference_values("potts").at("fourbody");
  const BodyModel model = four_body();
  const PottsEnumeration all = enumerate(model);
  CHECK(all.log_partition == Approx(r.at("lnZ").get<double>()).epsilon(1e-12));
  const MaskedPopulation population = MaskedPopulation::enumerated(model, all);
  CHECK(population.bayes_loss() == Approx(r.at("eps_opt").get<double>()).epsilon(1e-12));
  CHECK(marginal_loss(all.states, 3) ==
        Approx(r.at("plateaus").at("1body").get<double>()).epsilon(1e-12));
}

TEST_CASE("BodyModel: conditionals are ratios of probabilities", "[core]") {
  const BodyModel model = four_body();
  const PottsEnumeration all = enumerate(model);
  const MaskedPopulation population = MaskedPopulation::enumerated(model, all);
  for (Index i = 0; i < model.sites(); ++i) {
    const MaskedSite& site = population.sites()[static_cast<std::size_t>(i)];
    CHECK(site.weights.sum() == Approx(1).epsilon(1e-12));
    for (Index n = 0; n < site.weights.size(); n += 7) {
      for (Index a = 0; a < 3; ++a) {
        double joint = 0;
        for (Index m = 0; m < all.states.weights.size(); ++m) {
          Sequences state = site.contexts.row(n);
          state(0, i) = static_cast<std::uint8_t>(a);
          if (all.states.sequences.row(m) == state.row(0)) joint = all.states.weights[m];
        }
        CHECK(std::exp(site.log_conditionals(a, n)) ==
              Approx(joint / site.weights[n]).epsilon(1e-12));
      }
    }
  }
  // The same losses from all states as a weighted list: sampled() with the states in proportion.
  const Sequences one = all.states.sequences.topRows(4);
  const MaskedPopulation sample = MaskedPopulation::sampled(model, one);
  CHECK(sample.sites()[2].weights.sum() == Approx(1).epsilon(1e-12));
  CHECK(sample.sites()[2].log_conditionals.array().exp().colwise().sum().isApproxToConstant(1,
                                                                                            1e-12));
}

TEST_CASE("BodyModel: order 2 is the Potts model", "[core]") {
  const Index sites = 4;
  const Index colours = 3;
  const Eigen::MatrixXd j = cosine_couplings(sites);
  const Eigen::MatrixXd u = cosine_colour_couplings(colours);
  Hyperedges edges = all_hyperedges(sites, 2);
  for (Index e = 0; e < edges.sites.rows(); ++e) {
    edges.couplings[e] = j(edges.sites(e, 0), edges.sites(e, 1));
  }
  const ColourTensor tensor{2, colours, u.reshaped()};
  const BodyModel body(sites, edges, tensor, -0.8);
  const PottsModel pairs(j, u, -0.8);
  CHECK(enumerate(body).log_partition == Approx(enumerate(pairs).log_partition).epsilon(1e-13));
  const PottsEnumeration all = enumerate(pairs);
  CHECK(MaskedPopulation::enumerated(body, all).bayes_loss() ==
        Approx(bayes_loss(pairs, all.states)).epsilon(1e-12));
}

TEST_CASE("pure parts: add up, are orthogonal, and vanish under sums", "[core]") {
  const Reference r = reference_values("potts").at("fourbody");
  const ColourTensor u = cosine_tensor(4, 3);
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(u.entries.size());
  for (int part = 0; part <= 4; ++part) {
    const ColourTensor pure = pure_part(u, part);
    CHECK(pure.entries.squaredNorm() ==
          Approx(r.at("anova")[static_cast<std::size_t>(part)].get<double>()).epsilon(1e-10));
    for (int other = 0; other < part; ++other) {
      CHECK(std::abs(pure.entries.dot(pure_part(u, other).entries)) < 1e-12);
    }
    sum += pure.entries;
  }
  CHECK(sum.isApprox(u.entries, 1e-13));
  // The four-index part has no mean over its last index.
  CHECK(pure_part(u, 4).entries.reshaped(3, 27).colwise().sum().cwiseAbs().maxCoeff() < 1e-13);

  const ColourTensor weighted = graded(u, {0, 0.3, 0.6, 1});
  CHECK(pure_part(weighted, 1).entries.norm() < 1e-12);
  const double size = std::sqrt(static_cast<double>(u.entries.size()));
  CHECK(pure_part(weighted, 3).entries.norm() / size == Approx(0.6).epsilon(1e-12));
  CHECK_THROWS_WITH(graded(u, {1, 1}), Catch::Contains("order_weights"));
}

TEST_CASE("hyperedges and Gaussian tensors", "[core]") {
  const Hyperedges all = all_hyperedges(7, 3);
  CHECK(all.sites.rows() == 35);
  CHECK(all.sites.row(34) == Eigen::RowVector<std::int32_t, 3>(4, 5, 6));
  CHECK(edges_per_site(all, 7) == 15);
  RandomStream stream({.seed = 3, .id = StreamId::model});
  const Hyperedges some = random_hyperedges(all, 10, stream);
  CHECK(some.sites.rows() == 10);
  const ColourTensor tensor = gaussian_tensor(3, 4, stream);
  CHECK(tensor.entries.squaredNorm() == Approx(64));
  // Its symmetry is what the model checks; a change of one entry is refused.
  CHECK_NOTHROW(BodyModel(7, some, tensor, 1));
  ColourTensor broken = tensor;
  broken.entries[1] += 0.1;
  CHECK_THROWS_WITH(BodyModel(7, some, broken, 1), Catch::Contains("colour_couplings"));
}

TEST_CASE("BodyModel: bad input", "[core]") {
  const ColourTensor u = cosine_tensor(3, 2);
  Hyperedges edges = all_hyperedges(5, 3);
  CHECK_THROWS_WITH(BodyModel(2, edges, u, 1), Catch::Contains("'order'"));
  CHECK_THROWS_WITH(BodyModel(5, edges, cosine_tensor(4, 2), 1), Catch::Contains("hyperedges"));
  CHECK_THROWS_WITH(BodyModel(5, edges, u, std::numeric_limits<double>::infinity()),
                    Catch::Contains("beta"));
  edges.sites(0, 1) = edges.sites(0, 0);
  CHECK_THROWS_WITH(BodyModel(5, edges, u, 1), Catch::Contains("edge 0 = (0, 0, 2)"));
  edges.sites(0, 1) = 9;
  CHECK_THROWS_WITH(BodyModel(5, edges, u, 1), Catch::Contains("different sites from 0 to 4"));
  CHECK_THROWS_WITH(all_hyperedges(3, 4), Catch::Contains("'order'"));
  CHECK_THROWS_WITH(all_hyperedges(1000, 4), Catch::Contains("hyperedges"));
  CHECK_THROWS_WITH(cosine_tensor(12, 20), Catch::Contains("'order'"));
}
