#include "attica/sources/interpolation.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "attica/core/error.hpp"

using namespace attica;
using attica::sources::interpolate_linearly;
using attica::sources::Interpolation;

namespace interpolation_test {

Prediction curve(std::vector<double> x, double (*f)(double)) {
  Prediction p{.series = {.name = "y", .point = {}, .x_name = "x", .x = std::move(x), .y = {}}};
  for (const double v : p.series.x) p.series.y.push_back(f(v));
  return p;
}
Series simulated(std::vector<double> x) {
  Series s{.name = "y", .point = {}, .x_name = "x", .x = std::move(x), .y = {}};
  s.y.assign(s.x.size(), 0.0);
  return s;
}

}  // namespace interpolation_test

TEST_CASE("interpolation: of a parabola the estimated error is the error") {
  using namespace interpolation_test;
  std::vector<Prediction> theory{curve({3, 1, 2, 5}, [](double x) { return 3 * x * x - x; })};
  const Interpolation done = interpolate_linearly(theory, {simulated({1.25, 2, 2.5, 4.5, 5.5})});
  CHECK(done.values == 3);  // 2 is there, 5.5 lies outside
  const Prediction& p = theory.front();
  CHECK(p.series.x == std::vector<double>{1, 1.25, 2, 2.5, 3, 4.5, 5});
  for (std::size_t k = 0; k < p.series.x.size(); ++k) {
    const double x = p.series.x[k];
    CHECK(p.numerical_error[k] == Approx(std::abs(p.series.y[k] - (3 * x * x - x))).margin(1e-12));
    CHECK(p.compared[k]);
  }
}

TEST_CASE("interpolation: of a smooth curve the estimate has the size of the error") {
  using namespace interpolation_test;
  std::vector<double> grid;
  for (int k = 0; k <= 20; ++k) grid.push_back(0.1 * k);
  std::vector<Prediction> theory{curve(grid, [](double x) { return std::exp(-x); })};
  interpolate_linearly(theory, {simulated({0.05, 0.77, 1.93})});
  for (std::size_t k = 0; k < theory[0].series.x.size(); ++k) {
    const double error = std::abs(theory[0].series.y[k] - std::exp(-theory[0].series.x[k]));
    CHECK(theory[0].numerical_error[k] >= 0.95 * error);  // f''' moves it by h/3 f'''/f'' at most
    CHECK(theory[0].numerical_error[k] <= 1.2 * error + 1e-15);
  }
}

TEST_CASE("interpolation: what is missing stays missing, other curves stay as they are") {
  using namespace interpolation_test;
  Prediction broken = curve({1, 2, 3, 4}, [](double x) { return x; });
  broken.series.y[1] = std::numeric_limits<double>::infinity();
  broken.compared = {true, true, true, false};
  broken.finite_size = {0.1, 0.2, 0.3, 0.4};
  Prediction other = curve({1, 2, 3}, [](double x) { return x; });
  other.series.name = "z";
  std::vector<Prediction> theory{broken, other};
  CHECK(interpolate_linearly(theory, {simulated({1.5, 3.5})}).values == 2);
  CHECK(std::isinf(theory[0].series.y[1]));
  CHECK(theory[0].series.y[4] == 3.5);
  CHECK(theory[0].finite_size[4] == 0.4);
  CHECK_FALSE(theory[0].compared[4]);
  CHECK(theory[1].series.x.size() == 3);
  std::vector<Prediction> two{curve({1, 2}, [](double x) { return x; })};
  CHECK_THROWS_AS(interpolate_linearly(two, {simulated({1.5})}), Error);
  CHECK(interpolate_linearly(two, {simulated({2})}).values == 0);
}
