#include "attica/studies/rounded_values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "attica/core/error.hpp"

namespace attica {
namespace {

/// Relative: below it a difference is rounding of the numbers themselves.
constexpr double kRounding = 1e-12;

bool as_asked(const RunAt& value) {
  return std::abs(value.realised - value.asked) <= kRounding * std::abs(value.asked);
}

std::string words_of(const RunAt& value) {
  return value.words.empty() ? fmt::format("{:.4g}", value.realised) : value.words;
}

}  // namespace

RoundedValues::RoundedValues(const Configuration& configuration,
                             std::string key,
                             std::string name,
                             std::string rule,
                             std::vector<RunAt> values)
    : key_(std::move(key)), name_(std::move(name)), rule_(std::move(rule)) {
  if (configuration.given(key_)) values_ = std::move(values);
}

std::vector<std::string> RoundedValues::lines() const {
  constexpr std::size_t kMostShown = 4;
  std::vector<std::string> shown;
  std::size_t count = 0;
  for (const RunAt& value : values_) {
    if (as_asked(value)) continue;
    if (++count <= kMostShown)
      shown.push_back(fmt::format("{} = {} is run at {}", name_, value.asked, words_of(value)));
  }
  if (shown.empty()) return {};
  if (count > kMostShown) shown.push_back(fmt::format("and {} more", count - kMostShown));
  return {fmt::format("{}: {}: {}", key_, rule_, fmt::join(shown, "; "))};
}

void RoundedValues::require_distinct() const {
  for (auto value = values_.begin(); value != values_.end(); ++value) {
    const auto same = std::find_if(values_.begin(), value, [&](const RunAt& other) {
      return other.realised == value->realised && other.asked != value->asked;
    });
    if (same == value) continue;
    throw invalid_parameter(key_,
                            value->asked,
                            fmt::format("values that are run apart: {} is run at {} too ({})",
                                        same->asked,
                                        words_of(*same),
                                        rule_));
  }
}

RunAt at_whole_size(const char* name, double ratio, double unit, const char* size) {
  const double whole = std::max(1.0, std::round(ratio * unit));
  return {.asked = ratio,
          .realised = whole / unit,
          .words = fmt::format("{} = {:.0f}, {} = {:.4g}", size, whole, name, whole / unit)};
}

RoundedValues times_of_steps(const Configuration& configuration,
                             const std::string& key,
                             double per_step,
                             double least) {
  std::vector<RunAt> values;
  for (const double time : configuration.reals(key)) {
    const double step = std::max(least, std::round(time / per_step));
    values.push_back({.asked = time,
                      .realised = step * per_step,
                      .words = fmt::format("step {:.0f}, time {:.4g}", step, step * per_step)});
  }
  return {configuration,
          key,
          "time",
          fmt::format("times are whole steps of {:.4g}", per_step),
          std::move(values)};
}

}  // namespace attica
