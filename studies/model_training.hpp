#pragma once
/// @file
/// @brief A model on its population as an experiment: its training theory, and its training.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "attica/studies/pointwise.hpp"
#include "attica/theory/training/first_order.hpp"

namespace attica {

/// @brief The mean of `loss` over runs, and of observables, against `step`. The theory is
/// `training_theory`; a replicate is one run, whose batches are drawn from the population.
class ModelTraining : public PointwiseExperiment {
 public:
  using Named = std::vector<std::pair<std::string, Observable>>;

  /// @param plan descent or heavy ball on fresh batches; the simulation takes its steps
  /// @throws Error (input) naming `update`, `batch`, `samples` or `clip_norm` for other plans
  ModelTraining(std::unique_ptr<const PopulationModel> model,
                TrainingPlan plan,
                Named observables = {},
                TheoryMethod method = {.pairs = 16});

  TheoryResult theory(TheoryGrid grid) const override;

 protected:
  Outcome run(const Replicate& replicate) const override;
  double flops(std::size_t point) const override;

 private:
  std::vector<std::string> names() const;

  std::unique_ptr<const PopulationModel> model_;
  TrainingPlan plan_;
  Named observables_;
  TheoryMethod method_;
};

/// @brief A figure of such an experiment: a panel for each series.
Figure training_figure(const std::string& name, const std::vector<std::string>& series);

}  // namespace attica
