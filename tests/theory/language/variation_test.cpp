#include "attica/theory/language/variation.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "attica/core/random.hpp"

using namespace attica;

TEST_CASE("independent_pair_variation: that of drawn pairs",
          "[theory][language][study:language-clones]") {
  // A text of alternating runs, whose neighbours are far from independent.
  std::vector<Symbol> text;
  for (int k = 0; k < 400; ++k) text.push_back(static_cast<Symbol>((k / 3) % 3));
  const std::vector<double> p = {0.2, 0.3, 0.5};
  constexpr int kDrawn = 500;
  Eigen::ArrayXXd pairs = Eigen::ArrayXXd::Zero(3, 3);
  for (std::size_t k = 0; k + 1 < text.size(); ++k) pairs(text[k], text[k + 1]) += 1;
  pairs /= pairs.sum();
  RandomStream stream({.seed = 5});
  const auto symbol = [&] {
    const double u = stream.uniform();
    return u < p[0] ? 0 : u < p[0] + p[1] ? 1 : 2;
  };
  constexpr int kSets = 400;
  double mean = 0;
  for (int set = 0; set < kSets; ++set) {
    Eigen::ArrayXXd counts = Eigen::ArrayXXd::Zero(3, 3);
    for (int k = 0; k < kDrawn; ++k) counts(symbol(), symbol()) += 1;
    mean += (counts / kDrawn - pairs).abs().sum() / 2 / kSets;
  }
  // Counts are binomial, not Poisson: a share p of their variance less; means scatter by 0.001.
  CHECK(independent_pair_variation(text, p.data(), 3, kDrawn) == Approx(mean).epsilon(0.02));
}

TEST_CASE("independent_pair_variation: of many pairs that between the laws",
          "[theory][language][study:language-clones]") {
  const std::vector<Symbol> text = {0, 1, 0, 1, 0};
  const std::vector<double> p = {0.5, 0.5};
  // Pairs 01 and 10 have 1/2 each; independent ones 1/4.
  CHECK(independent_pair_variation(text, p.data(), 2, 1e6) == Approx(0.5).epsilon(1e-3));
}
