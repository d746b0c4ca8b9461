#include "attica/core/matching.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace attica {
namespace {

constexpr double kNoise = 1e-9;
constexpr double kNoiseOfLarge = 1e-12;  // from kSinglePrecisionEnds on
constexpr double kSinglePrecision = 1.2e-7;
constexpr double kSinglePrecisionEnds = 16777216;  // 2^24
constexpr double kNoFarther = 1e-3;
constexpr double kNearZero = 1e-13;

bool is_whole(double x) { return std::floor(x) == x; }

/// The shortest decimal that reads back as x: how many digits it has, and what one of its last
/// digit is worth.
struct Digits {
  int count = 0;
  double unit = 0;
  int exponent = 0;  // of the first digit
};

Digits shortest_digits(double x) {
  std::array<char, 32> text{};
  const auto [end, code] = std::to_chars(
      text.data(), text.data() + text.size(), std::abs(x), std::chars_format::scientific);
  const char* const e =
      std::find(static_cast<const char*>(text.data()), static_cast<const char*>(end), 'e');
  Digits d;
  for (const char* c = text.data(); c != e; ++c) d.count += *c != '.';
  const char* exponent = e + 1;
  if (*exponent == '+') ++exponent;
  std::from_chars(exponent, end, d.exponent);
  d.unit = std::pow(10.0, d.exponent - (d.count - 1));
  return d;
}

/// One printed number against the same with more digits.
bool printed_alike(double a, double b) {
  constexpr int kFewest = 4;  // significant digits of the shorter one
  constexpr int kCut = 5;     // from which on it may be cut off instead of rounded
  constexpr int kUsual = 6;   // of %g
  constexpr double kEdge = 1 + 1e-9;
  Digits shorter = shortest_digits(a);
  Digits longer = shortest_digits(b);
  double cut = std::abs(b) - std::abs(a);
  double printed = a;
  if (longer.unit > shorter.unit) {
    std::swap(shorter, longer);
    cut = -cut;
    printed = b;
  }
  const double gap = std::abs(a - b);
  const double half = 0.5 * kEdge;
  const double sixth = std::pow(10.0, shorter.exponent - (kUsual - 1));
  if (is_whole(a) && is_whole(b)) {
    // %g rounds whole numbers of seven digits and more.
    return longer.exponent >= kUsual && shorter.count >= kUsual - 1 && shorter.count <= kUsual &&
           gap <= half * sixth;
  }
  if (shorter.count <= kUsual && std::abs(printed) < kSinglePrecisionEnds && gap <= half * sixth)
    return true;
  // A whole number that is no six digits long was not rounded to be whole.
  if (shorter.count < (is_whole(printed) ? kUsual : kFewest)) return false;
  return gap <= half * shorter.unit ||
         (shorter.count >= kCut && cut >= 0 && cut < shorter.unit * (2 - kEdge));
}

/// Numbers in rising order, each once, with their places in the list.
struct Sorted {
  explicit Sorted(std::span<const double> all) : numbers(all) {
    order.resize(numbers.size());
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
    std::ranges::stable_sort(order, std::less<>(), [&](std::size_t k) { return numbers[k]; });
    const auto same = [&](std::size_t j, std::size_t k) { return numbers[j] == numbers[k]; };
    order.erase(std::unique(order.begin(), order.end(), same), order.end());
  }

  double at(std::size_t k) const { return numbers[order[k]]; }

  /// Place in `order` of the first number that is not below x.
  std::size_t lower_bound(double x) const {
    return static_cast<std::size_t>(
        std::ranges::lower_bound(
            order, x, std::less<>(), [&](std::size_t k) { return numbers[k]; }) -
        order.begin());
  }

  std::span<const double> numbers;
  std::vector<std::size_t> order;
};

/// The nearest number to x, and how far the second nearest is.
struct Neighbours {
  std::optional<std::size_t> first;  // in `order`
  double distance = std::numeric_limits<double>::infinity();
  double second = std::numeric_limits<double>::infinity();
};

/// @param without a number that does not count
Neighbours neighbours(const Sorted& all, double x, std::optional<double> without = {}) {
  Neighbours found;
  const std::size_t at = all.lower_bound(x);
  const std::size_t begin = at < 3 ? 0 : at - 3;
  for (std::size_t k = begin; k < std::min(at + 3, all.order.size()); ++k) {
    if (without && all.at(k) == *without) continue;
    const double distance = std::abs(all.at(k) - x);
    if (distance < found.distance) {
      found.second = found.distance;
      found.distance = distance;
      found.first = k;
    } else {
      found.second = std::min(found.second, distance);
    }
  }
  return found;
}

}  // namespace

bool same_within_rounding(double a, double b) {
  if (a == b) return true;
  if (!std::isfinite(a) || !std::isfinite(b) || (is_whole(a) && is_whole(b))) return false;
  const double size = std::max(std::abs(a), std::abs(b));
  return std::abs(a - b) <= (size < kSinglePrecisionEnds ? kNoise : kNoiseOfLarge) * size;
}

bool same_number(double a, double b) {
  if (same_within_rounding(a, b)) return true;
  if (!std::isfinite(a) || !std::isfinite(b) || std::signbit(a) != std::signbit(b)) return false;
  const double size = std::max(std::abs(a), std::abs(b));
  const double gap = std::abs(a - b);
  if (gap > kNoFarther * size) return false;
  if (!(is_whole(a) && is_whole(b)) && size < kSinglePrecisionEnds &&
      gap <= kSinglePrecision * size)
    return true;
  return printed_alike(a, b);
}

bool same_value(const CoordinateValue& a, const CoordinateValue& b) {
  const auto* x = std::get_if<double>(&a);
  const auto* y = std::get_if<double>(&b);
  return x != nullptr && y != nullptr ? same_number(*x, *y) : a == b;
}

bool same_point(const Point& a, const Point& b) {
  return std::is_permutation(a.begin(), a.end(), b.begin(), b.end(), [](auto& p, auto& q) {
    return p.first == q.first && same_value(p.second, q.second);
  });
}

double relative_distance(double a, double b) {
  const double size = std::max(std::abs(a), std::abs(b));
  return size == 0 ? 0 : std::abs(a - b) / size;
}

std::vector<std::optional<std::size_t>> match_numbers(std::span<const double> given,
                                                      std::span<const double> known,
                                                      std::optional<double> reach) {
  constexpr double kAsNear = 2;
  std::vector<std::optional<std::size_t>> places(given.size());
  if (known.empty()) return places;
  const Sorted there(known);
  const Sorted here(given);
  double largest = 0;
  for (const double x : known) largest = std::max(largest, std::abs(x));
  for (const double x : given) largest = std::max(largest, std::abs(x));
  for (std::size_t k = 0; k < given.size(); ++k) {
    const double x = given[k];
    const Neighbours near = neighbours(there, x);
    if (!near.first) continue;
    const double y = there.at(*near.first);
    if (near.distance == 0) {
      places[k] = there.order[*near.first];
      continue;
    }
    const bool at_zero = (x == 0 || y == 0 || std::signbit(x) != std::signbit(y)) &&
                         near.distance <= kNearZero * largest;
    const bool same = reach
                          ? near.distance <= *reach * std::max(std::abs(x), std::abs(y)) || at_zero
                          : same_number(x, y) || at_zero;
    if (!same) continue;
    // Neither has another one as near.
    const double factor = reach ? 1 + kNoise : kAsNear;
    const double rival = std::min(near.second, neighbours(here, y, x).distance);
    if (rival > near.distance && rival >= factor * near.distance)
      places[k] = there.order[*near.first];
  }
  return places;
}

std::optional<double> nearest_number(double x, std::span<const double> known) {
  std::optional<double> nearest;
  for (const double y : known) {
    if (!nearest || std::abs(y - x) < std::abs(*nearest - x)) nearest = y;
  }
  return nearest;
}

}  // namespace attica
