#pragma once
/// @file
/// @brief Values that are computed when they are first needed, and not twice.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <typeindex>
#include <utility>
#include <vector>

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

/// @brief Of every type the last value that was asked for, for whoever wants one made of the same
/// numbers.
class SharedCache {
 public:
  /// @param made_of all that the value depends on
  template <class T>
  std::shared_ptr<const T> get(std::vector<double> made_of,
                               const std::function<std::shared_ptr<const T>()>& make) {
    const std::scoped_lock lock(mutex_);
    Entry& entry = entries_[std::type_index(typeid(T))];
    if (!entry.value || entry.made_of != made_of) {
      entry = {};
      entry.value = make();
      entry.made_of = std::move(made_of);
    }
    return std::static_pointer_cast<const T>(entry.value);
  }

 private:
  struct Entry {
    std::vector<double> made_of;
    std::shared_ptr<const void> value;
  };
  std::mutex mutex_;
  std::map<std::type_index, Entry> entries_;
};

}  // namespace attica
