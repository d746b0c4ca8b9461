#include "attica/sim/language/windows.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "refused.hpp"

using namespace attica;
using attica::testing::refused;
using Eigen::Index;

namespace language_windows_test {

const std::vector<Symbol>& sequence() {
  static const std::vector<Symbol> all = [] {
    RandomStream stream({.seed = 8, .id = StreamId::self_test});
    std::vector<Symbol> symbols;
    for (std::size_t k = 0; k < 3000; ++k) {
      const std::size_t back = k < 2 ? 0 : symbols[k - 1] + symbols[k - 2];
      symbols.push_back(static_cast<Symbol>((back + stream.below(2)) % 3));
    }
    return symbols;
  }();
  return all;
}

MarkovClone chain(int order) {
  return {std::make_shared<const TupleFrequencies>(sequence(), 3, order), order};
}

TEST_CASE("chain_source: windows have the probabilities of the chain", "[sim][language]") {
  constexpr Index kCount = 40000;
  const MarkovClone clone = chain(3);
  RandomStream stream({.seed = 1, .id = StreamId::self_test});
  const Windows drawn = chain_source(clone, 4)(kCount, stream);
  double chi_square = 0;
  for (int code = 0; code < 81; ++code) {
    std::vector<Symbol> window;
    for (int rest = code, k = 0; k < 4; ++k, rest /= 3) {
      window.push_back(static_cast<Symbol>(rest % 3));
    }
    double expected = kCount;
    for (Index k = 0; k < 4; ++k) {
      expected *= clone.next(window.data(), k)[window[static_cast<std::size_t>(k)]];
    }
    double count = 0;
    for (Index k = 0; k < kCount; ++k) {
      count += std::equal(window.begin(), window.end(), drawn.row(k).data()) ? 1 : 0;
    }
    chi_square += (count - expected) * (count - expected) / expected;
  }
  CHECK(chi_square < 80 + 5 * std::sqrt(160));  // 80 degrees of freedom, five deviations
}

TEST_CASE("chain_source: any number of windows, one uniform number a site", "[sim][language]") {
  const MarkovClone clone = chain(3);
  for (const Index count : {1, 13}) {
    RandomStream one({.seed = 4, .id = StreamId::self_test});
    RandomStream other = one;
    const Windows drawn = chain_source(clone, 6)(count, one);
    for (Index k = 0; k < count; ++k) {
      for (Index j = 0; j < 6; ++j) {
        const double* p = clone.next(drawn.row(k).data(), j);
        double left = other.uniform();
        Symbol symbol = 0;
        while (symbol < 2 && left >= p[symbol]) left -= p[symbol++];
        CHECK(drawn(k, j) == symbol);
      }
    }
  }
}

TEST_CASE("text_source: windows of the text, all places alike", "[sim][language]") {
  const std::vector<Symbol> text = {0, 1, 2, 3, 4};
  RandomStream stream({.seed = 2, .id = StreamId::self_test});
  const Windows drawn = text_source(text, 3)(9000, stream);
  double first = 0;
  for (Index k = 0; k < drawn.rows(); ++k) {
    REQUIRE(drawn(k, 1) == drawn(k, 0) + 1);
    REQUIRE(drawn(k, 2) == drawn(k, 0) + 2);
    first += drawn(k, 0);
  }
  CHECK(first / 9000 == Approx(1).margin(5 * std::sqrt(2.0 / 3 / 9000)));
}

TEST_CASE("losses: entropy where both laws agree, more where they do not", "[sim][language]") {
  RandomStream stream({.seed = 3, .id = StreamId::self_test});
  const MarkovClone clone = chain(2);
  const MaskedWindows masked = hide_one(chain_source(clone, 5)(20000, stream), stream);
  const Laws p = chain_laws(clone, masked);
  const Laws q = chain_laws(chain(1), masked);
  CHECK(mean_cross_entropy(p, p) == mean_entropy(p));
  CHECK(mean_cross_entropy(p, q) > mean_entropy(p));
  // The hidden symbol is drawn from p: five standard errors of a deviation of about 0.6.
  CHECK(mean_loss(p, masked) == Approx(mean_entropy(p)).margin(5 * 0.6 / std::sqrt(20000.0)));
  for (Index k = 0; k < 10; ++k) CHECK(p.row(k).sum() == Approx(1));
}

TEST_CASE("pattern_variation: known values", "[sim][language]") {
  Windows a(2, 3);
  a << 0, 1, 0, 1, 0, 1;
  Windows b(2, 3);
  b << 0, 0, 0, 1, 1, 1;
  CHECK(pattern_variation(a, a, 2, {0, 1}) == 0);
  CHECK(pattern_variation(a, b, 2, {0}) == Approx(0).margin(1e-15));
  CHECK(pattern_variation(a, b, 2, {0, 1}) == Approx(1));  // no neighbours in common
  CHECK(pattern_variation(a, b, 2, {0, 2}) == Approx(0).margin(1e-15));
  CHECK(refused([&] { static_cast<void>(pattern_variation(a, b, 2, {0, 3})); }) == "pattern");
}

}  // namespace language_windows_test
