#pragma once
/// @file
/// @brief What is true of a replicate: claims about runs, one entry a replicate.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "attica/studies/study.hpp"

namespace attica {

/// @brief An entry for every replicate: a number, a path (the values of a curve, in the order of x)
/// or several numbers.
template <typename T>
class ByReplicate {
 public:
  ByReplicate() = default;
  explicit ByReplicate(std::vector<T> entries) : entries_(std::move(entries)) {}

  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  const std::vector<T>& entries() const { return entries_; }

  /// @brief f of every entry: f(number), f(path), f(number, number, ...).
  template <typename F>
  auto of(const F& f) const {
    std::vector<std::decay_t<decltype(applied(f, std::declval<const T&>()))>> all;
    for (const T& entry : entries_) all.push_back(applied(f, entry));
    return all;
  }
  /// @brief Whether f is true of it, an entry a replicate: what `claim_rate` takes.
  template <typename F>
  std::vector<bool> where(const F& f) const {
    return of(f);
  }
  /// @brief The entries of which f is true.
  template <typename F>
  ByReplicate only(const F& f) const {
    ByReplicate some;
    for (const T& entry : entries_) {
      if (applied(f, entry)) some.entries_.push_back(entry);
    }
    return some;
  }
  /// @brief Number k of several; without k the only one.
  std::vector<double> column(std::size_t k = 0) const {
    std::vector<double> all;
    for (const T& entry : entries_) all.push_back(entry[k]);
    return all;
  }
  /// @brief Those of another curve or point after these.
  ByReplicate& append(const ByReplicate& more) {
    entries_.insert(entries_.end(), more.entries_.begin(), more.entries_.end());
    return *this;
  }

 private:
  template <typename F>
  static decltype(auto) applied(const F& f, const T& entry) {
    if constexpr (std::is_invocable_v<F, const T&>) {
      return f(entry);
    } else {
      return std::apply(f, entry);
    }
  }

  std::vector<T> entries_;
};

/// @brief A list that has an entry a replicate: `by_replicate(observed.paths("mse"))`.
template <typename T>
ByReplicate<T> by_replicate(std::vector<T> entries) {
  return ByReplicate<T>(std::move(entries));
}

/// @brief A value of a simulated curve: at its last x, or at the x that is given.
struct ObservedAt {
  // NOLINTNEXTLINE(google-explicit-constructor)
  ObservedAt(const char* name) : series(name) {}
  ObservedAt(std::string name, Point where) : series(std::move(name)), point(std::move(where)) {}
  ObservedAt(std::string name, Point where, double at)
      : series(std::move(name)), point(std::move(where)), x(at) {}

  std::string series;
  Point point = {};
  std::optional<double> x = {};
};

/// @brief Its values with the numbers of the replicates that have one, rising.
std::vector<std::pair<std::uint64_t, double>> values_at(const Observed& observed,
                                                        const ObservedAt& at);

/// @brief Several values of every replicate that has them all:
/// `by_replicate(observed, {"t_V", "t_KQ"}).where([](double v, double kq) { return kq > 2 * v; })`.
template <std::size_t N>
ByReplicate<std::array<double, N>> by_replicate(const Observed& observed,
                                                const ObservedAt (&columns)[N]) {
  std::array<std::vector<std::pair<std::uint64_t, double>>, N> values;
  for (std::size_t n = 0; n < N; ++n) values[n] = values_at(observed, columns[n]);
  std::vector<std::array<double, N>> rows;
  std::array<std::size_t, N> next = {};
  for (const auto& [replicate, first] : values[0]) {
    std::array<double, N> row = {first};
    bool all = true;
    for (std::size_t n = 1; n < N; ++n) {
      while (next[n] < values[n].size() && values[n][next[n]].first < replicate) ++next[n];
      all = all && next[n] < values[n].size() && values[n][next[n]].first == replicate;
      if (all) row[n] = values[n][next[n]].second;
    }
    if (all) rows.push_back(row);
  }
  return ByReplicate<std::array<double, N>>(std::move(rows));
}

/// @brief What is true of runs of another curve or point, after that of those so far.
void append(std::vector<bool>& all, const std::vector<bool>& more);

/// @brief "0.12 0.15", for the detail of a claim. @param format of one number, as `{:.3g}`
std::string listed(const std::vector<double>& values, std::string_view format = "{:.4g}");

}  // namespace attica
