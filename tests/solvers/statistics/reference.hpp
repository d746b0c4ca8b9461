#pragma once
// Reference values of the statistics, computed independently (tests/reference/statistics.json), and
// its samples.

#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "reference_values.hpp"

namespace attica::testing {

/// "sym(40)": near-symmetric; "skw(20)": right-skewed.
inline std::vector<double> reference_sample(const std::string& name) {
  const std::string kind = name.substr(0, 3);
  std::vector<double> d(std::stoul(name.substr(4)));
  for (std::size_t i = 0; i < d.size(); ++i) {
    const auto r = static_cast<double>(i);
    d[i] = kind == "sym" ? 0.02 + 0.3 * std::sin(1.7 * r + 0.4 * r * r)
                         : std::exp(0.9 * std::sin(1.3 * r + 0.7 * r * r)) - 1.2;
  }
  return d;
}

}  // namespace attica::testing
