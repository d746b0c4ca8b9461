#include "attica/studies/sample_ratios.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>

#include "attica/core/error.hpp"

namespace attica {
namespace {

constexpr const char* kRatios = "sweep.alpha";
/// Of a ratio: below it a difference is rounding.
constexpr double kRealised = 1e-12;

}  // namespace

Configuration& with_distinct_ratios(Configuration& c, double inputs) {
  if (c.given(kRatios)) return c;
  std::map<std::int64_t, double> realised;
  const std::vector<double> asked = c.reals(kRatios);
  bool usable = true;  // each has a sample
  for (const double alpha : asked) {
    const std::int64_t samples = realised_samples(alpha, inputs);
    realised[samples] = static_cast<double>(samples) / inputs;
    usable = usable && alpha * inputs >= 1;
  }
  if (realised.size() == asked.size() && usable) return c;
  List ratios;
  for (const auto& [samples, alpha] : realised) ratios.emplace_back(alpha);
  c.set(kRatios, std::move(ratios), false);
  return c;
}

std::vector<std::string> rounded_ratios(const Configuration& c, const SampleSizes& sizes) {
  if (!c.given(kRatios)) return {};
  constexpr std::size_t kMostShown = 4;
  const double inputs = sizes.inputs();
  std::vector<std::string> shown;
  std::size_t count = 0;
  for (const double alpha : c.reals(kRatios)) {
    const std::int64_t samples = realised_samples(alpha, inputs);
    const double realised = static_cast<double>(samples) / inputs;
    if (std::abs(realised - alpha) <= kRealised * alpha) continue;
    if (++count <= kMostShown)
      shown.push_back(
          fmt::format("alpha = {} is run at M = {}, alpha = {:.4g}", alpha, samples, realised));
  }
  if (shown.empty()) return {};
  if (count > kMostShown) shown.push_back(fmt::format("and {} more", count - kMostShown));
  return {fmt::format(
      "sweep.alpha: samples are whole numbers of N = {:g}: {}", inputs, fmt::join(shown, "; "))};
}

std::vector<std::string> joined_lines(std::vector<std::string> first,
                                      const std::vector<std::string>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

void require_distinct_samples(const SampleSizes& sizes) {
  std::map<std::int64_t, double> first;
  const double inputs = sizes.inputs();
  for (const double alpha : sizes.alphas(TheoryGrid::requested)) {
    const std::int64_t samples = realised_samples(alpha, inputs);
    const auto [known, fresh] = first.try_emplace(samples, alpha);
    require(fresh || known->second == alpha,
            kRatios,
            alpha,
            fmt::format("ratios of different numbers of samples M: {} has M = {} too, N = {:g}",
                        known->second,
                        samples,
                        inputs));
  }
}

}  // namespace attica
