// Any bytes are, as each kind of table, either rows with finite x and what belongs to their kind,
// or an Error of kind input; rows that two readings share are the same.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "attica/core/error.hpp"
#include "attica/sources/table.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attica;
  using namespace attica::sources;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const TableFormat formats[] = {
      {.kind = TableKind::theory},
      {.kind = TableKind::replicates},
      {.kind = TableKind::one_replicate, .x_required = false},
      {.kind = TableKind::replicates, .columns = {.values = {"value", "lambda"}}},
      {.kind = TableKind::replicates, .columns = {.values = {"value"}, .sd = "sem", .n = "5"}}};
  for (const TableFormat& format : formats) {
    try {
      const OutsideTable table = read_table(text, "input", format);
      if (table.rows.empty() || table.coordinates.size() != table.coordinate_at.size())
        std::abort();
      for (const TableRow& row : table.rows) {
        if (!std::isfinite(row.x) || row.finite_size < 0 || row.numerical_error < 0) std::abort();
        if (format.kind != TableKind::theory && std::isinf(row.value)) std::abort();
        if (table.summary && (row.n < 1 || row.n > 1000000 || !std::isfinite(row.sem)))
          std::abort();
      }
      // Stand-ins of a million replicates take long, and are tested elsewhere.
      constexpr std::size_t kMost = 100;
      std::size_t most = 0;
      for (const TableRow& row : table.rows) most = std::max(most, row.n);
      if (format.kind == TableKind::theory) {
        static_cast<void>(predictions(table, "x"));
      } else if (most < kMost) {
        static_cast<void>(recorded_outcomes(table, "x"));
      }
      if (column_names(text, "input").empty()) std::abort();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::input) std::abort();
    }
  }
  return 0;
}
