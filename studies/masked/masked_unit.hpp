#pragma once
/// @file
/// @brief What the studies of one masked unit share: data, masks, theory and training at an α.

#include <optional>
#include <vector>

#include "attica/sim/masked/resampling.hpp"
#include "attica/studies/kit.hpp"
#include "attica/theory/masked/resampling.hpp"

namespace attica {

/// A configured unit. A number of masks is empty for fresh ones.
struct MaskedUnit {
  explicit MaskedUnit(const Configuration& c);

  ResamplingProblem problem(std::optional<Eigen::Index> number, double alpha) const;
  /// @brief The theory, whose errors name the point.
  ResamplingPoint at(std::optional<Eigen::Index> number, double alpha) const;
  UnitObjective objective(std::optional<Eigen::Index> number) const;
  static Point point(std::optional<Eigen::Index> number);
  /// @brief α_c in the order of `masks`.
  std::vector<double> thresholds() const;
  SpikedSamples drawn(const Replicate& replicate, double d, std::int64_t samples) const;
  /// @throws Error (input) naming sim.max_memory
  void require_memory(double d, std::int64_t samples, std::optional<Eigen::Index> number) const;
  /// @brief Whether training ends in the theory's minimum: with stored masks small sizes have
  /// minima of another kind.
  bool reached(std::optional<Eigen::Index> number, double alpha, double d) const;

  NoiseVariances noise;
  double beta, rho, lambda, max_memory;
  bool normal;
  /// Of theory and simulation; the identity unless the study has model.activation.
  MaskActivation activation = MaskActivation::identity;
  UnitActivation trained = UnitActivation::identity;
  std::vector<std::optional<Eigen::Index>> masks;
};

/// Times the threshold: from where on cosines are compared.
inline constexpr double kWellAbove = 3;

/// @brief Norms, losses and cosines of a point in the order of `unit_series()`, with what finite
/// size may change (measured: docs/masked-resampling.md).
/// @param distance α/α_c
std::vector<PredictedValue> with_allowances(const ResamplingPoint& point,
                                            double distance,
                                            double dimension,
                                            bool reached);
const std::vector<std::string>& unit_series();
/// @brief The same of a trained unit.
std::vector<double> unit_values(const UnitMeasures& measures, const TrainedUnit& unit);

}  // namespace attica
