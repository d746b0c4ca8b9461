#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "attica/core/gauss/ensembles.hpp"
#include "attica/theory/gauss/ridge.hpp"

namespace {

using namespace attica;

/// Site-averaged curves at three penalties, the decomposition of the covariance included.
void ridge_theory(benchmark::State& state) {
  const Eigen::Index sites = state.range(0);
  const std::int64_t points = state.range(1);
  const Eigen::MatrixXd covariance = ar1_covariance(sites, 0.7);
  std::vector<double> samples;
  for (std::int64_t j = 0; j < points; ++j) {
    const double log_alpha =
        std::log(0.1) + std::log(100.0) * static_cast<double>(j) / static_cast<double>(points - 1);
    samples.push_back(static_cast<double>(sites - 1) * std::exp(log_alpha));
  }
  for (auto _ : state) {
    const GaussianRidge ridge{GaussianMlm(covariance)};
    for (const double lambda : {1e-3, 0.1, 1.0}) {
      benchmark::DoNotOptimize(ridge.curve(samples, lambda));
    }
  }
}
BENCHMARK(ridge_theory)
    ->ArgNames({"L", "points"})
    ->Args({400, 1000})
    ->Unit(benchmark::kMillisecond);

}  // namespace
