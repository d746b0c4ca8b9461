#include "attica/app/figures/table_curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "attica/app/run/results.hpp"

namespace attica::app {

TableData table_data(const std::string& bytes,
                     const std::string& shown,
                     const std::string& x,
                     const sources::TableColumns& columns,
                     bool points) {
  TableData result;
  const bool simulation = sources::is_simulation(sources::column_names(bytes, shown), columns);
  const sources::OutsideTable table = sources::read_table(
      bytes,
      shown,
      {.kind = simulation ? sources::TableKind::replicates : sources::TableKind::theory,
       .x_name = x,
       .x_required = true,
       .columns = columns});
  result.remarks = table.remarks;
  result.x_unit = table.x_unit;
  result.value_unit = table.value_unit;
  std::size_t missing = 0;
  std::size_t first = 0;
  for (const sources::TableRow& row : table.rows) {
    if (std::isfinite(row.value)) continue;
    if (missing++ == 0) first = row.line;
  }
  if (missing > 0) {
    result.remarks.push_back(fmt::format("{}:{}: {} without a value{} left out",
                                         shown,
                                         first,
                                         missing == 1 ? "a row" : fmt::format("{} rows", missing),
                                         missing == 1 ? " is" : ", this is the first, are"));
  }
  if (simulation) {
    Replicates replicates;
    replicates.add(
        {.first_replicate = 0, .outcomes = sources::recorded_outcomes(table, x).outcomes}, {});
    replicates.finish();
    result.data.curves = recorded_curves({}, replicates);
    return result;
  }
  for (const Prediction& prediction : sources::predictions(table, x)) {
    // Where there is no value, nothing is drawn. Rows may stand in any order; a line has one.
    const Series& rows = prediction.series;
    std::vector<std::size_t> order;
    for (std::size_t k = 0; k < rows.x.size(); ++k) {
      if (std::isfinite(rows.y[k])) order.push_back(k);
    }
    std::ranges::stable_sort(order, {}, [&](std::size_t k) { return rows.x[k]; });
    Series sorted{.name = rows.name, .point = rows.point, .x_name = rows.x_name, .x = {}, .y = {}};
    for (const std::size_t k : order) {
      sorted.x.push_back(rows.x[k]);
      sorted.y.push_back(rows.y[k]);
    }
    result.data.curves.push_back(
        {.theory = !points, .mean = std::move(sorted), .sem = {}, .sd = {}, .n = {}});
  }
  return result;
}

}  // namespace attica::app
