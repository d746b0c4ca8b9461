#pragma once
/// @file
/// @brief How far a run is: a bar with the time left on a terminal, else a line a minute. On
/// standard error.

#include <chrono>
#include <string>
#include <thread>

namespace attica::app {

class Progress {
 public:
  /// @param quiet prints nothing
  explicit Progress(bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// @brief Reports that this share of the work, from 0 to 1, is done. Call from one thread.
  void update(double share);

 private:
  using Clock = std::chrono::steady_clock;
  bool quiet_;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point start_;
  Clock::time_point last_;
};

/// @brief "3 s", "2 min 10 s", "1 h 5 min".
std::string duration_text(double seconds);

/// @brief Says after some seconds, unless quiet, what takes so long: set-up that has no progress to
/// show.
class Notice {
 public:
  Notice(bool quiet, std::string text);

 private:
  std::jthread waiting_;
};

/// What a notice says while a theory is computed.
inline constexpr const char* kComputingTheory =
    "computing the theory; at large sizes some take minutes ...";

}  // namespace attica::app
