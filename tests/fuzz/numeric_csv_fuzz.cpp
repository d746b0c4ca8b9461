// Any bytes are either a rectangular table of finite numbers or an Error of kind input.
#include <cstdint>
#include <cstdlib>

#include "attica/core/error.hpp"
#include "attica/core/matrix_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attica;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const CsvHeader header : {CsvHeader::required, CsvHeader::optional}) {
    try {
      const NumericTable table = parse_matrix(bytes, "input", header).table;
      if (table.values.size() == 0 || !table.values.allFinite()) std::abort();
      if (!table.columns.empty() &&
          static_cast<Eigen::Index>(table.columns.size()) != table.values.cols())
        std::abort();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::input) std::abort();
    }
  }
  return 0;
}
