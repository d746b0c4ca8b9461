#pragma once
/// @file
/// @brief Where curves are computed: grids, lines between recorded values, recorded steps, sizes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "attica/core/figure.hpp"
#include "attica/studies/study.hpp"

namespace attica {

/// @brief In rising order, each value once.
template <class T>
std::vector<T> ascending(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

/// @brief As real numbers: whole steps as x values.
template <class T>
std::vector<double> as_reals(const std::vector<T>& values) {
  std::vector<double> reals;
  for (const T value : values) reals.push_back(static_cast<double>(value));
  return reals;
}

/// @brief n values from low to high at equal ratios. @param low > 0
std::vector<double> log_grid(double low, double high, int n);

/// @brief At most n whole numbers from first to last at about equal ratios, rising, each once.
/// @param first > 0; not above last
std::vector<std::int64_t> whole_log_grid(std::int64_t first, std::int64_t last, int n);

/// @brief `values`, rising; for a run with n - 1 more between the first and the last, at equal
/// ratios (where both are positive) or in equal steps, for a smooth line.
std::vector<double> line_through(std::vector<double> values,
                                 int n,
                                 AxisScale scale,
                                 TheoryGrid grid);

/// @brief `values` with `parts - 1` more between any two neighbours, at equal ratios (where both
/// are positive) or in equal steps; for the theory of a run only. @param values in order
std::vector<double> line_between(const std::vector<double>& values,
                                 AxisScale scale,
                                 TheoryGrid grid = TheoryGrid::run,
                                 int parts = 16);

/// @brief The same between recorded steps: whole numbers.
std::vector<std::int64_t> steps_between(const std::vector<std::int64_t>& steps, TheoryGrid grid);

/// @brief `sim.steps`, the recorded steps: rising, each once; the last is the length of a run.
template <class T = std::int64_t>
std::vector<T> recorded_steps(const Configuration& c) {
  const std::vector<std::int64_t> steps = ascending(c.integers("sim.steps"));
  return {steps.begin(), steps.end()};
}

/// @brief M that a run takes for alpha = M / inputs: the nearest whole number, at least 1.
std::int64_t realised_samples(double alpha, double inputs);

/// When SampleSizes refuses a ratio.
enum class SampleCheck {
  at_once,    ///< when it is made, unless 1 <= alpha inputs <= most
  when_used,  ///< by `require_usable`: theory needs no memory for samples, a run at least one
};

/// @brief Numbers of samples M for ratios alpha = M / inputs: as asked for, and as a run realises
/// them.
class SampleSizes {
 public:
  /// @param key whose values alphas are. @throws Error (input) naming it, as `check` says
  SampleSizes(std::vector<double> alphas,
              double inputs,
              double most,
              std::string key,
              SampleCheck check = SampleCheck::at_once);

  /// @throws Error (input) naming the key: for the configured ratios if alpha inputs < 1, for a
  /// run if M > most
  void require_usable(TheoryGrid grid) const;
  std::size_t count() const { return sizes_.size(); }
  /// N, of which alpha is a multiple.
  double inputs() const { return inputs_; }
  /// M of a simulated point; rising.
  std::int64_t operator[](std::size_t point) const { return sizes_[point]; }
  /// Realised ratio of a simulated point.
  double alpha(std::size_t point) const { return static_cast<double>(sizes_[point]) / inputs_; }
  /// M = alpha inputs, a whole number exactly where it is one but for rounding.
  double samples(double alpha) const;
  /// As configured, or as realised. @throws as require_usable
  std::vector<double> alphas(TheoryGrid grid) const;

 private:
  std::vector<double> alphas_;
  double inputs_, most_;
  std::string key_;
  std::vector<std::int64_t> sizes_;
};

}  // namespace attica
