#pragma once
/// @file
/// @brief What the studies of one masked unit share: data, masks, theory and training at an α.

#include <functional>
#include <optional>
#include <vector>

#include "attica/sim/masked/resampling.hpp"
#include "attica/studies/kit.hpp"
#include "attica/studies/sample_ratios.hpp"
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
  SpikedSamples drawn(StreamAddress address, double d, std::int64_t samples) const;
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

/// @brief A study of units against α: the training of a replicate with every number of masks.
class UnitExperiment : public PointwiseExperiment {
 public:
  explicit UnitExperiment(Configuration& c);

  void require_simulable() const override;
  std::size_t points() const override { return sizes_.count(); }

 protected:
  double flops(std::size_t point) const override;
  SpikedSamples drawn(const Replicate& replicate) const;
  /// @brief Trains on the samples with each number of masks. @param record puts down what is seen
  Outcome trained(const Replicate& replicate,
                  const SpikedSamples& samples,
                  const std::function<void(std::optional<Eigen::Index> number,
                                           const TrainedUnit& unit,
                                           const UnitMeasures& measures,
                                           Outcome& outcome)>& record) const;

  MaskedUnit unit_;
  double d_;
  SampleSizes sizes_;
};

/// @brief Norms, losses and cosines of a point in the order of `unit_series()`, with what finite
/// size may change (measured: docs/masked-resampling.md).
/// @param distance α/α_c @param edge relative, of norms and losses below the threshold, besides
/// 3 d^(-2/3)
std::vector<PredictedValue> with_allowances(const ResamplingPoint& point,
                                            double distance,
                                            double dimension,
                                            bool reached,
                                            double edge = 0.02);
const std::vector<std::string>& unit_series();
/// @brief The same of a trained unit.
std::vector<double> unit_values(const UnitMeasures& measures, const TrainedUnit& unit);

}  // namespace attica
