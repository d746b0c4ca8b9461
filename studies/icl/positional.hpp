#pragma once
/// @file
/// @brief What the studies of positional against semantic attention share: parameters, the
/// predicted path of a run with its allowances, sources.

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

#include "attica/core/icl/positional.hpp"
#include "attica/studies/kit.hpp"

namespace attica {

class PositionalLandscape;

/// A student, its start and how it is trained.
struct PositionalSetup {
  /// @throws Error (input) naming model.e0
  explicit PositionalSetup(const Configuration& c);

  /// t = η × steps/d, and the whole number of steps nearest to a time.
  double time(std::int64_t step) const;
  /// @throws Error (input) naming `key` where these are too many
  std::int64_t steps(double time, const char* key) const;
  /// Standard deviation of an overlap over runs, at most, where the flow is not near a basin's
  /// edge.
  double scatter() const;
  /// Work of a run of that length.
  double flops(std::int64_t steps) const;

  PositionalOverlaps start;
  Eigen::Index dimension;
  double eta;
  std::int64_t test_pairs;
};

/// @brief The flow from the configured start, and what finite dimension changes.
struct PositionalPath {
  std::vector<PositionalOverlaps> overlaps;    ///< at the times
  std::vector<PositionalOverlaps> allowances;  ///< of either overlap
  /// Starts within three standard deviations end in the same state.
  bool decided = true;

  /// @brief Whether the k-th overlaps are compared: not near the edge of a basin, nor at ω = 0 once
  /// m is within 1e-4 of 1, where all runs are one point.
  bool compared(const PositionalTask& task, std::size_t k) const;
};
/// @param times rising
/// @throws Error (numerical) where the series of the loss is cut too early
PositionalPath predicted_path(const PositionalLandscape& landscape,
                              const PositionalTask& task,
                              const PositionalSetup& setup,
                              std::span<const double> times);

/// Which of the two states, with its sign: the overlap that has the larger size.
int state_of(const PositionalOverlaps& overlaps);

/// @brief The claim that runs end in the state that the flow goes to.
/// @param same whether each did, where `decided`
ClaimResult basin_claim(const std::vector<bool>& same);

}  // namespace attica
