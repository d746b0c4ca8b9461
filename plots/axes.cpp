#include "attica/plots/axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attica/core/error.hpp"

namespace attica::plots {
namespace {

constexpr double kSameness = 1e-9;  ///< relative spread below which values count as one
constexpr double kNearZero = 0.3;   ///< smallest/largest below which a linear axis starts at zero

std::string with_minus(std::string text) {
  if (!text.empty() && text.front() == '-') text.replace(0, 1, "−");
  return text;
}

std::string power_label(int exponent) {
  return fmt::format("10^{{{}}}", with_minus(fmt::format("{}", exponent)));
}

int decade(double value) { return static_cast<int>(std::floor(std::log10(value) + kSameness)); }

double power_of_ten(int exponent) { return std::pow(10.0, exponent); }

/// ln(high/low) without forming the quotient, which may overflow.
double log_ratio(double low, double high) { return std::log(high) - std::log(low); }

/// Multiples of `step` inside the range, computed as products so that 0.3 is not
/// 0.30000000000000004 away.
std::vector<double> multiples(double step, double low, double high) {
  std::vector<double> values;
  const double slack = kSameness * (high - low);
  for (double k = std::ceil((low - slack) / step); k * step <= high + slack; ++k) {
    values.push_back(k == 0 ? 0.0 : k * step);
  }
  return values;
}

std::vector<Tick> linear_ticks(double low, double high, int wanted, bool whole = false) {
  // The smallest step of 1, 2 or 5 times a power of ten that gives no more than the wanted labels.
  const int first = decade((high - low) / wanted) - 1;
  double step = 0;
  int mantissa = 0;
  std::vector<double> majors;
  for (int exponent = first; step == 0; ++exponent) {
    for (const int m : {1, 2, 5}) {
      if (whole && m * power_of_ten(exponent) < 1) continue;
      majors = multiples(m * power_of_ten(exponent), low, high);
      if (static_cast<int>(majors.size()) <= wanted) {
        step = m * power_of_ten(exponent);
        mantissa = m;
        break;
      }
    }
  }
  // One label is no scale; between 2 and 5 lies 4.
  if (majors.size() < 2 && mantissa == 5) {
    step *= 4.0 / mantissa;
    mantissa = 4;
    majors = multiples(step, low, high);
  }
  constexpr double kLarge = 1e5;
  constexpr double kSmall = 1e-3;
  const double largest = std::max(std::abs(low), std::abs(high));
  const bool scientific = largest >= kLarge || largest < kSmall;
  const int exponent = scientific ? decade(largest) : 0;
  const double unit = power_of_ten(exponent);
  const int digits = std::max(0, -decade(step / unit));
  std::vector<Tick> ticks;
  for (const double value : majors) {
    std::string label = with_minus(fmt::format("{:.{}f}", value / unit, digits));
    if (scientific && value != 0) label += "×" + power_label(exponent);
    ticks.push_back({value, value == 0 ? "0" : label, true});
  }
  // Minor marks divide a step of 1 or 5 in five, a step of 2 or 4 in four.
  constexpr int kFifths = 5;
  const double minor = step / (mantissa % 2 == 0 ? 4 : kFifths);
  for (const double value : multiples(whole ? std::max(minor, 1.0) : minor, low, high)) {
    const auto same = [&](double major) { return std::abs(major - value) < step * kSameness; };
    if (std::none_of(majors.begin(), majors.end(), same)) ticks.push_back({value, "", false});
  }
  return ticks;
}

std::string log_label(int mantissa, int exponent, bool plain) {
  if (plain)
    return fmt::format("{:.{}f}", mantissa * power_of_ten(exponent), std::max(0, -exponent));
  return mantissa == 1 ? power_label(exponent)
                       : fmt::format("{}×{}", mantissa, power_label(exponent));
}

/// Where the labels of a logarithmic axis stand.
struct Labels {
  int count = 0;
  double span = 0;  ///< part of the axis between the first and the last
  double gap = 1;   ///< part of the axis between the two nearest
};

Labels labels_of(const std::vector<Tick>& ticks, double low, double high) {
  std::vector<double> places;
  for (const Tick& tick : ticks) {
    if (tick.major) places.push_back(log_ratio(low, tick.position) / log_ratio(low, high));
  }
  Labels labels{.count = static_cast<int>(places.size())};
  if (!places.empty()) labels.span = places.back() - places.front();
  for (std::size_t i = 1; i < places.size(); ++i)
    labels.gap = std::min(labels.gap, places[i] - places[i - 1]);
  return labels;
}

/// The first that is clear and lets the whole axis be read; else the first that is clear.
std::vector<Tick> log_ticks(double low, double high, int wanted) {
  const double decades = std::log10(high) - std::log10(low);
  constexpr double kPlainDecades = 3.6;
  constexpr double kPlainLow = 1e-3;
  constexpr double kPlainHigh = 9999;
  const bool plain = decades <= kPlainDecades && low >= kPlainLow / 2 && high <= kPlainHigh;
  const int first = decade(low);
  const int last = decade(high);
  constexpr int kBase = 10;

  struct Candidate {
    std::vector<int> mantissas;
    int stride;
  };
  std::vector<Candidate> candidates = {
      {{1, 2, 3, 4, 5, 6, 7, 8, 9}, 1}, {{1, 2, 5}, 1}, {{1, 3}, 1}, {{1, 2, 3, 5, 7}, 1}};
  const auto several = static_cast<std::ptrdiff_t>(candidates.size());
  for (int stride = 1; stride <= last - first + 1; ++stride) candidates.push_back({{1}, stride});
  constexpr double kDenseDecades = 2.5;  // beyond this, powers of ten alone are clearer
  if (decades > kDenseDecades)
    std::rotate(candidates.begin(), candidates.begin() + several, candidates.end());
  constexpr double kClear = 0.6;    // of the distance of `wanted` labels
  constexpr double kTelling = 0.5;  // part of the axis that labels must span
  const auto clear = [&](const Labels& l) {
    return l.count >= 2 && l.count <= wanted && l.gap * wanted >= kClear;
  };
  const auto telling = [](const Labels& l) { return l.count > 2 && l.span >= kTelling; };
  std::vector<Tick> first_clear;
  for (const auto& [mantissas, stride] : candidates) {
    std::vector<Tick> ticks;
    for (int exponent = first; exponent <= last; ++exponent) {
      for (int m = 1; m < kBase; ++m) {
        const double value = m * power_of_ten(exponent);
        if (value < low * (1 - kSameness) || value > high * (1 + kSameness)) continue;
        const bool major = exponent % stride == 0 &&
                           std::find(mantissas.begin(), mantissas.end(), m) != mantissas.end();
        if (major) {
          ticks.push_back({value, log_label(m, exponent, plain), true});
        } else if (m == 1 || stride == 1) {
          ticks.push_back({value, "", false});
        }
      }
    }
    const Labels labels = labels_of(ticks, low, high);
    if (!clear(labels)) continue;
    if (telling(labels)) return ticks;
    if (first_clear.empty()) first_clear = std::move(ticks);
  }
  // Within one decade without enough round numbers: mark it as if it were linear.
  constexpr double kAlmostLinear = 0.6;
  for (int most = wanted; most > 2 && decades < kAlmostLinear; --most) {
    std::vector<Tick> ticks = linear_ticks(low, high, most);
    if (const Labels labels = labels_of(ticks, low, high); clear(labels) && telling(labels))
      return ticks;
  }
  return first_clear.empty() ? linear_ticks(low, high, wanted) : first_clear;
}

}  // namespace

double Range::position(double value) const {
  const double from_low = scale == AxisScale::log
                              ? (std::log(value) - std::log(low)) / log_ratio(low, high)
                              : (value - low) / (high - low);
  return reversed ? 1 - from_low : from_low;
}

double Range::value(double position) const {
  if (reversed) position = 1 - position;
  if (scale == AxisScale::log) return std::exp(std::log(low) + position * log_ratio(low, high));
  return low + position * (high - low);
}

Range fit_range(const Axis& axis, const std::vector<double>& values, double room) {
  const bool log = axis.scale == AxisScale::log;
  for (const auto& end : {axis.low, axis.high}) {
    if (end && !(std::isfinite(*end) && (!log || *end > 0))) {
      throw invalid_parameter("range of axis '" + axis.label + "'",
                              *end,
                              log ? "a positive number" : "a finite number");
    }
  }
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const double value : values) {
    if (log && value <= 0) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (low > high) {  // nothing to show
    low = log ? 1 : 0;
    high = log ? 10 : 1;
  } else if (log) {
    const bool single = log_ratio(low, high) < kSameness;
    const double factor = single ? 2.0 : std::exp(room * log_ratio(low, high));
    low = std::max(low / factor, std::numeric_limits<double>::min());
    high = std::min(high * factor, std::numeric_limits<double>::max());
  } else {
    const double largest = std::max(std::abs(low), std::abs(high));
    const bool single = high - low <= kSameness * largest;
    const double margin = !single ? room * (high - low) : largest > 0 ? largest / 4 : 1;
    const bool from_zero = !single && room > 0 && low > 0 && low < kNearZero * high;
    low = from_zero ? 0 : low - margin;
    high += margin;
  }
  const Range range{axis.low.value_or(low), axis.high.value_or(high), axis.scale};
  if (!(range.low < range.high)) {
    throw invalid_parameter("range of axis '" + axis.label + "'",
                            fmt::format("[{}, {}]", range.low, range.high),
                            "low < high");
  }
  if (!std::isfinite(range.high - range.low)) {
    throw Error(ErrorKind::input,
                fmt::format("axis '{}': values from {:.3g} to {:.3g} are farther apart than a "
                            "number can say; expected another unit",
                            axis.label,
                            values.empty() ? range.low : *std::ranges::min_element(values),
                            values.empty() ? range.high : *std::ranges::max_element(values)));
  }
  return range;
}

NamedAxis named_axis(const std::string& label) {
  const auto colon = label.find(": ");
  if (colon == std::string::npos) return {label, {}};
  NamedAxis axis{label.substr(0, colon), {}};
  for (std::size_t at = colon + 2; at <= label.size();) {
    const std::size_t end = std::min(label.find(", ", at), label.size());
    const std::string item = label.substr(at, end - at);
    const auto digits = std::min(item.find_first_not_of("0123456789"), item.size());
    const bool named = digits > 0 && digits < 10 && item.size() > digits + 1 && item[digits] == ' ';
    if (!named) return {label, {}};
    axis.categories.push_back({std::stod(item.substr(0, digits)), item.substr(digits + 1)});
    at = end + 2;
  }
  const bool ordered = std::is_sorted(
      axis.categories.begin(), axis.categories.end(), [](const Category& a, const Category& b) {
        return a.value < b.value;
      });
  return axis.categories.size() < 2 || !ordered ? NamedAxis{label, {}} : axis;
}

std::vector<Tick> choose_ticks(const Range& range, int wanted) {
  wanted = std::max(wanted, 2);
  return range.scale == AxisScale::log ? log_ticks(range.low, range.high, wanted)
                                       : linear_ticks(range.low, range.high, wanted, range.whole);
}

}  // namespace attica::plots
