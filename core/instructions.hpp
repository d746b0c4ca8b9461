#pragma once
/// @file
/// @brief Extensions of the instruction set: those that this build uses, those that the processor
/// has.

namespace attica {

/// An extension of the x86-64 instruction set that a compiler uses on its own.
struct InstructionSet {
  const char* name;
  bool used;       ///< by this build: what -march allowed
  bool available;  ///< on the processor that this runs on
};

inline constexpr int kInstructionSets = 12;

/// @brief Fills one entry for each extension; nothing is used where the processor is not an x86-64.
/// May be called before static objects are made: it runs on any processor of the family.
void instruction_sets(InstructionSet (&sets)[kInstructionSets]) noexcept;

/// @brief Whether the processor has all extensions that this build uses. As `instruction_sets`.
bool instructions_available() noexcept;

/// @brief Ends the process with exit code 2 and a sentence on standard error if this build uses an
/// extension that the processor lacks, which would otherwise end in an illegal instruction.
void require_instruction_sets() noexcept;

}  // namespace attica
