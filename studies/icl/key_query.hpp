#pragma once
/// @file
/// @brief What the studies of merged and separate keys and queries share: the [model] and [sim]
/// sections, the simulated run, margins.

#include <cstdint>
#include <string>
#include <vector>

#include "attica/core/icl/key_query.hpp"
#include "attica/sim/icl/key_query.hpp"
#include "attica/studies/kit.hpp"

namespace attica {

/// @brief The problem as configured.
struct KeyQuerySetup {
  /// @throws Error (input) naming the parameter
  explicit KeyQuerySetup(const Configuration& configuration);

  /// @brief Times on the grid of steps. @throws as the constructor
  double time(std::int64_t step) const { return descent.eta * static_cast<double>(step); }
  /// @brief The same on the population, in steps of 0.01/speed or a little less: what is recorded
  /// is the same times.
  KeyQuerySetup on_population() const;
  /// @brief A warning where no end of training is stable: the sum over heads is that of its end.
  void warn_if_unstable(double sum, std::vector<std::string>& warnings) const;
  /// @throws Error (input) naming sim.batch where the sequences of a step take more than 4 GB
  void require_memory() const;
  /// @brief Work of a run in floating-point operations.
  double flops() const;

  KeyQueryTask task;
  KeyQueryDescent descent;
  std::vector<std::int64_t> steps;  ///< recorded
};

/// What a simulated run gave.
struct KeyQueryRun {
  std::vector<double> mse;        ///< at the recorded steps
  std::vector<double> crossings;  ///< times at which the error first fell below the levels
  std::int64_t diverged = 0;      ///< step; 0 if it did not
};
/// @param levels falling; a level that is not reached has no crossing, nor have those after it
KeyQueryRun simulate_run(const KeyQuerySetup& setup,
                         const KeyQueryShape& shape,
                         const Eigen::VectorXd& weights,
                         const std::vector<double>& levels,
                         const Replicate& replicate);
/// @brief A start at zero is a fixed point: there is nothing to simulate. @throws Error (input)
void require_start(const char* key, double scale);
/// @brief Sequences of a step from which on margins do not shrink.
inline constexpr double kUsualBatch = 64;
/// @brief λ² of the largest eigenvalue in units of that of D = 4 inputs at power 1, where steps and
/// noise were measured; 1 at least.
double speed(const KeyQueryTask& task);
/// @brief Margin of descent on the population: what steps of 0.01/speed leave, as measured.
inline constexpr double kPopulationMargin = 0.0025;
/// @brief Says that a run diverged. @return whether it did
bool record_divergence(Outcome& outcome, const KeyQueryRun& run);

/// @brief Whether theory, which is of the population, describes training: on at least 1000 fixed
/// sequences, which leave the error off by 250 over their number.
bool enough_sequences(const Configuration& configuration);

/// @brief Margin of the mean square error: sampling and steps, as measured. @param base 1.5 %,
/// or more
AgreementRule mse_rule(const Configuration& configuration, double base);

/// @name Second and fourth moments of what a context of N = 4 pairs is drawn to be: E|beta|^2 and
/// E|Lambda^-1/2 beta|^4 for beta = (1/N) sum y x, where a long context hides slips of order 1/N.
/// Exact for Gaussian inputs and tasks (ours: chi-squared moments along and across the task).
/// @{
void add_context_moments(const KeyQueryTask& task, TheoryResult& result);
void draw_contexts(const KeyQueryTask& task, const Replicate& replicate, Outcome& outcome);
std::vector<AgreementRule> context_moments_rules();
/// @}

}  // namespace attica
