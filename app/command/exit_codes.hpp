#pragma once
/// @file
/// @brief Exit codes of the program.

namespace attica::app {

inline constexpr int kExitDone = 0;           ///< done, or AGREE
inline constexpr int kExitDisagree = 1;       ///< DISAGREE
inline constexpr int kExitUsage = 2;          ///< usage, configuration or input file
inline constexpr int kExitInconclusive = 3;   ///< INCONCLUSIVE
inline constexpr int kExitNumerical = 4;      ///< divergence, no convergence, a non-finite number
inline constexpr int kExitStorage = 5;        ///< output and run folders
inline constexpr int kExitStopped = 75;       ///< stopped at a checkpoint: run again with --resume
inline constexpr int kExitInterrupted = 130;  ///< interrupted before any checkpoint

}  // namespace attica::app
