#include "attica/core/parallel.hpp"

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <atomic>
#include <future>
#include <vector>

namespace attica {

#ifdef ATTICA_THREAD_SANITIZER

// The thread sanitizer does not see how TBB, which is not instrumented, orders its tasks.
void on_threads(int threads, const std::function<void(int)>& f) {
  std::vector<std::future<void>> running;
  for (int k = 0; k < threads; ++k) running.push_back(std::async(std::launch::async, f, k));
  for (std::future<void>& one : running) one.get();
}

void in_parallel(std::size_t count, const std::function<void(std::size_t)>& f) {
  constexpr int kThreads = 2;
  std::atomic<std::size_t> next = 0;
  on_threads(kThreads, [&](int) {
    for (std::size_t k = next++; k < count; k = next++) f(k);
  });
}

#else

void on_threads(int threads, const std::function<void(int)>& f) {
  tbb::task_arena arena(threads);
  arena.execute([&] { tbb::parallel_for(0, threads, f, tbb::static_partitioner()); });
}

void in_parallel(std::size_t count, const std::function<void(std::size_t)>& f) {
  if (count == 1) return f(0);
  // A waiting thread must not start other work of the caller's: it may hold the caller's locks.
  tbb::this_task_arena::isolate(
      [&] { tbb::parallel_for(std::size_t{0}, count, [&](std::size_t k) { f(k); }); });
}

#endif

int default_threads() { return tbb::this_task_arena::max_concurrency(); }

struct ThreadLimit::Control {
  explicit Control(std::size_t threads)
      : control(tbb::global_control::max_allowed_parallelism, threads) {}
  tbb::global_control control;
};

ThreadLimit::ThreadLimit(int threads) {
  if (threads < 1) return;
  control_ = std::make_unique<Control>(static_cast<std::size_t>(threads));
}

ThreadLimit::~ThreadLimit() = default;

}  // namespace attica
