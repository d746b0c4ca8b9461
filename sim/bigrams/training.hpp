#pragma once
/// @file
/// @brief Training in stages: boost the signal, threshold once, l1 steps, rounding.

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include "attica/sim/bigrams/trainer.hpp"

namespace attica {

/// When stages begin and end.
struct BigramStages {
  bool boost = true;               ///< false: start at stage 2 (transfer)
  double theta = 0.5;              ///< stage 1 ends at K_V >= θ² K_P, 0 < θ <= 1
  std::int64_t boost_cap = 0;      ///< steps after which stage 1 gives up
  double lambda = 0;               ///< l1 of stage 2
  double cut = 0;                  ///< entries below it are zeroed once, before stage 2
  std::int64_t steps = 0;          ///< of stage 2
  std::int64_t measure_every = 1;  ///< steps of stage 2 between calls of `observe`
  /// Called before every step of stage 1 with the steps made until then; may be empty.
  std::function<void(std::int64_t)> while_boosting = {};
  std::stop_token stop = {};  ///< a run that is asked to stop ends where it stands
};

/// How a run ended: a word for the record.
enum class BigramStatus {
  converged,  ///< all steps made, and none of the following
  boosting,   ///< the signal never reached the trigger
  mirror,     ///< the signal grew with the wrong sign
  collapsed,  ///< l1 removed the signal: a column of A is 0, or K_V < 1e-3 K_P
  diverged,
  failed,  ///< rounding found a column without a positive entry
};
std::string describe(BigramStatus status);

/// @brief How the run stands: diverged, collapsed (with l1 alone), mirror or converged.
BigramStatus status_of(const BigramTrainer& trainer);

struct BigramTrainingEnd {
  BigramStatus status = BigramStatus::converged;
  std::int64_t boost_steps = 0;
  std::int64_t steps = 0;  ///< in all
};

/// @brief Steps until |α_V| >= θ, the run has made `most_steps` in all, or is asked to stop.
/// @return α_V
double grow_signal(BigramTrainer& trainer,
                   double theta,
                   double most_steps,
                   const std::stop_token& stop = {});

/// A run in stages and the solution it was rounded to, where it converged.
struct RoundedRun {
  BigramStatus status = BigramStatus::converged;
  RoundedBigram result = {};
};

/// @brief Runs the stages on a trainer and rounds what a converged run has found, keeping entries
/// of at least θ times a column's largest.
/// @param observe as for run_stages
RoundedRun run_and_round(BigramTrainer& trainer,
                         const BigramStages& stages,
                         const std::function<bool(std::int64_t)>& observe);

/// @brief Runs the stages on a trainer.
/// @param observe called with the number of stage-2 steps made, at 0 and every measure_every;
/// returns false to stop
BigramTrainingEnd run_stages(BigramTrainer& trainer,
                             const BigramStages& stages,
                             const std::function<bool(std::int64_t)>& observe);

}  // namespace attica
