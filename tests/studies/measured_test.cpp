/// Tolerances that were measured hold where they were.

#include "attica/studies/measured.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "attica/studies/parameters.hpp"
#include "attica/studies/registry.hpp"

using namespace attica;

namespace measured_test {

Configuration configured(double rate, std::int64_t size, const std::vector<double>& swept) {
  Configuration c("some",
                  {real_parameter("sim.rate", 1.0, ""),
                   integer_parameter("model.size", 1, ""),
                   reals_parameter("sweep.lambda", swept, "")});
  c.set("sim.rate", rate, true);
  c.set("model.size", size, true);
  c.set("sweep.lambda", Value(swept), true);
  return c;
}

Prediction prediction(const std::string& name, const std::string& x_name, const Point& point) {
  Prediction p;
  p.series.name = name;
  p.series.x_name = x_name;
  p.series.point = point;
  p.series.x = {0.5, 1, 2};
  p.series.y = {1, 2, 3};
  return p;
}

std::vector<bool> left(const MeasuredRange& range, const Configuration& c, Prediction p) {
  leave_out_unmeasured({range}, c, p);
  return p.compared;
}

TEST_CASE("Outside of the measured range a point is not compared", "[studies]") {
  const Configuration c = configured(0.2, 30, {0.5, 2});
  const std::vector<bool> none(3, false);
  const auto ranged = [](const char* key, Range range) {
    return MeasuredRange{{"a", "b"}, {{key, range}}};
  };
  const Range small{.low = 0, .high = 1};
  CHECK(left(ranged("sim.rate", small), c, prediction("a", "t", {})).empty());
  CHECK(left(ranged("sim.rate", {.high = 0.1}), c, prediction("b", "t", {})) == none);
  CHECK(left(ranged("sim.rate", {.high = 0.1}), c, prediction("other", "t", {})).empty());
  CHECK(left(ranged("model.size", {.low = 31}), c, prediction("a", "t", {})) == none);
  CHECK(left(ranged("model.absent", small), c, prediction("a", "t", {})).empty());
  // Along x, at a coordinate, and a list that is neither.
  CHECK(left(ranged("sweep.lambda", small), c, prediction("a", "lambda", {})) ==
        std::vector<bool>{true, true, false});
  CHECK(left(ranged("sweep.lambda", small), c, prediction("a", "t", {{"lambda", 0.5}})).empty());
  CHECK(left(ranged("sweep.lambda", small), c, prediction("a", "t", {{"lambda", 2.0}})) == none);
  CHECK(left(ranged("sweep.lambda", small), c, prediction("a", "t", {})) == none);
}

TEST_CASE("Measured ranges of the cards name series and parameters that there are", "[studies]") {
  std::size_t found = 0;
  for (const Study& study : built_in()) {
    for (const MeasuredRange& range : measured_ranges(study.name)) {
      CAPTURE(study.name);
      ++found;
      CHECK_FALSE(study.not_compared.empty());
      CHECK_FALSE(range.parameters.empty());
      for (const std::string& series : range.series)
        CHECK(std::ranges::find(study.series, series, &SeriesInfo::name) != study.series.end());
      for (const auto& [key, values] : range.parameters)
        CHECK(std::ranges::find(study.parameters, key, &Parameter::key) != study.parameters.end());
    }
  }
  CHECK(found > 0);
}

}  // namespace measured_test
