#include "attica/studies/measured.hpp"

#include <algorithm>
#include <variant>

namespace attica {

namespace {

/// Whether a parameter's value lies in the range, of a list every one; what is no number does.
bool within(const Value& value, const Range& range) {
  if (const auto* real = std::get_if<double>(&value)) return range.contains(*real);
  if (const auto* whole = std::get_if<std::int64_t>(&value))
    return range.contains(static_cast<double>(*whole));
  if (const auto* list = std::get_if<List>(&value))
    return std::ranges::all_of(*list, [&](const Value& one) { return within(one, range); });
  return true;
}

}  // namespace

void leave_out_unmeasured(const std::vector<MeasuredRange>& ranges,
                          const Configuration& configuration,
                          Prediction& prediction) {
  const Series& series = prediction.series;
  const auto leave_out = [&](std::size_t k) {
    if (prediction.compared.empty()) prediction.compared.assign(series.x.size(), true);
    prediction.compared[k] = false;
  };
  for (const MeasuredRange& measured : ranges) {
    if (std::ranges::find(measured.series, series.name) == measured.series.end()) continue;
    for (const auto& [key, range] : measured.parameters) {
      const std::string name = key.substr(key.find('.') + 1);
      const auto coordinate = std::ranges::find(series.point, name, &Point::value_type::first);
      const double* at =
          coordinate == series.point.end() ? nullptr : std::get_if<double>(&coordinate->second);
      const bool along = at == nullptr && series.x_name == name;
      const bool inside = at != nullptr
                              ? range.contains(*at)
                              : along || !configuration.declares(key) || !configuration.has(key) ||
                                    within(configuration.at(key), range);
      for (std::size_t k = 0; k < series.x.size(); ++k) {
        if (!inside || (along && !range.contains(series.x[k]))) leave_out(k);
      }
    }
  }
}

}  // namespace attica
