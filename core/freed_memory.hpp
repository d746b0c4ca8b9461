#pragma once
/// @file
/// @brief What becomes of memory that is freed.

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace attica {

/// @brief Keeps it in the process, for programs (main calls this first).
///
/// Replicates allocate the same matrices again and again. Handed back to the system in between,
/// their pages are cleared anew each time: up to a third of a run.
inline void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}

}  // namespace attica
