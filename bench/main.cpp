#include <benchmark/benchmark.h>

#include "attica/core/platform.hpp"

int main(int argc, char** argv) {
  attica::platform::keep_freed_memory();  // as in attica
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
