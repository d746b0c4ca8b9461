#pragma once
/// @file
/// @brief Between instructions_used.cpp and instructions.cpp.

namespace attica {

/// Bit k: the k-th extension of instruction_sets() is used by this build.
extern const unsigned kInstructionsUsed;

}  // namespace attica
