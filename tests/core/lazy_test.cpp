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
