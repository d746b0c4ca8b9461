#pragma once
/// @file
/// @brief The widest registers of the instruction set that is compiled for.

#include <cstddef>

namespace attica {

/// Bytes of a register. Wider vectors are taken apart number by number, which is twenty times
/// slower.
#if defined(__AVX512BW__)
inline constexpr std::size_t kRegisterBytes = 64;
#elif defined(__AVX2__)
inline constexpr std::size_t kRegisterBytes = 32;
#else
inline constexpr std::size_t kRegisterBytes = 16;
#endif

}  // namespace attica
