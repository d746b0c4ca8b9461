#pragma once
/// @file
/// @brief What a run will take in time, memory and disk, measured on single replicates before it
/// starts: what `run --dry-run` and `plan` tell.

#include <optional>
#include <string>

#include "attica/app/run/work.hpp"

namespace attica::app {

/// Cost of a run, from replicates at a few of its points.
struct CostEstimate {
  double setup_seconds = 0;      ///< what the first replicate of every problem takes longer
  double replicate_seconds = 0;  ///< of one replicate at all points, on one thread
  double replicate_bytes = 0;    ///< the same on disk: part files and tables
  double thread_bytes = 0;       ///< memory that a thread needs at most besides the program's own
  double program_bytes = 0;      ///< memory of the program before it simulates
  bool complete = true;          ///< false: the time was over first, all numbers are lower bounds
  bool out_of_memory = false;    ///< a replicate could not be simulated for want of memory

  /// @brief Wall time of so many replicates.
  double seconds(double replicates, int threads) const;
  /// @brief Memory of such a run, the tables that it holds at its end included.
  double memory(double replicates, int threads) const;
  double disk(double replicates) const { return replicate_bytes * replicates; }
};

/// @brief Simulates one or two replicates at up to five points, in a process of its own, so that it
/// can be given up and its memory be measured, for `limit` seconds at most. Where that is too short
/// for a replicate, two shorter runs (all parameters of [sim] that are steps, times, lengths or a
/// burn-in) tell what a step costs, within twenty times the time, which is said unless `quiet`.
/// Empty if no process can be made, or nothing is simulated.
std::optional<CostEstimate> estimate_cost(const Work& work, double limit, bool quiet);

/// @brief Three lines: time, memory, disk; with a warning where the memory does not suffice.
std::string cost_text(const CostEstimate& cost, double replicates, int threads);
/// @brief The same as an object: seconds, memory_bytes, disk_bytes, complete.
Json cost_json(const CostEstimate& cost, double replicates, int threads);

}  // namespace attica::app
