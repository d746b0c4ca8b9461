#include "attica/app/program.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif

int main(int argc, char** argv) {
#ifdef __GLIBC__
  // Replicates allocate the same matrices again and again. Handed back to the system in between,
  // their pages are cleared anew each time: up to a third of a run.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
  return attica::app::program(argc, argv, attica::studies());
}
