#pragma once
/// @file
/// @brief Processes that mpirun started together: rank 0 reads, writes and talks, the others carry
/// out pieces of work.

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>

#include "attica/app/run/results.hpp"
#include "attica/app/run/work.hpp"

namespace attica::app {

/// @brief The processes of this run; one alone unless mpirun started several. Make one per process,
/// before anything that only one of them may do.
class Ranks {
 public:
  /// Meets the others, if there are any.
  /// @throws Error of kind input if there are others but attica was built without MPI
  Ranks();
  /// Rank 0 lets the others go.
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  bool leads() const { return rank_ == 0; }
  std::size_t count() const { return count_; }

  /// @brief Has another rank carry out a piece, and waits for it. Several threads may call this at
  /// once, each for its own rank.
  /// @throws Error that the other rank met
  PartRecord remote(std::size_t rank, const PieceOfRun& piece, const std::stop_token& stop) const;

  /// @brief What a rank other than 0 does: prepares the same work and carries out what it is given,
  /// until rank 0 lets it go. Errors are told to rank 0.
  void serve(const std::function<Work()>& prepare);

 private:
  std::size_t rank_ = 0;
  std::size_t count_ = 1;
  mutable std::mutex mutex_;  ///< of all calls of MPI while several threads make them
};

/// @brief Carries out one piece on this thread.
/// @param states folder in which it keeps its state, to be carried on; empty: it keeps none
PartRecord carry_out(const Work& work,
                     const PieceOfRun& piece,
                     const std::stop_token& stop,
                     const std::filesystem::path& states = {});

}  // namespace attica::app
