#pragma once
/// @file
/// @brief The one gradient checker of the tests.

#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <functional>
#include <span>

namespace attica::testing {

/// How a gradient is compared with central differences of fourth order.
struct GradientCheck {
  /// Truncation step^4 = 1e-15 and rounding 1e-16 / step = 1e-12, both for derivatives of order
  /// one.
  double step = 2e-4;
  double tolerance = 1e-9;  ///< absolute
  double relative = 0;      ///< of the gradient's entry, on top
  std::size_t stride = 1;   ///< every how many-th entry is tried
  /// Entries that are no parameters: they are left alone.
  std::function<bool(std::size_t)> skip = {};
};

/// @brief The derivative of f along entry k of x, which is put back exactly.
inline double central_difference(const std::function<double()>& f,
                                 std::span<double> x,
                                 std::size_t k,
                                 double step = GradientCheck{}.step) {
  const double here = x[k];
  const auto slope = [&](double h) {
    x[k] = here + h;
    const double above = f();
    x[k] = here - h;
    return (above - f()) / (2 * h);
  };
  const double difference = (4 * slope(step) - slope(2 * step)) / 3;
  x[k] = here;
  return difference;
}

/// @brief Checks a gradient entry by entry. @param f  the function at the present x
/// @param x  moved one entry at a time, and put back exactly; as long as the gradient
inline void check_gradient(const std::function<double()>& f,
                           std::span<double> x,
                           std::span<const double> gradient,
                           const GradientCheck& how = {}) {
  REQUIRE(x.size() == gradient.size());
  for (std::size_t k = 0; k < x.size(); k += how.stride) {
    if (how.skip && how.skip(k)) continue;
    const double difference = central_difference(f, x, k, how.step);
    const double tolerance = how.tolerance + how.relative * std::abs(gradient[k]);
    INFO("entry " << k);
    CHECK(std::abs(difference - gradient[k]) <= tolerance);
  }
}

/// @brief The entries of an Eigen matrix or vector, in memory's order.
template <class Matrix>
auto entries(Matrix& m) {
  return std::span(m.data(), static_cast<std::size_t>(m.size()));
}

}  // namespace attica::testing
