// Any bytes are either a table of replicates or an Error of kind storage.
#include <cstdlib>

#include "attica/app/run/results.hpp"
#include "attica/core/error.hpp"
#include "fuzz/input_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attica;
  const InputFile file(data, size);
  try {
    app::replicates_csv("study", app::read_replicates(file.path()));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::storage) std::abort();
  }
  return 0;
}
