#pragma once
/// @file
/// @brief The mean over runs of topics-two-stage by the training theory of the population: SGD or
/// heavy ball at its own rate.

#include <optional>
#include <vector>

#include "attica/sim/networks/optimiser.hpp"
#include "attica/studies/curves.hpp"
#include "attica/studies/topics/two_stage_problem.hpp"
#include "attica/theory/topics/topic_population.hpp"
#include "attica/theory/training/first_order.hpp"

namespace attica {

class TwoStageTraining {
 public:
  /// @param batch   documents of a batch, 0: the population
  /// @param queries selected positions of each
  TwoStageTraining(const TwoStageProblem& problem,
                   const networks::OptimiserOptions& optimiser,
                   std::int64_t batch,
                   std::int64_t queries);

  struct Means {
    /// `observed` are the norms of W_V, W_K and W_Q, the loss without penalties and the six entries
    /// of W_V; fewer records than steps if descent on the population diverges.
    std::vector<TrainingTheoryRecord> records;
    /// The mean step at which |(W_K, W_Q)| has grown by the threshold; empty if that is not before
    /// the last one in nearly all runs.
    std::optional<PredictedValue> growth_step;
  };
  /// @param steps ascending
  Means means(const std::vector<std::uint64_t>& steps, double threshold) const;

 private:
  /// |W_K|² + |W_Q|²
  double growth(const Eigen::VectorXd& theta) const;
  /// The first step before the last one at which that is at a level in descent on the population.
  std::optional<std::uint64_t> first_step(double level, std::uint64_t last) const;
  std::vector<Observable> observables() const;

  CommutantAlgebra algebra_;
  TopicPositions positions_;
  GroupedPopulation documents_;
  TrainingPlan plan_;
  TheoryMethod method_;
};

}  // namespace attica
