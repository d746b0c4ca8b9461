// Any bytes are either a matrix of finite numbers (.npy or CSV), which reads the same as .npy of
// float64, or an Error of kind input.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "attica/core/error.hpp"
#include "attica/core/matrix_file.hpp"
#include "attica/core/npy.hpp"

namespace {

/// .npy, version 1, in Fortran order as Eigen keeps it.
std::string npy_of(const Eigen::MatrixXd& m) {
  const std::string header = "{'descr': '<f8', 'fortran_order': True, 'shape': (" +
                             std::to_string(m.rows()) + ", " + std::to_string(m.cols()) + "), }\n";
  std::string bytes = "\x93NUMPY\x01";
  bytes += '\0';
  bytes += static_cast<char>(header.size());
  bytes += '\0';
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(m.data()),
               static_cast<std::size_t>(m.size()) * sizeof(double));
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attica;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    const Eigen::MatrixXd values = parse_matrix(bytes, "input", CsvHeader::optional).table.values;
    if (values.size() == 0 || !values.allFinite()) std::abort();
    if (read_npy(npy_of(values), "again").values != values) std::abort();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::input) std::abort();
  }
  return 0;
}
