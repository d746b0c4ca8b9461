#include "attica/app/table_curves.hpp"

#include <algorithm>

#include "attica/app/results.hpp"
#include "attica/studies/own/table.hpp"

namespace attica::app {

bool has_column(std::string_view text, std::string_view name) {
  std::string_view rest = text;
  if (rest.starts_with("\xef\xbb\xbf")) rest.remove_prefix(3);
  while (rest.starts_with('#') && rest.find('\n') != std::string_view::npos)
    rest.remove_prefix(rest.find('\n') + 1);
  std::string_view header = rest.substr(0, rest.find('\n'));
  while (!header.empty()) {
    const auto end = std::min(header.find_first_of(",;\t"), header.size());
    std::string_view field = header.substr(0, end);
    field = field.substr(0, field.find('['));  // "alpha [samples per site]" is alpha
    while (!field.empty() && std::string_view(" \"\r").find(field.back()) != std::string_view::npos)
      field.remove_suffix(1);
    while (!field.empty() && std::string_view(" \"").find(field.front()) != std::string_view::npos)
      field.remove_prefix(1);
    if (field == name) return true;
    header.remove_prefix(std::min(end + 1, header.size()));
  }
  return false;
}

FigureData table_data(const std::string& text,
                      const std::string& shown,
                      const std::string& x,
                      bool points) {
  FigureData data;
  if (has_column(text, "replicate") || has_column(text, "mean")) {
    const own::OutsideTable table = own::read_table(
        text, shown, {.kind = own::TableKind::replicates, .x_name = x, .x_required = true});
    Replicates replicates;
    replicates.add({.first_replicate = 0, .outcomes = own::recorded_outcomes(table, x).outcomes},
                   {});
    replicates.finish();
    data.curves = recorded_curves({}, replicates);
  } else {
    const own::OutsideTable table = own::read_table(
        text, shown, {.kind = own::TableKind::theory, .x_name = x, .x_required = true});
    for (const Prediction& prediction : own::predictions(table, x)) {
      data.curves.push_back(
          {.theory = !points, .mean = prediction.series, .sem = {}, .sd = {}, .n = {}});
    }
  }
  return data;
}

}  // namespace attica::app
