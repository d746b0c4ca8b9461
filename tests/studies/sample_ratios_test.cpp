#include "attica/studies/sample_ratios.hpp"

#include <catch2/catch.hpp>

using namespace attica;
using Catch::Contains;

namespace sample_ratios_test {

Configuration configured(const List& ratios, bool given) {
  Configuration c("test",
                  {{.key = "sweep.alpha",
                    .type = ParameterType::real,
                    .fallback = std::nullopt,
                    .meaning = "samples per input",
                    .list = true}});
  c.set("sweep.alpha", ratios, given);
  return c;
}

SampleSizes sizes(const Configuration& c, double inputs) {
  return {c.reals("sweep.alpha"), inputs, 1e6, "sweep.alpha", SampleCheck::when_used};
}

TEST_CASE("ratios: what is rounded is said, where somebody gave it", "[studies]") {
  const Configuration c = configured({0.5, 1.0, 2.03}, true);
  const std::vector<std::string> lines = rounded_ratios(c, sizes(c, 9));
  REQUIRE(lines.size() == 1);
  CHECK_THAT(lines.front(),
             Contains("alpha = 0.5 is run at M = 5, alpha = 0.5556") &&
                 Contains("alpha = 2.03 is run at M = 18, alpha = 2") && !Contains("alpha = 1 "));
  const Configuration exact = configured({0.5, 1.0}, true);
  CHECK(rounded_ratios(exact, sizes(exact, 10)).empty());
  const Configuration grid = configured({0.5, 1.0}, false);
  CHECK(rounded_ratios(grid, sizes(grid, 9)).empty());
}

TEST_CASE("ratios: of one number of samples they are refused, or merged in a default",
          "[studies]") {
  const Configuration two = configured({0.5, 0.51}, true);
  CHECK_THROWS_WITH(require_distinct_samples(sizes(two, 9)), Contains("0.5 has M = 5 too"));
  CHECK_NOTHROW(require_distinct_samples(sizes(two, 1000)));
  Configuration grid = configured({0.5, 0.51, 2.0}, false);
  with_distinct_ratios(grid, 9);
  CHECK(grid.reals("sweep.alpha") == std::vector<double>{5.0 / 9, 2.0});
  CHECK_NOTHROW(require_distinct_samples(sizes(grid, 9)));
  Configuration kept = configured({0.5, 2.0}, false);
  with_distinct_ratios(kept, 9);
  CHECK(kept.reals("sweep.alpha") == std::vector<double>{0.5, 2.0});
}

}  // namespace sample_ratios_test
