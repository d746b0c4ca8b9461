#pragma once
/// @file
/// @brief Values that users configure and that a run can only come near to: ratios of whole
/// numbers, times of whole steps. What is rounded is said, and two values that become one are
/// refused.

#include <string>
#include <vector>

#include "attica/studies/configuration.hpp"

namespace attica {

/// @brief A configured value and what a run makes of it.
struct RunAt {
  double asked = 0;
  double realised = 0;
  std::string words = {};  ///< of the realised one: "M = 5, alpha = 0.5556"; empty: its number
};

/// @brief A parameter's values and what a run makes of them. Values that no user gave are rounded
/// without a word, and two of them may become one.
class RoundedValues {
 public:
  /// @param name of one value: "alpha", "time"
  /// @param rule why they are rounded, as "samples are whole numbers of N = 10"
  RoundedValues(const Configuration& configuration,
                std::string key,
                std::string name,
                std::string rule,
                std::vector<RunAt> values);

  /// @brief "KEY: RULE: alpha = 0.5 is run at M = 5, alpha = 0.5556; ...", of the values that are
  /// not as they were asked for. One line, empty if there are none.
  std::vector<std::string> lines() const;

  /// @throws Error (input) naming the key if two given values are run alike
  void require_distinct() const;

 private:
  std::string key_;
  std::string name_;
  std::string rule_;
  std::vector<RunAt> values_;  ///< empty if no user gave them
};

/// @brief A size that is `ratio` times `unit`, at least 1: M = alpha N. @param size its letter
RunAt at_whole_size(const char* name, double ratio, double unit, const char* size);

/// @brief sim.times, or another list of times, as whole steps. @param least of the steps
RoundedValues times_of_steps(const Configuration& configuration,
                             const std::string& key,
                             double per_step,
                             double least = 0);

}  // namespace attica
