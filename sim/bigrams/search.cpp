#include "attica/sim/bigrams/search.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/solvers/statistics/order_statistics.hpp"

namespace attica {

TargetRun run_to_target(BigramTrainer& trainer, const BigramStages& stages, double epsilon) {
  constexpr double kKept = 0.5;
  TargetRun run;
  double samples_before = 0;
  double error_before = 0;
  static_cast<void>(run_stages(trainer, stages, [&](std::int64_t n) {
    const double error = rounding_of(trainer.model(), rounded(trainer, kKept)).error();
    const double samples = trainer.samples();
    run.reached = n > 0 && error < epsilon;
    if (run.reached) {
      // An error that was infinite, or below the target already, tells nothing of the way.
      const bool known = std::isfinite(error_before) && error_before > epsilon;
      const double share =
          known ? std::log(error_before / epsilon) / std::log(error_before / error) : 1;
      run.crossing = samples_before + share * (samples - samples_before);
    }
    samples_before = samples;
    error_before = error;
    return !run.reached;
  }));
  run.samples = trainer.samples();
  return run;
}

BatchFound smallest_batch(const BatchSearch& search,
                          const std::function<TargetRun(double batch, std::uint64_t run)>& train,
                          const std::stop_token& stop) {
  require(search.first > 0, "first", search.first, "first > 0");
  require(search.ratio > 1, "ratio", search.ratio, "ratio > 1");
  require(search.runs > search.failures, "runs", search.runs, "more runs than failures");
  BatchFound result;
  const auto batch_at = [&](int b) {
    return std::max(1.0, std::round(search.first * std::pow(search.ratio, b + search.offset)));
  };
  const auto attempt = [&](double batch, std::uint64_t number) {
    std::vector<double> samples;
    int failures = 0;
    for (int k = 0; k < search.runs && failures <= search.failures; ++k) {
      const TargetRun run = train(batch, number + static_cast<std::uint64_t>(k));
      result.cap = std::max(result.cap, run.samples);
      if (run.reached) {
        samples.push_back(run.samples);
      } else {
        ++failures;
      }
    }
    if (failures > search.failures) return false;
    result.found = true;
    result.batch = batch;
    result.samples = median(std::move(samples));
    return true;
  };
  const auto runs = static_cast<std::uint64_t>(search.runs);
  int b = 0;
  while (b < search.batches && !stop.stop_requested() &&
         !attempt(batch_at(b), static_cast<std::uint64_t>(b) * runs)) {
    ++b;
  }
  if (b > 0 || !result.found) return result;
  // The first batch tells nothing of smaller ones. Their runs have numbers of their own, however
  // many of them there are.
  constexpr std::uint64_t kSmaller = std::uint64_t{1} << 32U;
  double last = result.batch;
  for (std::uint64_t down = 0; last > 1 && !stop.stop_requested(); ++down) {
    const double batch = batch_at(-1 - static_cast<int>(down));
    if (batch == last) continue;
    last = batch;
    const auto batches = static_cast<std::uint64_t>(search.batches);
    if (!attempt(batch, kSmaller * (1 + down / batches) + down % batches * runs)) break;
  }
  if (stop.stop_requested()) result.found = false;
  return result;
}

}  // namespace attica
