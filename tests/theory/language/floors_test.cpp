#include "attica/theory/language/floors.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/random.hpp"
#include "refused.hpp"

using namespace attica;
using attica::testing::refused;
using Eigen::Index;

namespace language_floors_test {

constexpr Index kSymbols = 3;
constexpr Index kSites = 6;

std::shared_ptr<const TupleFrequencies> frequencies(int order, std::size_t length = 500) {
  RandomStream stream({.seed = 5, .id = StreamId::self_test});
  std::vector<Symbol> sequence;
  for (std::size_t k = 0; k < length; ++k) {
    const std::size_t back = k < 3 ? 0 : sequence[k - 1] * sequence[k - 2] + sequence[k - 3];
    sequence.push_back(static_cast<Symbol>((back + stream.below(2)) % kSymbols));
  }
  return std::make_shared<const TupleFrequencies>(sequence, kSymbols, order);
}

/// All windows with their probabilities.
template <class Visit>
void for_all_windows(const MarkovClone& chain, const Visit& visit) {
  std::vector<Symbol> window(kSites);
  for (int code = 0; code < 729; ++code) {
    double p = 1;
    for (int rest = code, k = 0; k < kSites; ++k, rest /= 3) {
      window[static_cast<std::size_t>(k)] = static_cast<Symbol>(rest % 3);
    }
    for (Index k = 0; k < kSites; ++k) {
      p *= chain.next(window.data(), k)[window[static_cast<std::size_t>(k)]];
    }
    visit(window, p);
  }
}

TEST_CASE("masked_floor: the entropy over all windows, by enumeration", "[theory][language]") {
  const auto p = frequencies(4);
  for (int order = 1; order <= 4; ++order) {
    const MarkovClone chain(p, order);
    double entropy = 0;
    std::vector<double> law(kSymbols);
    for_all_windows(chain, [&](const std::vector<Symbol>& window, double probability) {
      for (Index i = 0; i < kSites; ++i) {
        chain.conditional(window.data(), kSites, i, law.data());
        entropy -= probability * std::log(law[window[static_cast<std::size_t>(i)]]) / kSites;
      }
    });
    CHECK(masked_floor(chain, kSites) == Approx(entropy).epsilon(1e-12));
  }
}

TEST_CASE("masked_floor: of independent symbols the entropy of one; below it for higher orders",
          "[theory][language]") {
  const auto p = frequencies(3);
  double entropy = 0;
  for (Index a = 0; a < kSymbols; ++a) entropy -= p->row(1, 0)[a] * std::log(p->row(1, 0)[a]);
  CHECK(masked_floor(MarkovClone(p, 1), kSites) == Approx(entropy).epsilon(1e-13));
  CHECK(masked_floor(MarkovClone(p, 2), kSites) < entropy);
  CHECK(masked_floor(MarkovClone(p, 3), kSites) < masked_floor(MarkovClone(p, 2), kSites));
}

TEST_CASE("masked_floor: too many terms are refused", "[theory][language]") {
  const std::vector<Symbol> sequence(100, 1);
  const auto p = std::make_shared<const TupleFrequencies>(sequence, 40, 4);
  CHECK(floor_is_exact(27, 3));
  CHECK_FALSE(floor_is_exact(27, 4));
  CHECK(refused([&] { static_cast<void>(masked_floor(MarkovClone(p, 4), 8)); }) == "order");
}

TEST_CASE("masked_plateau: on windows of a planted chain it is the floor from its order on",
          "[theory][language]") {
  // A text of order 2 (2e5 symbols): clones of orders 2 and 3 that were estimated on it predict a
  // second such text equally well, and as well as the truth; order 1 does worse.
  RandomStream stream({.seed = 6, .id = StreamId::self_test});
  const double after[3][3] = {{0.7, 0.2, 0.1}, {0.1, 0.3, 0.6}, {0.5, 0.1, 0.4}};
  const auto draw = [&](std::size_t length) {
    std::vector<Symbol> sequence = {0};
    while (sequence.size() < length) {
      double left = stream.uniform();
      Symbol a = 0;
      while (a < 2 && left >= after[sequence.back()][a]) left -= after[sequence.back()][a++];
      sequence.push_back(a);
    }
    return sequence;
  };
  const auto p = std::make_shared<const TupleFrequencies>(draw(200000), kSymbols, 3);
  const Windows windows = even_windows(draw(200000), kSites, 200000);
  const double floor = masked_floor(MarkovClone(p, 2), kSites);
  // Standard deviation of a loss about 0.5, correlated over a few sites: 2e5 symbols give 0.002.
  CHECK(masked_plateau(MarkovClone(p, 2), windows) == Approx(floor).margin(0.008));
  CHECK(masked_plateau(MarkovClone(p, 3), windows) ==
        Approx(masked_plateau(MarkovClone(p, 2), windows)).margin(0.001));
  CHECK(masked_plateau(MarkovClone(p, 1), windows) > floor + 0.1);
}

}  // namespace language_floors_test
