#include "attica/sim/potts/sequence_data.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace attica;
using Eigen::Index;
using Eigen::MatrixXd;

TEST_CASE("PottsData: fresh sequences have the model's law and are none of the pool's",
          "[sim][potts]") {
  // Pairs of sites by themselves: both have one colour with probability 1/(1 + e^-β).
  constexpr double kBeta = 0.8;
  constexpr Index kCount = 4000;
  for (const Index sites : {Index{4}, Index{20}}) {
    CAPTURE(sites);
    MatrixXd couplings = MatrixXd::Zero(sites, sites);
    for (Index i = 0; i < sites; i += 2) couplings(i, i + 1) = couplings(i + 1, i) = 1;
    const PottsModel model(couplings, MatrixXd::Identity(2, 2), kBeta);
    const PottsData data(model, {.chains = 200, .burn_in = 100}, {.seed = 1});
    CHECK(data.enumerated() == (sites == 4));
    const Sequences fresh = data.fresh(kCount, {.seed = 1, .id = StreamId::data});
    CHECK(fresh == data.fresh(kCount, {.seed = 1, .id = StreamId::data}));
    REQUIRE(fresh.rows() == kCount);
    double equal = 0;
    for (Index n = 0; n < kCount; ++n) {
      for (Index i = 0; i < sites; i += 2) equal += fresh(n, i) == fresh(n, i + 1) ? 1 : 0;
    }
    const double pairs = static_cast<double>(kCount * sites) / 2;
    const double share = 1 / (1 + std::exp(-kBeta));
    CHECK(std::abs(equal / pairs - share) < 4 * std::sqrt(share * (1 - share) / pairs));
    if (data.enumerated()) continue;
    for (Index n = 0; n < data.population().sequences.rows(); ++n)
      CHECK_FALSE(data.population().sequences.row(n) == fresh.row(n));
  }
}
