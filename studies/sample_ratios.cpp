#include "attica/studies/sample_ratios.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "attica/core/error.hpp"
#include "attica/studies/rounded_values.hpp"

namespace attica {
namespace {

constexpr const char* kRatios = "sweep.alpha";

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

SampleSizes swept_sizes(Configuration& c, double inputs, SampleCheck check) {
  constexpr double kMostSamples = 1e7;
  return {with_distinct_ratios(c, inputs).reals(kRatios), inputs, kMostSamples, kRatios, check};
}

std::vector<std::string> rounded_ratios(const Configuration& c, const SampleSizes& sizes) {
  const double inputs = sizes.inputs();
  std::vector<RunAt> values;
  for (const double alpha : c.reals(kRatios))
    values.push_back(at_whole_size("alpha", alpha, inputs, "M"));
  return RoundedValues(c,
                       kRatios,
                       "alpha",
                       fmt::format("samples are whole numbers of N = {:g}", inputs),
                       std::move(values))
      .lines();
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
