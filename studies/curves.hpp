#pragma once
/// @file
/// @brief How a study writes curves down: value by value, theory and simulation alike.

#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "attica/studies/study.hpp"

namespace attica {

/// Of a replicate that came to none where others do: its place is recorded all the same.
inline constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

/// @brief A number that a curve takes at some x, and what a theory says about its accuracy.
struct PredictedValue {
  double y = 0;
  double finite_size = 0;  ///< absolute allowance for what is neglected
  bool compared = true;
  double numerical_error = 0;  ///< absolute

  PredictedValue(double value,
                 double allowance = 0,
                 bool is_compared = true,
                 double error = 0)  // NOLINT
      : y(value), finite_size(allowance), compared(is_compared), numerical_error(error) {}
};

/// @brief Curves with a common point and x, filled x by x.
class Curves {
 public:
  /// @param x_name "none" for a constant, which is added at x = 0
  Curves(const Point& point, const std::string& x_name, const std::vector<std::string>& names);

  /// @brief One value a name, in the order of the names.
  Curves& add(double x, const std::vector<PredictedValue>& values);
  Curves& add(double x, const std::vector<double>& values);
  Curves& add(double x, std::initializer_list<PredictedValue> values) {
    return add(x, std::vector<PredictedValue>(values));
  }
  /// @brief Widens every allowance by a share of the largest |y| of its own curve; of
  /// that series alone, or of all.
  Curves& allow_share(double share, std::string_view series = {});
  bool empty() const { return curves_.empty() || curves_.front().series.x.empty(); }

  /// Allowances, errors and marks that say nothing are left empty.
  void into(TheoryResult& theory) const;
  void into(Outcome& outcome) const;

 private:
  std::vector<Prediction> curves_;
};

/// @brief A constant: a Bayes loss, a plateau. @p value may be given with its allowances.
template <class Result>
void add_constant(Result& result,
                  const std::string& name,
                  PredictedValue value,
                  const Point& point = {}) {
  Curves(point, "none", {name}).add(0, std::vector<PredictedValue>{value}).into(result);
}

}  // namespace attica
