#pragma once
/// @file
/// @brief Time in a run: recorded times, and when the value matrix, and keys and queries have
/// grown.

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace attica {

/// @brief Recorded times of a run in steps.
class RecordedTimes {
 public:
  /// @param times rising, each once
  /// @param per_step time that a step covers; > 0
  RecordedTimes(std::vector<double> times, double per_step);

  const std::vector<double>& asked() const { return asked_; }
  /// The nearest steps, each once.
  const std::vector<std::uint64_t>& steps() const { return steps_; }
  /// The time of each of them: as asked where that is a whole number of steps.
  const std::vector<double>& realised() const { return realised_; }

 private:
  std::vector<double> asked_;
  std::vector<std::uint64_t> steps_;
  std::vector<double> realised_;
};

/// @brief Watches norms while a network is trained.
class StageClock {
 public:
  /// @param threshold growth of |(W_K, W_Q)| that marks the second stage; > 1
  explicit StageClock(double threshold) : threshold_(threshold) {}

  /// @brief The norms at a time; times rise.
  void look(double time, double value, double key, double query);

  /// Of |W_V|, so far.
  double largest_value() const { return rise_.empty() ? 0 : rise_.back().second; }
  /// @brief The first time at which |W_V| was that large; empty: never.
  std::optional<double> value_time(double level) const;
  /// @brief The first time at which |(W_K, W_Q)| had grown by the threshold; empty: never.
  std::optional<double> attention_time() const { return attention_time_; }

 private:
  double threshold_;
  std::optional<double> first_;                  ///< |(W_K, W_Q)| at the first look
  std::vector<std::pair<double, double>> rise_;  ///< time, largest |W_V| so far
  std::optional<double> attention_time_;
};

}  // namespace attica
