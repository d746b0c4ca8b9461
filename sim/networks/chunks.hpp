#pragma once
/// @file
/// @brief Loops over short unaligned rows in chunks of fixed size, which compile to full vector
/// instructions.

#include <Eigen/Core>
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "attica/sim/networks/matrix_view.hpp"

namespace attica::networks {

template <int Width>
using ChunkWidth = std::integral_constant<int, Width>;

/// @brief Calls f(ChunkWidth<w>, first) for chunks of 16, then 4, then 1 that cover 0..n-1 in
/// order.
template <class F>
[[gnu::always_inline]] inline void for_chunks(Index n, F f) {
  constexpr int kWide = 16;
  constexpr int kNarrow = 4;
  Index j = 0;
  for (; j + kWide <= n; j += kWide) f(ChunkWidth<kWide>{}, j);
  for (; j + kNarrow <= n; j += kNarrow) f(ChunkWidth<kNarrow>{}, j);
  for (; j < n; ++j) f(ChunkWidth<1>{}, j);
}

/// @brief w numbers at p as an Eigen array.
template <int Width, class T>
auto chunk(ChunkWidth<Width> /*width*/, T* p) {
  using Values = Eigen::Array<std::remove_const_t<T>, Width, 1>;
  return Eigen::Map<std::conditional_t<std::is_const_v<T>, const Values, Values>>(p);
}

/// @brief Sum over n numbers, taken chunk by chunk: f(width, first) returns an array of `width`
/// terms.
template <class T, class F>
[[gnu::always_inline]] inline T chunked_sum(Index n, F f) {
  constexpr int kWide = 16;
  Eigen::Array<T, kWide, 1> lanes = Eigen::Array<T, kWide, 1>::Zero();
  T rest = 0;
  for_chunks(n, [&](auto width, Index j) {
    if constexpr (width == kWide) {
      lanes += f(width, j);
    } else {
      rest += f(width, j).sum();
    }
  });
  return lanes.sum() + rest;
}

/// @brief Largest entry, by halves: Eigen's own reduction goes through memory.
template <int Width, class T>
[[gnu::always_inline]] inline T largest(const Eigen::Array<T, Width, 1>& values) {
  if constexpr (Width == 1) {
    return values[0];
  } else {
    constexpr int kHalf = Width / 2;
    return largest<kHalf, T>(values.template head<kHalf>().max(values.template tail<kHalf>()));
  }
}

/// @brief Largest of n >= 1 numbers.
template <class T>
[[gnu::always_inline]] inline T chunked_max(Index n, const T* from) {
  T top = from[0];
  for_chunks(n, [&](auto width, Index j) {
    top = std::max(top, largest<width, T>(chunk(width, from + j)));
  });
  return top;
}

/// @brief to = from, n numbers each that do not overlap.
template <class T>
[[gnu::always_inline]] inline void copy_row(Index n, const std::type_identity_t<T>* from, T* to) {
  for_chunks(n, [=](auto width, Index j) { std::memcpy(to + j, from + j, width * sizeof(T)); });
}

/// @brief Sets n numbers to 0.
template <class T>
[[gnu::always_inline]] inline void zero_row(Index n, T* to) {
  for_chunks(n, [=](auto width, Index j) { std::memset(to + j, 0, width * sizeof(T)); });
}

/// @brief to += from, n numbers each.
template <class T>
void add_row(Index n, const std::type_identity_t<T>* from, T* to) {
  for_chunks(n, [=](auto width, Index j) { chunk(width, to + j) += chunk(width, from + j); });
}

}  // namespace attica::networks
