#include "attica/core/language/chain.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/random.hpp"
#include "refused.hpp"

using namespace attica;
using attica::testing::refused;
using Eigen::Index;

namespace language_chain_test {

constexpr Index kSymbols = 3;

std::vector<Symbol> some_sequence(std::size_t length) {
  RandomStream stream({.seed = 3, .id = StreamId::self_test});
  std::vector<Symbol> sequence;
  for (std::size_t k = 0; k < length; ++k) {
    const std::size_t back = sequence.size() < 2 ? 0 : sequence[k - 1] + 2U * sequence[k - 2];
    sequence.push_back(static_cast<Symbol>((back + stream.below(2)) % kSymbols));
  }
  return sequence;
}

double probability(const MarkovClone& chain, const std::vector<Symbol>& window) {
  double p = 1;
  for (std::size_t k = 0; k < window.size(); ++k) {
    p *= chain.next(window.data(), static_cast<Index>(k))[window[k]];
  }
  return p;
}

TEST_CASE("tuple frequencies: by hand for orders 1 and 2", "[core][language]") {
  const std::vector<Symbol> sequence = {0, 1, 0, 1, 1, 2};
  const TupleFrequencies p(sequence, kSymbols, 2);
  // Order 1: counts 2, 3, 1 of 6, with kappa = 2 spread evenly.
  CHECK(p.row(1, 0)[0] == Approx((2 + 2.0 / 3) / 8));
  CHECK(p.row(1, 0)[1] == Approx((3 + 2.0 / 3) / 8));
  // After 1: 0, 1 and 2 once each.
  CHECK(p.row(2, 1)[1] == Approx((1 + 2 * p.row(1, 0)[1]) / 5));
  // After 2 nothing was seen: order 1.
  CHECK(p.row(2, 2)[0] == Approx(p.row(1, 0)[0]));
}

TEST_CASE("text chain: conditionals are those of the joint law, by enumeration",
          "[core][language]") {
  constexpr Index kSites = 5;
  const auto sequence = some_sequence(400);
  const auto frequencies = std::make_shared<const TupleFrequencies>(sequence, kSymbols, 4);
  for (int order = 1; order <= 4; ++order) {
    const MarkovClone chain(frequencies, order);
    double total = 0;
    for (int code = 0; code < 243; ++code) {
      std::vector<Symbol> window;
      for (int rest = code, k = 0; k < kSites; ++k, rest /= 3) {
        window.push_back(static_cast<Symbol>(rest % 3));
      }
      total += probability(chain, window);
      for (Index i = 0; i < kSites; ++i) {
        std::vector<double> p(kSymbols);
        chain.conditional(window.data(), kSites, i, p.data());
        std::vector<double> joint;
        double sum = 0;
        for (Symbol a = 0; a < kSymbols; ++a) {
          std::vector<Symbol> other = window;
          other[static_cast<std::size_t>(i)] = a;
          joint.push_back(probability(chain, other));
          sum += joint.back();
        }
        for (std::size_t a = 0; a < 3; ++a) REQUIRE(p[a] == Approx(joint[a] / sum).epsilon(1e-12));
      }
    }
    CHECK(total == Approx(1).epsilon(1e-12));
  }
}

TEST_CASE("tuple frequencies: tables beyond 2^24 entries are refused", "[core][language]") {
  const auto sequence = some_sequence(100);
  CHECK(refused([&] { TupleFrequencies(sequence, 64, 5); }) == "order");
  CHECK(refused([&] { TupleFrequencies(sequence, 3, 0); }) == "order");
  const auto two = std::make_shared<const TupleFrequencies>(sequence, kSymbols, 2);
  CHECK(refused([&] { MarkovClone(two, 3); }) == "order");
}

}  // namespace language_chain_test
