#pragma once
/// @file
/// @brief Independent pieces of one computation, on all threads that the process may use.

#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

namespace attica {

/// @brief f(0), ..., f(count - 1), in any order and at the same time. Each writes to a place of its
/// own, so that the result does not depend on the number of threads. What one throws is thrown
/// here.
void in_parallel(std::size_t count, const std::function<void(std::size_t)>& f);

/// @brief f of every value, in the order of the values, computed as `in_parallel` does.
template <class Values, class F>
auto parallel_map(const Values& values, const F& f) {
  using Result = std::decay_t<decltype(f(*values.begin()))>;
  static_assert(!std::is_same_v<Result, bool>, "elements of vector<bool> share their memory");
  std::vector<Result> results(values.size());
  in_parallel(values.size(), [&](std::size_t k) { results[k] = f(values[k]); });
  return results;
}

/// @brief f(0), ..., f(threads - 1), each on a thread of its own. What one throws is thrown here.
void on_threads(int threads, const std::function<void(int)>& f);

/// @brief As many as the process may use.
int default_threads();

/// @brief While it lives, the process computes on so many threads at most.
class ThreadLimit {
 public:
  /// @param threads 0: no limit
  explicit ThreadLimit(int threads);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

 private:
  struct Control;
  std::unique_ptr<Control> control_;
};

}  // namespace attica
