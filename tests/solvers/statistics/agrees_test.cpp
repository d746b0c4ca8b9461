#include "attica/solvers/statistics/agrees.hpp"

#include <catch2/catch.hpp>
#include <random>

using namespace attica;

namespace {

std::vector<double> normal(double mean, std::size_t n, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> distribution(mean, 0.1);
  std::vector<double> values(n);
  for (double& value : values) value = distribution(engine);
  return values;
}

}  // namespace

TEST_CASE("replicates that agree pass, others say why they do not") {
  REQUIRE_THAT(normal(1, 200, 1), Agrees(1.0, {.relative = 0.05}));
  REQUIRE_THAT(normal(1, 200, 1), Agrees(1.0, {.absolute = 0.05}, Tails::normal));
  REQUIRE_THAT(normal(1.5, 200, 2), !Agrees(1.0, {.relative = 0.05}));

  const auto wrong = Agrees(1.0, {.relative = 0.05});
  REQUIRE_FALSE(wrong.match(normal(1.5, 200, 2)));
  REQUIRE(wrong.describe().find("DISAGREE, 0 of 1 points agree; value 0: simulation 1.") !=
          std::string::npos);
  REQUIRE_FALSE(wrong.match(normal(1, 10, 3)));
  REQUIRE(wrong.describe().find("INCONCLUSIVE") != std::string::npos);
  REQUIRE(wrong.describe().find("replicates would decide") != std::string::npos);
}

TEST_CASE("a list of replicates for each theory value") {
  const std::vector<std::vector<double>> data{normal(1, 200, 4), normal(2, 200, 5)};
  REQUIRE_THAT(data, Agrees(std::vector{1.0, 2.0}, {.relative = 0.05}));
  REQUIRE_THAT(data, !Agrees(std::vector{1.0, 2.4}, {.relative = 0.05}));
  REQUIRE_THROWS(Agrees(std::vector{1.0}, {.relative = 0.05}).match(data));
}
