// A lazy value is computed once, whoever asks, and only if somebody asks.

#include "attica/core/lazy.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace attica;

TEST_CASE("Lazy: computed once by many threads, and not before", "[core][lazy]") {
  std::atomic<int> calls = 0;
  const Lazy<int> value([&] { return ++calls; });
  CHECK(calls == 0);
  std::vector<std::jthread> threads;
  constexpr int kThreads = 8;
  std::atomic<int> sum = 0;
  for (int k = 0; k < kThreads; ++k) threads.emplace_back([&] { sum += value.get(); });
  threads.clear();
  CHECK(calls == 1);
  CHECK(sum == kThreads);
}

TEST_CASE("Lazy: a failure is passed on, and tried again", "[core][lazy]") {
  int calls = 0;
  const Lazy<int> value([&] {
    if (++calls == 1) throw std::runtime_error("first");
    return calls;
  });
  CHECK_THROWS_AS(value.get(), std::runtime_error);
  CHECK(value.get() == 2);
}

TEST_CASE("SharedCache: one value of a type, as long as it is asked for by the same numbers",
          "[core][lazy]") {
  SharedCache kept;
  int made = 0;
  const auto at = [&](std::vector<double> numbers) {
    return kept.get<std::vector<double>>(numbers, [&] {
      ++made;
      return std::make_shared<const std::vector<double>>(numbers);
    });
  };
  const auto first = at({1, 2});
  CHECK(at({1, 2}) == first);
  CHECK(made == 1);
  const auto second = at({1, 3});
  CHECK(*second == std::vector<double>{1, 3});
  CHECK(*first == std::vector<double>{1, 2});  // still there for who holds it
  CHECK(at({1, 2}) != first);
  CHECK(made == 3);
  CHECK(*kept.get<int>({1, 2}, [] { return std::make_shared<const int>(7); }) == 7);
  CHECK(*at({1, 2}) == std::vector<double>{1, 2});
  CHECK(made == 3);
  // What could not be made is not kept.
  const auto fail = [&]() -> std::shared_ptr<const int> { throw std::runtime_error("no"); };
  CHECK_THROWS_AS(kept.get<int>({9}, fail), std::runtime_error);
  CHECK(*kept.get<int>({9}, [] { return std::make_shared<const int>(8); }) == 8);
}
