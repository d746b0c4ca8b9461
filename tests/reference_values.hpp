#pragma once
/// @file
/// @brief The values of tests/reference/*.json, computed by independent programs, and how tests
/// read them.

#include <Eigen/Core>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attica::testing {

template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = true;

/// @brief What a reference value is read as: a number, a string, a std::vector of these.
template <class T>
concept Readable = std::floating_point<T> ||
                   (std::integral<T> && !std::same_as<T, char> && !std::same_as<T, bool>) ||
                   std::same_as<T, std::string> || kIsVector<T>;

/// @brief A value of a reference file: a number, a string, a list or an object of such. A handle of
/// one pointer, to be copied; files stay open. What is not there, or is of another type, throws.
/// Only the source knows nlohmann/json: to instantiate its conversions takes seconds in every test.
class Reference {
 public:
  class Iterator;

  /// @brief The value of that key, or at that position of a list.
  Reference operator[](const char* key) const;
  Reference operator[](const std::string& key) const;
  template <std::integral Index>
  Reference operator[](Index position) const {
    return element(static_cast<std::size_t>(position));
  }
  template <class Key>
  Reference at(const Key& key) const {
    return (*this)[key];
  }
  /// @brief The last of a list.
  Reference back() const;

  /// @brief The value of that key, or the fallback.
  double value(const char* key, double fallback) const;
  std::string value(const char* key, const char* fallback) const;

  std::size_t size() const;
  bool contains(const char* key) const;
  bool is_array() const;
  bool is_null() const;
  bool is_number() const;
  bool is_string() const;

  double real() const;
  std::int64_t integer() const;
  std::string text() const;

  template <Readable T>
  T get() const;
  template <Readable T>
  operator T() const {  // NOLINT(google-explicit-constructor): a number is passed as a number
    return get<T>();
  }

  /// @brief The values of a list.
  Iterator begin() const;
  Iterator end() const;
  /// @brief Keys and values of an object.
  std::vector<std::pair<std::string, Reference>> items() const;

  /// @brief As it stands in the file, on one line.
  std::string dump() const;

  friend bool operator==(Reference a, Reference b);
  friend bool operator==(Reference a, std::string_view text);
  friend bool operator==(Reference a, int number);
  friend std::ostream& operator<<(std::ostream& out, Reference value);
  friend Reference reference_values(const std::string& name);

 private:
  explicit Reference(const void* node) : node_(node) {}
  Reference element(std::size_t position) const;

  const void* node_;
};

class Reference::Iterator {
 public:
  Iterator(Reference list, std::size_t position) : list_(list), position_(position) {}
  Reference operator*() const { return list_[position_]; }
  Iterator& operator++() {
    ++position_;
    return *this;
  }
  bool operator==(const Iterator& other) const { return position_ == other.position_; }

 private:
  Reference list_;
  std::size_t position_;
};

template <Readable T>
T Reference::get() const {
  if constexpr (std::floating_point<T>) {
    return static_cast<T>(real());
  } else if constexpr (std::integral<T>) {
    return static_cast<T>(integer());
  } else if constexpr (std::same_as<T, std::string>) {
    return text();
  } else {
    T list;
    for (const Reference value : *this) list.push_back(value.get<typename T::value_type>());
    return list;
  }
}

/// @brief The values of tests/reference/<name>.json, read once.
Reference reference_values(const std::string& name);

/// @brief A number; one of more than 16 digits is stored as a string.
double number(Reference value);

std::vector<double> numbers(Reference list);

Eigen::VectorXd vector(Reference list);

/// @brief A list of rows; a list of numbers is one column.
Eigen::MatrixXd matrix(Reference rows);

}  // namespace attica::testing
