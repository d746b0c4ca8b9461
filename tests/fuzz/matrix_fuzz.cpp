// Any bytes are either a matrix of finite numbers (.npy or CSV) or an Error of kind input.
#include <cstdlib>

#include "attica/core/error.hpp"
#include "attica/core/numeric_csv.hpp"
#include "fuzz/input_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attica;
  const InputFile file(data, size);
  try {
    if (!read_numeric_csv(file.path(), CsvHeader::optional).values.allFinite()) std::abort();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::input) std::abort();
  }
  return 0;
}
