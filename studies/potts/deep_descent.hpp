#pragma once
/// @file
/// @brief Deep factored networks that learn from one start: the curves of a training and their
/// training theory.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "attica/sim/potts/deep_factored.hpp"
#include "attica/studies/kit.hpp"
#include "attica/theory/training/first_order.hpp"

namespace attica {

/// @brief The loss and, for layer = 1 .. N, `msd` of one training.
class DeepCurves {
 public:
  /// @param loss name of its series
  DeepCurves(const Point& point, int layers, const std::string& loss = "test_loss");

  static Point of_layer(const Point& point, std::size_t layer);

  /// @param msd one value a layer
  void add(std::uint64_t step, PredictedValue loss, const std::vector<PredictedValue>& msd);
  std::size_t layers() const { return moved_.size(); }
  const Point& point() const { return point_; }

  void into(Outcome& outcome) const;
  /// @brief Tolerances of `msd` get 0.5 % of the largest value: where a curve is small its relative
  /// error says little.
  void into(TheoryResult& theory);

 private:
  Point point_;
  Curves losses_;
  std::vector<Curves> moved_;
};

/// @brief What SGD from one start does, by the training theory of the population.
struct DeepDescent {
  std::vector<TrainingTheoryRecord> path;  ///< at recorded steps; `observed`: MSD of every layer
  std::size_t described = 0;               ///< so many of them are compared
};

/// @brief What a theory of deep factored networks is asked for.
struct DeepDescentPlan {
  std::int64_t samples = 0;  ///< stored ones, of which a batch masks one site each; 0: fresh
  TheoryMethod method;

  /// @param c with sim.samples, theory.rank and theory.hold
  explicit DeepDescentPlan(const Configuration& c);

  /// @brief Why so many trainings up to their last recorded step have no theory; empty: they have.
  std::string missing(const BodyModel& model,
                      const DeepFactoredTraining& training,
                      std::size_t trainings) const;
  /// @brief Adds the curves of the training from `training.start`, and a warning where they end.
  /// @param curves empty ones
  DeepDescent add(const BodyModel& model,
                  const DeepFactoredTraining& training,
                  DeepCurves curves,
                  TheoryResult& result) const;
};

}  // namespace attica
