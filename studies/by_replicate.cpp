#include "attica/studies/by_replicate.hpp"

#include <fmt/format.h>

namespace attica {

std::vector<std::pair<std::uint64_t, double>> values_at(const Observed& observed,
                                                        const ObservedAt& at) {
  std::vector<std::pair<std::uint64_t, double>> all;
  const ObservedCurve* curve = observed.curve(at.series, at.point);
  if (curve == nullptr) return all;
  for (std::size_t k = 0; k < curve->values.size(); ++k) {
    if (at.x ? curve->mean.x[k] != *at.x : k + 1 != curve->values.size()) continue;
    for (std::size_t r = 0; r < curve->values[k].size(); ++r) {
      all.emplace_back(curve->replicates[k][r], curve->values[k][r]);
    }
  }
  return all;
}

void append(std::vector<bool>& all, const std::vector<bool>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

std::string listed(const std::vector<double>& values, std::string_view format) {
  std::string text;
  for (const double value : values) {
    text += (text.empty() ? "" : " ") + fmt::format(fmt::runtime(format), value);
  }
  return text;
}

}  // namespace attica
