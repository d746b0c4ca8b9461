#include "attica/core/matching.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>

namespace attica {
namespace {

double read(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

/// As other programs print a number.
std::vector<double> prints(double x) {
  return {static_cast<double>(static_cast<float>(x)),
          read(fmt::format("{}", static_cast<float>(x))),
          read(fmt::format("{:g}", x)),
          read(fmt::format("{:.6f}", x)),
          read(fmt::format("{:.6e}", x)),
          read(fmt::format("{:.12g}", x)),
          read(fmt::format("{:.15g}", x))};
}

using Places = std::vector<std::optional<std::size_t>>;

}  // namespace

TEST_CASE("matching: a number is what others print of it", "[core][matching]") {
  for (const double x : {1.0 / 6,
                         2.0 / 3,
                         1.0 / 7,
                         0.1,
                         0.3,
                         12.3456789,
                         1e-1 / 3,
                         std::sqrt(2.0),
                         9.999996,
                         98765.4321,
                         0.25,
                         3.0,
                         1024.0,
                         1e6 / 7,
                         1234567.0}) {
    for (const double sign : {1.0, -1.0}) {
      for (const double printed : prints(x)) {
        CAPTURE(x, printed);
        CHECK(same_number(sign * x, sign * printed));
        CHECK(same_number(sign * printed, sign * x));
        CHECK_FALSE(same_number(sign * x, -sign * printed));
      }
    }
  }
  CHECK(same_number(1.0 / 3, 0.3333));
  CHECK(same_number(2.0 / 3, 0.66666));  // cut off
  CHECK(same_number(0.1 + 0.2, 0.3));
  CHECK(same_number(1e-3 / 7, read("1.42857e-4")));
  // Small numbers, of which %.6f leaves less than four digits, are not guessed at.
  CHECK_FALSE(same_number(1.4e-6, 1e-6));
}

TEST_CASE("matching: numbers that are near are not the same", "[core][matching]") {
  for (const auto& [a, b] : std::vector<std::pair<double, double>>{{0.2, 0.1667},
                                                                   {1, 1.0005},
                                                                   {0.333, 1.0 / 3},
                                                                   {1e-3, 1.1e-3},
                                                                   {1000, 1000.04},
                                                                   {1234, 1234.4},
                                                                   {1000000, 1000001},
                                                                   {16777216, 16777217},
                                                                   {123456, 123457},
                                                                   {1700000000, 1700000001},
                                                                   {1700000000, 1700000010},
                                                                   {1700000000.25, 1700000000.5},
                                                                   {1700000000, 1700000000.5},
                                                                   {20240131, 20240130},
                                                                   {0.1234, 0.1235},
                                                                   {0, 1e-12}}) {
    CAPTURE(a, b);
    CHECK_FALSE(same_number(a, b));
    CHECK_FALSE(same_number(b, a));
    CHECK_FALSE(same_number(-a, -b));
  }
  CHECK_FALSE(same_number(INFINITY, 1e308));
  CHECK(same_within_rounding(0.1 + 0.2, 0.3));
  CHECK_FALSE(same_within_rounding(0.166667, 1.0 / 6));
  CHECK_FALSE(same_within_rounding(1700000000, 1700000001));
}

TEST_CASE("matching: lists", "[core][matching]") {
  const std::vector<double> theory = {0, 1.0 / 6, 1.0 / 3, 0.5, 2.0 / 3, 1};
  CHECK(match_numbers(std::vector{0.0, 0.166667, 0.333333, 0.5, 0.666667, 1.0}, theory) ==
        Places{0, 1, 2, 3, 4, 5});
  // Only one of two can be meant, and it is the nearer one if the other is twice as far.
  CHECK(match_numbers(std::vector{0.166667}, std::vector{1.0 / 6, 0.1666673}) ==
        Places{std::nullopt});
  CHECK(match_numbers(std::vector{0.166667}, std::vector{1.0 / 6, 0.1666679}) == Places{0});
  CHECK(match_numbers(std::vector{0.166667, 1.0 / 6}, theory) == Places{std::nullopt, 1});
  CHECK(match_numbers(std::vector{0.4}, theory) == Places{std::nullopt});
  // The middle of a range that was added up.
  CHECK(match_numbers(std::vector{-1.0, -2.2e-16, 1.0}, std::vector{-1.0, 0.0, 1.0}) ==
        Places{0, 1, 2});
  CHECK(match_numbers(std::vector{0.0, 1e-9}, std::vector{0.0, 1.0}) == Places{0, std::nullopt});
  // As the user says.
  CHECK(match_numbers(std::vector{0.34}, theory, 0.05) == Places{2});
  CHECK(match_numbers(std::vector{0.34, 0.32}, theory, 0.05) == Places{2, std::nullopt});
  // As near to one as to another, as far as decimals say.
  CHECK(match_numbers(std::vector{1.1}, std::vector{1.0, 1.2}, 0.2) == Places{std::nullopt});
  CHECK(match_numbers(std::vector{1.0 / 6}, std::vector{0.166667}, 0.0) == Places{std::nullopt});
  CHECK(match_numbers({}, theory).empty());
  CHECK(match_numbers(std::vector{1.0}, {}) == Places{std::nullopt});
  // Times in seconds since 1970, an observation a second.
  std::vector<double> times;
  for (int k = 0; k < 50; ++k) times.push_back(1700000000 + k);
  const Places all = match_numbers(times, times);
  for (std::size_t k = 0; k < times.size(); ++k) CHECK(all[k] == k);
  CHECK(match_numbers(std::vector{1700000000.5}, times) == Places{std::nullopt});
}

TEST_CASE("matching: points", "[core][matching]") {
  CHECK(same_point({{"a", 1.0 / 3}, {"b", "x"}}, {{"b", "x"}, {"a", 0.333333}}));
  CHECK_FALSE(same_point({{"a", 1.0 / 3}}, {{"a", 0.3}}));
  CHECK_FALSE(same_point({{"a", 1.0}}, {{"a", "1"}}));
  CHECK_FALSE(same_point({{"a", 1.0}}, {{"a", 1.0}, {"b", 1.0}}));
  CHECK(nearest_number(0.3, std::vector{0.1, 0.25, 0.5}) == 0.25);
  CHECK_FALSE(nearest_number(0.3, {}));
  CHECK(relative_distance(0.166667, 1.0 / 6) == Approx(2e-6).epsilon(1e-3));
}

}  // namespace attica
