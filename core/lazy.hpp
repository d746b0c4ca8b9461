#pragma once
/// @file
/// @brief A value that is computed when it is first needed.

#include <functional>
#include <mutex>
#include <optional>
#include <utility>

namespace attica {

/// @brief Computes a value at its first use, once, whichever thread asks first; the others wait.
/// If the computation throws, so does `get`, and the next call tries again.
template <class T>
class Lazy {
 public:
  /// @param compute a function of values it owns: it may run long after the object was built
  explicit Lazy(std::function<T()> compute) : compute_(std::move(compute)) {}

  const T& get() const {
    const std::scoped_lock lock(mutex_);
    if (!value_) value_.emplace(compute_());
    return *value_;
  }

 private:
  std::function<T()> compute_;
  mutable std::mutex mutex_;
  mutable std::optional<T> value_;
};

}  // namespace attica
