#include "attica/plots/axes.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/error.hpp"

using namespace attica;
using namespace attica::plots;

namespace axes_test {

std::vector<std::string> labels(const Range& range, int wanted) {
  std::vector<std::string> texts;
  for (const Tick& tick : choose_ticks(range, wanted)) {
    if (tick.major) texts.push_back(tick.label);
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST_CASE("choose_ticks: linear axes have round numbers", "[plots]") {
  CHECK(labels({0, 1}, 6) == Texts{"0", "0.2", "0.4", "0.6", "0.8", "1.0"});
  CHECK(labels({-12, 12}, 4) == Texts{"−10", "0", "10"});
  CHECK(labels({0, 3e6}, 4) == Texts{"0", "1×10^{6}", "2×10^{6}", "3×10^{6}"});
  CHECK(labels({0, 2.1e-7}, 4) == Texts{"0", "1×10^{−7}", "2×10^{−7}"});
  CHECK(labels({1, 1.0003}, 5) == Texts{"1.0000", "1.0001", "1.0002", "1.0003"});
}

TEST_CASE("choose_ticks: logarithmic axes", "[plots]") {
  const auto log = AxisScale::log;
  CHECK(labels({0.2, 4, log}, 6) == Texts{"0.2", "0.5", "1", "2"});
  CHECK(labels({0.05, 20, log}, 6) == Texts{"0.1", "1", "10"});
  CHECK(labels({1e-5, 1e-2, log}, 6) == Texts{"10^{−5}", "10^{−4}", "10^{−3}", "10^{−2}"});
  CHECK(labels({1e-12, 1e12, log}, 5).size() <= 5);
  CHECK(labels({1e-300, 1e300, log}, 5).size() >= 2);
  CHECK(labels({1.1, 1.4, log}, 5).size() >= 2);  // no power of ten within
}

TEST_CASE("choose_ticks: labels of a logarithmic axis span it and stand apart", "[plots]") {
  const auto log = AxisScale::log;
  CHECK(labels({0.84, 1.4, log}, 9) == Texts{"0.9", "1.0", "1.1", "1.2", "1.3", "1.4"});
  CHECK(labels({0.022, 0.18, log}, 9) == Texts{"0.03", "0.05", "0.07", "0.1"});
  for (const double low : {0.0031, 0.2, 0.36, 1.0, 7.3}) {
    for (double factor = 1.3; factor < 1e4; factor *= 1.07) {
      const Range range{low, low * factor, log};
      std::vector<double> places;
      for (const Tick& tick : choose_ticks(range, 9)) {
        if (tick.major) places.push_back(range.position(tick.position));
      }
      CAPTURE(low, factor);
      REQUIRE(places.size() >= 2);
      for (std::size_t i = 1; i < places.size(); ++i) CHECK(places[i] - places[i - 1] > 0.06);
      CHECK(places.back() - places.front() > 0.35);
    }
  }
}

TEST_CASE("choose_ticks: never more labels than wanted, always two, all inside", "[plots]") {
  for (const double low : {-3.7e4, -1.0, 1e-9, 0.013, 5.0, 99999.0}) {
    for (const double width : {1e-6, 0.3, 7.0, 1e8}) {
      for (const AxisScale scale : {AxisScale::linear, AxisScale::log}) {
        if (scale == AxisScale::log && low <= 0) continue;
        const Range range{low, low + width, scale};
        for (int wanted = 3; wanted < 9; ++wanted) {
          const auto ticks = choose_ticks(range, wanted);
          int majors = 0;
          for (const Tick& tick : ticks) {
            majors += tick.major ? 1 : 0;
            CHECK(range.position(tick.position) > -1e-6);
            CHECK(range.position(tick.position) < 1 + 1e-6);
          }
          CHECK(majors <= wanted);
          CHECK(majors >= (wanted > 3 ? 2 : 1));
        }
      }
    }
  }
}

TEST_CASE("fit_range: shows the data with room, from zero where that is near", "[plots]") {
  const Range from_zero = fit_range({"y"}, {0.1, 2});
  CHECK(from_zero.low == 0);
  CHECK(from_zero.high > 2);
  const Range offset = fit_range({"y"}, {5, 6});
  CHECK(offset.low == Approx(4.95));
  CHECK(offset.high == Approx(6.05));
  const Range log = fit_range({"y", AxisScale::log}, {-1, 0, 0.1, 10});
  CHECK(log.low == Approx(0.1 / std::pow(100, kRoom)));
  CHECK(log.high == Approx(10 * std::pow(100, kRoom)));
  for (const double value : {0.0, 1.0, -3e-9, 2e200}) {
    const Range single = fit_range({"y"}, {value, value});
    CHECK(single.low < value);
    CHECK(value < single.high);
  }
  CHECK(fit_range({"y", AxisScale::linear, 0, 1}, {7, 9}).high == 1);
}

TEST_CASE("fit_range: refuses impossible fixed ends", "[plots]") {
  CHECK_THROWS_AS(fit_range({"y", AxisScale::log, 0.0}, {1, 2}), Error);
  CHECK_THROWS_AS(fit_range({"y", AxisScale::linear, 3, 2}, {1, 2}), Error);
  CHECK_THROWS_AS(fit_range({"y", AxisScale::linear, std::nan("")}, {1, 2}), Error);
}

TEST_CASE("Range: value is the inverse of position", "[plots]") {
  for (const Range range : {Range{-2, 5}, Range{1e-3, 40, AxisScale::log}}) {
    for (const double position : {-0.1, 0.0, 0.3, 1.0}) {
      CHECK(range.position(range.value(position)) == Approx(position).margin(1e-12));
    }
  }
}

}  // namespace axes_test
