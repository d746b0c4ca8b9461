#pragma once
/// @file
/// @brief Studies by name, each read from its card when it is first asked for.

#include <cstddef>
#include <deque>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "attica/studies/study.hpp"

namespace attica {

/// A study that is not made yet: making one reads its card.
struct NamedStudy {
  std::string_view name;
  Study (*make)();
};

/// @brief The studies that a program knows, in their order. May be used by several threads at once;
/// references to studies stay valid as long as it lives.
class Registry {
 public:
  /// @brief Studies that exist. They are not copied: they must outlive it.
  Registry(const std::vector<Study>& studies);  // NOLINT: a list of studies is a registry

  /// @brief Studies that are made when they are first asked for.
  explicit Registry(const std::vector<NamedStudy>& studies);

  std::size_t size() const { return slots_.size(); }
  const Study& operator[](std::size_t index) const;

  /// @brief Name of the study at that place, without making it.
  std::string_view name(std::size_t index) const { return slots_[index].name; }
  /// @brief Its question, without making it where an embedded card has it.
  std::string_view question(std::size_t index) const;

  /// @brief The study of that name; null if there is none. Makes no other.
  const Study* find(std::string_view name) const;

  /// Makes the studies one by one.
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Study;
    using difference_type = std::ptrdiff_t;
    using pointer = const Study*;
    using reference = const Study&;

    Iterator() = default;
    Iterator(const Registry& registry, std::size_t index) : registry_(&registry), index_(index) {}
    reference operator*() const { return (*registry_)[index_]; }
    pointer operator->() const { return &**this; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const Registry* registry_ = nullptr;
    std::size_t index_ = 0;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

 private:
  struct Slot {
    std::string_view name;
    Study (*make)() = nullptr;
    const Study* study = nullptr;  ///< one that exists
    std::once_flag once = {};
    std::unique_ptr<const Study> made = {};
  };
  mutable std::deque<Slot> slots_;
};

/// @brief The studies that come with attica, in the order of `attica list`.
const Registry& built_in();

}  // namespace attica
