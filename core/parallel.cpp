#include "attica/core/parallel.hpp"

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace attica {

void in_parallel(std::size_t count, const std::function<void(std::size_t)>& f) {
  if (count == 1) return f(0);
  // A waiting thread must not start other work of the caller's: it may hold the caller's locks.
  tbb::this_task_arena::isolate(
      [&] { tbb::parallel_for(std::size_t{0}, count, [&](std::size_t k) { f(k); }); });
}

struct ThreadLimit::Control {
  tbb::global_control control;
};

ThreadLimit::ThreadLimit(int threads) {
  if (threads < 1) return;
  control_.reset(new Control{
      {tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads)}});
}

ThreadLimit::~ThreadLimit() = default;

}  // namespace attica
