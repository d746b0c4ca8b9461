// Every index once, whatever the number of threads; what a piece throws arrives.

#include "attica/core/parallel.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace attica;

TEST_CASE("in_parallel: every index once, in calls within calls too", "[core][parallel]") {
  for (const std::size_t count : {0, 1, 2, 100}) {
    std::vector<std::vector<int>> calls(count, std::vector<int>(3, 0));
    in_parallel(count,
                [&](std::size_t i) { in_parallel(3, [&](std::size_t j) { ++calls[i][j]; }); });
    CHECK(calls == std::vector(count, std::vector<int>(3, 1)));
  }
}

TEST_CASE("on_threads: every thread once, what one throws is thrown", "[core][parallel]") {
  std::array<int, 3> calls = {};
  on_threads(3, [&](int k) { ++calls[static_cast<std::size_t>(k)]; });
  CHECK(calls == std::array<int, 3>{1, 1, 1});
  const auto third = [](int k) {
    if (k == 2) throw std::out_of_range("the third");
  };
  CHECK_THROWS_AS(on_threads(3, third), std::out_of_range);
}

TEST_CASE("in_parallel: what one throws is thrown", "[core][parallel]") {
  const auto fail_at = [](std::size_t where) {
    in_parallel(50, [&](std::size_t k) {
      if (k == where) throw std::out_of_range("here");
    });
  };
  CHECK_THROWS_AS(fail_at(0), std::out_of_range);
  CHECK_THROWS_AS(fail_at(49), std::out_of_range);
  CHECK_NOTHROW(fail_at(50));
}

TEST_CASE("parallel_map: results in the order of the values", "[core][parallel]") {
  std::vector<int> values(100);
  std::iota(values.begin(), values.end(), -50);
  const std::vector<double> squares = parallel_map(values, [](int v) { return 1.0 * v * v; });
  REQUIRE(squares.size() == values.size());
  for (std::size_t k = 0; k < values.size(); ++k) CHECK(squares[k] == values[k] * values[k]);
  CHECK(parallel_map(std::vector<int>{}, [](int v) { return v; }).empty());
}

TEST_CASE("ThreadLimit: one thread is the calling one", "[core][parallel]") {
  const ThreadLimit limit(1);
  std::vector<std::thread::id> threads(200);
  in_parallel(threads.size(), [&](std::size_t k) { threads[k] = std::this_thread::get_id(); });
  CHECK(std::set(threads.begin(), threads.end()) == std::set{std::this_thread::get_id()});
}
