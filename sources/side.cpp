#include "attica/sources/side.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "attica/core/error.hpp"
#include "attica/sources/keys.hpp"

namespace attica::sources {

const std::vector<SourceKind>& source_kinds() {
  static const std::vector<SourceKind> kinds = {file_kind(),
                                                command_kind(),
                                                study_kind(),
                                                expression_kind(),
                                                flow_kind(),
                                                map_kind(),
                                                solve_kind(),
                                                training_kind()};
  return kinds;
}

const SourceKind* kind_of(const Configuration& c, const std::string& side) {
  const SourceKind* found = nullptr;
  for (const SourceKind& kind : source_kinds()) {
    if (!kind.given(c, side)) continue;
    if (found != nullptr) {
      std::vector<std::string> keys;
      for (const SourceKind& one : source_kinds()) keys.push_back(one.key);
      throw Error(ErrorKind::input,
                  fmt::format("[{}] has '{}' and '{}'; expected one of {}",
                              side,
                              found->key,
                              kind.key,
                              fmt::join(keys, ", ")),
                  side + "." + kind.key);
    }
    found = &kind;
  }
  return found;
}

bool is_of_kind(const Configuration& c, const std::string& side, const std::string& key) {
  const SourceKind* kind = kind_of(c, side);
  return kind != nullptr && kind->key == key;
}

std::uint64_t Side::replicates_per_piece(std::size_t /*point*/) const {
  return std::numeric_limits<std::uint32_t>::max();
}

TableColumns columns_of(const Configuration& c, const std::string& side) {
  const auto text = [&](const std::string& key) {
    return c.has(key) ? c.text(key) : std::string();
  };
  TableColumns columns;
  if (side == "theory") {
    if (c.has("theory.value")) columns.values = {c.text("theory.value")};
    columns.replicate = text("simulation.replicate");
    return columns;
  }
  if (c.has("simulation.value")) columns.values = c.texts("simulation.value");
  columns.replicate = text("simulation.replicate");
  columns.sd = text("simulation.sd");
  columns.n = text("simulation.n");
  return columns;
}

void select_rows(const Configuration& c, OutsideTable& table) {
  // A key may have the name of such a column by chance (n, mean, sd in a formula of the theory),
  // but what it could mean of `series` and the replicates is a choice of rows alone.
  for (const std::string& column : table.other_columns) {
    const std::string key = "model." + column;
    if (!c.declares(key) || !c.has(key) || !is_scalar(c.at(key))) continue;
    const std::string what = fmt::format(
        "selects no rows of '{}', whose column '{}' is no coordinate", table.source, column);
    const bool numbers = c.has("simulation.replicate") && column == c.text("simulation.replicate");
    if (column != "series" && column != "replicate" && !numbers) {
      table.remarks.push_back(fmt::format("{} {}", key, what));
      continue;
    }
    throw Error(
        ErrorKind::input,
        fmt::format(
            "{} = {}: it {}; expected a table with the rows that are meant, and no such key",
            key,
            printed(c.at(key)),
            what),
        key);
  }
  for (const std::string& column : std::vector<std::string>(table.coordinates)) {
    const std::string key = "model." + column;
    if (!c.declares(key) || !c.has(key) || !is_scalar(c.at(key))) continue;
    const Value& value = c.at(key);
    const auto* number = std::get_if<double>(&value);
    keep_rows(table, column, number != nullptr ? CoordinateValue(*number) : printed(value));
  }
}

void sort_by_x(Prediction& p) {
  std::vector<std::size_t> order(p.series.x.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return p.series.x[a] < p.series.x[b];
  });
  const auto arrange = [&](auto& values) {
    if (values.empty()) return;
    auto copy = values;
    for (std::size_t k = 0; k < order.size(); ++k) copy[k] = values[order[k]];
    values = copy;
  };
  arrange(p.series.x);
  arrange(p.series.y);
  arrange(p.finite_size);
  arrange(p.numerical_error);
  arrange(p.compared);
}

}  // namespace attica::sources
