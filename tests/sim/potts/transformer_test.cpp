// Transformers on masked Potts sequences: which sites are masked.

#include "attica/sim/potts/transformer.hpp"

#include <catch2/catch.hpp>
#include <vector>

using namespace attica;

TEST_CASE("masked_sites: one a sequence, all sites alike, the same at every call", "[sim][potts]") {
  constexpr int kSites = 6;
  const TransformerTraining plan{
      .shape = masked_transformer(kSites, 3, 1, 16), .optimiser = {}, .batch = 128, .recorded = {}};
  const StreamAddress address{.seed = 7, .point = 2, .replicate = 3};
  std::vector<double> counts(kSites, 0.0);
  constexpr int kSteps = 500;
  for (std::uint64_t step = 0; step < kSteps; ++step) {
    const std::vector<Eigen::Index> masked = masked_sites(plan, address, step);
    REQUIRE(masked.size() == 128);
    for (const Eigen::Index site : masked) counts.at(static_cast<std::size_t>(site)) += 1;
  }
  const double expected = kSteps * 128.0 / kSites;
  double chi_square = 0;
  for (const double count : counts)
    chi_square += (count - expected) * (count - expected) / expected;
  CHECK(chi_square < 20.5);  // the 99.9 % quantile with 5 degrees of freedom
  CHECK(masked_sites(plan, address, 4) == masked_sites(plan, address, 4));
  CHECK(masked_sites(plan, address, 4) != masked_sites(plan, address, 5));
}
