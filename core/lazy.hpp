#pragma once
/// @file
/// @brief A value that is computed when it is first needed.

#include <functional>
#include <memory>
#include <mutex>
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
    if (!value_) value_.reset(new T(compute_()));  // in place: T need not be movable
    return *value_;
  }

 private:
  std::function<T()> compute_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<const T> value_;
};

}  // namespace attica
