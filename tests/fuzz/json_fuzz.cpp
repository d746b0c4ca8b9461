// Any bytes are either rows of equally many fields, which read the same when they are written with
// names of columns and lists of rows, or an Error of kind input.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "attica/core/error.hpp"
#include "attica/core/json_rows.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attica;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const JsonRows table = read_json_rows(text, "input");
    if (table.rows.empty()) std::abort();
    const std::size_t width = table.names.empty() ? table.rows.front().size() : table.names.size();
    if (width == 0) std::abort();
    for (const std::vector<std::string>& row : table.rows) {
      if (row.size() != width) std::abort();
    }
    nlohmann::json again;
    if (table.names.empty()) {
      again = table.rows;
    } else {
      again["columns"] = table.names;
      again["data"] = table.rows;
    }
    const JsonRows reread = read_json_rows(again.dump(), "again");
    if (reread.names != table.names || reread.rows != table.rows) std::abort();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::input) std::abort();
  }
  return 0;
}
