// Any bytes are either an alignment of colours below the alphabet's size, or an Error of kind
// input.
#include <cstdlib>

#include "attica/core/error.hpp"
#include "attica/core/potts/alignment.hpp"
#include "fuzz/input_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attica;
  const InputFile file(data, size);
  try {
    const Alignment alignment = read_alignment(file.path());
    require_sequences(alignment.sequences, alignment.sequences.cols(), alignment.colours());
    if (alignment.sequences.rows() < 2) std::abort();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::input) std::abort();
  }
  return 0;
}
