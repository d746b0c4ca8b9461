#include "attica/app/figures/table_curves.hpp"

#include <fmt/format.h>

#include <cmath>

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
  for (Prediction& prediction : sources::predictions(table, x)) {
    // Where there is no value, nothing is drawn.
    Series& series = prediction.series;
    std::size_t kept = 0;
    for (std::size_t k = 0; k < series.x.size(); ++k) {
      if (!std::isfinite(series.y[k])) continue;
      series.x[kept] = series.x[k];
      series.y[kept++] = series.y[k];
    }
    series.x.resize(kept);
    series.y.resize(kept);
    result.data.curves.push_back(
        {.theory = !points, .mean = prediction.series, .sem = {}, .sd = {}, .n = {}});
  }
  return result;
}

}  // namespace attica::app
