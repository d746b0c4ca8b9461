/// @file
/// @brief What this build uses, as constants: compiled with the flags of all other sources.

#include "attica/core/instructions_used.hpp"

namespace attica {

extern const unsigned kInstructionsUsed = 0
#if defined(__SSE4_2__)
                                          | 1U << 0
#endif
#if defined(__AVX__)
                                          | 1U << 1
#endif
#if defined(__AVX2__)
                                          | 1U << 2
#endif
#if defined(__FMA__)
                                          | 1U << 3
#endif
#if defined(__BMI2__)
                                          | 1U << 4
#endif
#if defined(__AVX512F__)
                                          | 1U << 5
#endif
#if defined(__AVX512DQ__)
                                          | 1U << 6
#endif
#if defined(__AVX512BW__)
                                          | 1U << 7
#endif
#if defined(__AVX512VL__)
                                          | 1U << 8
#endif
#if defined(__AVX512VBMI__)
                                          | 1U << 9
#endif
#if defined(__AVX512VNNI__)
                                          | 1U << 10
#endif
#if defined(__GFNI__)
                                          | 1U << 11
#endif
    ;

}  // namespace attica
