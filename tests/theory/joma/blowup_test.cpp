/// The last moments before the blow-up: integration against closed forms.

#include "attica/theory/joma/blowup.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

#include "attica/theory/joma/linear.hpp"

using namespace attica;

TEST_CASE("erf_values_integrated: the closed form, to gaps of 1e-15", "[theory][joma]") {
  const std::vector<double> delta = {0.8, 0.3, -0.8, 0};
  const std::vector<double> gaps = {0.5, 1e-3, 1e-15};
  const auto v = erf_values_integrated(delta, gaps);
  for (std::size_t k = 0; k < gaps.size(); ++k) {
    const std::vector<double> exact = erf_values_at_gap(delta, gaps[k]);
    for (std::size_t l = 0; l < delta.size(); ++l)
      CHECK(v[k][l] == Approx(exact[l]).epsilon(1e-10));
  }
  CHECK(blowup_time_integrated(delta) ==
        Approx(std::sqrt(std::numbers::pi / 2) / 0.8).epsilon(1e-12));
}

TEST_CASE("attention_deficit: 1 - p where that can be told, and far beyond", "[theory][joma]") {
  const std::vector<double> delta = {1, 0.5, -1};
  const std::vector<double> p = joma_attention({2, 0.5, -2});
  CHECK(attention_deficit(delta, {2, 0.5, -2}) == Approx(1 - p[0] - p[2]).epsilon(1e-13));
  CHECK(attention_deficit(delta, {20, 0, -20}) == Approx(0.5 * std::exp(-200)).epsilon(1e-13));
}
