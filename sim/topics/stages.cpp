#include "attica/sim/topics/stages.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace attica {

RecordedTimes::RecordedTimes(std::vector<double> times, double per_step)
    : asked_(std::move(times)) {
  for (const double asked : asked_) {
    const auto step = static_cast<std::uint64_t>(std::llround(asked / per_step));
    if (!steps_.empty() && step <= steps_.back()) continue;
    steps_.push_back(step);
    const auto time = static_cast<double>(step) * per_step;
    constexpr double kRounding = 1e-6;
    realised_.push_back(std::abs(asked - time) < kRounding * per_step ? asked : time);
  }
}

void StageClock::look(double time, double value, double key, double query) {
  const double attention = std::hypot(key, query);
  if (!first_) first_ = attention;
  rise_.emplace_back(time, std::max(largest_value(), value));
  if (!attention_time_ && attention >= threshold_ * *first_) attention_time_ = time;
}

std::optional<double> StageClock::value_time(double level) const {
  const auto reached = std::find_if(
      rise_.begin(), rise_.end(), [&](const auto& now) { return now.second >= level; });
  if (reached == rise_.end()) return {};
  return reached->first;
}

}  // namespace attica
