#pragma once
/// @file
/// @brief The training loop: recorded steps, stop requests, divergence as data, checkpoints that
/// resume to the bit.
///
/// Nothing random is carried from step to step: data, masks and dropout of step n come from streams
/// addressed by n. The state of a run is therefore parameters, optimiser memory and the step
/// counter.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "attica/sim/networks/optimiser.hpp"
#include "attica/sim/networks/parameters.hpp"

namespace attica::networks {

enum class TrainingStatus {
  finished,  ///< the last recorded step was reached
  diverged,  ///< the loss or the gradient of a step was not finite; that step's update was not made
  stopped,   ///< asked to stop; the checkpoint, if there is one, holds the state
};

/// @brief How a call of train() ended.
struct [[nodiscard]] TrainingResult {
  TrainingStatus status;
  std::uint64_t step;  ///< number of updates made
};

/// @brief What a run carries besides parameters and optimiser; part of its checkpoint.
struct TrainingState {
  std::uint64_t step = 0;  ///< number of updates made
  double loss_sum = 0;     ///< of the batches since the last record
  std::uint64_t loss_count = 0;
  std::vector<double> observed =
      {};  ///< free for the observer, e.g. everything it has recorded so far
};

/// @brief What the observer is told.
struct TrainingRecord {
  std::uint64_t step;  ///< parameters are those after so many updates
  std::optional<double>
      batch_loss;  ///< mean over the batches since the record before, each before its update
};

/// @brief When to look, stop and save.
struct TrainingPlan {
  std::vector<std::uint64_t>
      recorded;  ///< steps, strictly ascending; the last one is the length of the run
  std::function<void(const TrainingRecord&, TrainingState&)> observe = {};
  std::function<bool()> stop = {};  ///< asked before every step
  std::uint64_t optimiser_reset_every =
      0;                                  ///< fresh optimiser memory every so many steps; 0: never
  std::filesystem::path checkpoint = {};  ///< empty: none. Written when stopped and ...
  double checkpoint_seconds = 0;          ///< ... after so many seconds (0: not)
  StreamAddress run = {};                 ///< seed, point and replicate, kept in the checkpoint
};

/// @brief Trains from state.step on.
/// @param gradient          where loss_and_gradient leaves the gradient, laid out as the parameters
/// @param loss_and_gradient loss of step n's batch at the current parameters, and its gradient
/// @throws Error (input) for a plan out of its domain, (storage) if a checkpoint cannot be written
template <class T>
TrainingResult train(Parameters<T>& parameters,
                     std::span<const T> gradient,
                     Optimiser<T>& optimiser,
                     TrainingState& state,
                     const TrainingPlan& plan,
                     const std::function<double(std::uint64_t step)>& loss_and_gradient);

/// What an observer sees and what it does with it, apart, so that a run that is carried on can tell
/// again what was seen before.
struct KeptRecords {
  std::function<std::vector<double>(std::uint64_t step)> measure;
  std::function<void(std::uint64_t step, const std::vector<double>& values)> tell;
};

/// @brief Trains as `train` does, and keeps its state in a file now and then and when stopped: a
/// call that finds the state of the same run carries on from there, and tells the same records.
///
/// What is measured is kept with the state (`TrainingState::observed`). A file that is missing,
/// damaged or of another run counts as none; it is left behind at the end.
/// @param file empty: nothing is kept
/// @param plan its `observe` and `checkpoint` are not used
template <class T>
TrainingResult train_kept(const std::filesystem::path& file,
                          Parameters<T>& parameters,
                          std::span<const T> gradient,
                          Optimiser<T>& optimiser,
                          TrainingPlan plan,
                          const KeptRecords& records,
                          const std::function<double(std::uint64_t step)>& loss_and_gradient);

/// @brief Writes the state of a run to a file, atomically, with a checksum. Numbers are stored as
/// they lie in memory.
/// @throws Error (storage) naming the file
template <class T>
void save_checkpoint(const std::filesystem::path& file,
                     const Parameters<T>& parameters,
                     Optimiser<T>& optimiser,
                     const TrainingState& state,
                     const StreamAddress& run);

/// @brief Reads it back into parameters and optimiser of the same blocks and kind.
/// @throws Error (storage) naming the file if it is missing, damaged, or of another network,
/// optimiser or run; nothing is changed then
template <class T>
TrainingState load_checkpoint(const std::filesystem::path& file,
                              Parameters<T>& parameters,
                              Optimiser<T>& optimiser,
                              const StreamAddress& run);

}  // namespace attica::networks
