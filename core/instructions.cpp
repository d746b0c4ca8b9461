/// @file
/// @brief Compiled without -march (core/CMakeLists.txt), and with nothing of the standard library
/// that the linker might take from another source: it must run where the rest does not.

#include "attica/core/instructions.hpp"

#include <stdio.h>   // NOLINT(*-deprecated-headers): no inline functions
#include <stdlib.h>  // NOLINT(*-deprecated-headers)

#include "attica/core/instructions_used.hpp"

namespace attica {

void instruction_sets(InstructionSet (&sets)[kInstructionSets]) noexcept {
  const char* const names[kInstructionSets] = {"SSE4.2",
                                               "AVX",
                                               "AVX2",
                                               "FMA",
                                               "BMI2",
                                               "AVX512F",
                                               "AVX512DQ",
                                               "AVX512BW",
                                               "AVX512VL",
                                               "AVX512VBMI",
                                               "AVX512VNNI",
                                               "GFNI"};
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool available[kInstructionSets] = {__builtin_cpu_supports("sse4.2") != 0,
                                            __builtin_cpu_supports("avx") != 0,
                                            __builtin_cpu_supports("avx2") != 0,
                                            __builtin_cpu_supports("fma") != 0,
                                            __builtin_cpu_supports("bmi2") != 0,
                                            __builtin_cpu_supports("avx512f") != 0,
                                            __builtin_cpu_supports("avx512dq") != 0,
                                            __builtin_cpu_supports("avx512bw") != 0,
                                            __builtin_cpu_supports("avx512vl") != 0,
                                            __builtin_cpu_supports("avx512vbmi") != 0,
                                            __builtin_cpu_supports("avx512vnni") != 0,
                                            __builtin_cpu_supports("gfni") != 0};
#else
  const bool available[kInstructionSets] = {};
#endif
  for (int k = 0; k < kInstructionSets; ++k) {
    sets[k] = {names[k], (kInstructionsUsed >> k & 1U) != 0, available[k]};
  }
}

bool instructions_available() noexcept {
  InstructionSet sets[kInstructionSets];
  instruction_sets(sets);
  for (const InstructionSet& set : sets) {
    if (set.used && !set.available) return false;
  }
  return true;
}

void require_instruction_sets() noexcept {
  InstructionSet sets[kInstructionSets];
  instruction_sets(sets);
  bool suffices = true;
  for (const InstructionSet& set : sets) suffices = suffices && (set.available || !set.used);
  if (suffices) return;
  fputs("attica was built for a processor with", stderr);
  for (const InstructionSet& set : sets) {
    if (set.used && !set.available) fprintf(stderr, " %s", set.name);
  }
  fputs(
      ", which this one lacks: build it on this machine, or with -DATTICA_MARCH=x86-64-v3 and "
      "-DATTICA_NATIVE=OFF\n",
      stderr);
  _Exit(2);
}

}  // namespace attica
