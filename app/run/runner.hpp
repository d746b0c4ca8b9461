#pragma once
/// @file
/// @brief Carries out pieces of work on a thread pool and stops when asked to.

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <thread>

#include "attica/app/run/ranks.hpp"
#include "attica/app/run/results.hpp"
#include "attica/app/run/work.hpp"

namespace attica::app {

struct RunnerOptions {
  int threads = 1;
  std::optional<double> max_seconds;  ///< stop starting new pieces after this time
  bool quiet = false;
  const Ranks* ranks = nullptr;  ///< other processes that carry out pieces too
  /// Folder for the states of pieces under way in this process; empty: none are kept.
  std::filesystem::path states = {};
};

enum class RunnerEnd {
  finished,
  out_of_time,
  interrupted,  ///< SIGINT, SIGTERM, SIGUSR1 or SIGHUP
};

/// @brief Runs the pieces, each on one thread of this process or on another rank, and hands every
/// result to `store`, which may be called by several threads at once and stores what is finished
/// when it returns. The first exception stops the rest and is thrown again.
RunnerEnd run_pieces(const Work& work,
                     std::span<const PieceOfRun> pieces,
                     const std::function<void(const PieceOfRun&, PartRecord)>& store,
                     const RunnerOptions& options);

/// @brief While it lives, SIGINT, SIGTERM, SIGUSR1 and SIGHUP end the process at once: before the
/// work with kExitInterrupted, after `checkpoint()` with kExitStopped. During run_pieces they stop
/// the work in good order instead.
class ExitOnSignal {
 public:
  ExitOnSignal();
  ~ExitOnSignal();
  ExitOnSignal(const ExitOnSignal&) = delete;
  ExitOnSignal& operator=(const ExitOnSignal&) = delete;
  /// @brief From now on there is something that --resume can carry on with.
  void checkpoint();

 private:
  std::array<struct sigaction, 4> previous_{};
};

/// @brief The time limit of a whole run, its set-up included. A little after it the process ends
/// with kExitStopped, whatever it is doing: what cannot be interrupted, such as a large
/// decomposition, must not go on for ever. Finished work is on disk then.
class Deadline {
 public:
  /// @param seconds from now on; empty: no limit
  explicit Deadline(std::optional<double> seconds);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  /// @brief The work is done: what remains is written however long it takes.
  void lift();
  /// @brief Seconds that are left; empty: no limit.
  std::optional<double> left() const;

 private:
  struct State;
  std::chrono::steady_clock::time_point start_;
  std::optional<double> seconds_;
  std::unique_ptr<State> state_;
  std::jthread watcher_;
};

}  // namespace attica::app
