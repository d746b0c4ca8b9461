// Any bytes are either a matrix of finite numbers (.npy or CSV) or an Error of kind input.
#include <cstdlib>

#include "attica/core/error.hpp"
#include "attica/sim/networks/matrix_file.hpp"
#include "fuzz/input_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attica;
  const InputFile file(data, size);
  try {
    if (!networks::read_matrix(file.path()).allFinite()) std::abort();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::input) std::abort();
  }
  return 0;
}
