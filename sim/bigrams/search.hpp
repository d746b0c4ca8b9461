#pragma once
/// @file
/// @brief How many samples training takes: the smallest batch with which enough runs reach a
/// target, and what they then use.

#include <cstdint>
#include <functional>
#include <stop_token>

#include "attica/sim/bigrams/training.hpp"

namespace attica {

/// The batches that are tried, and how often.
struct BatchSearch {
  double first = 1;   ///< batch at which the search begins
  double ratio = 2;   ///< of neighbouring batches, > 1
  double offset = 0;  ///< of the grid, in [0, 1) of its step: batches are first ratio^(b + offset)
  int batches = 1;    ///< that are tried at most upwards
  int runs = 1;       ///< with each batch
  int failures = 0;   ///< of them that a batch may have
};

/// How one run came out.
struct TargetRun {
  bool reached = false;
  double samples = 0;   ///< used until it reached the target or gave up
  double crossing = 0;  ///< where it reached it, ln(error) being linear between two looks
};

/// @brief Trains in stages until the rounded solution's error, looked at as often as the stages
/// say, is below `epsilon`; the first look is after a step of stage 2.
TargetRun run_to_target(BigramTrainer& trainer, const BigramStages& stages, double epsilon);

/// What was found.
struct [[nodiscard]] BatchFound {
  bool found = false;  ///< false: no batch succeeds, or the search was asked to stop
  double batch = 0;
  double samples = 0;  ///< median over the runs that reached the target with it
  double cap = 0;      ///< the most that any run of the search used
};

/// @brief Tries rising batches, whole numbers, until one succeeds; if the first one does, smaller
/// ones until one fails, or down to 1.
/// @param train makes the run of that number in the search, each number at most once
BatchFound smallest_batch(const BatchSearch& search,
                          const std::function<TargetRun(double batch, std::uint64_t run)>& train,
                          const std::stop_token& stop = {});

}  // namespace attica
