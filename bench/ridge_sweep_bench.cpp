// One whole sweep of ridge regression in Gaussian masked modelling an iteration: L = 100 sites,
// ar1(0.7), 20 sizes M log-spaced on 10..1000, 10 penalties on 1e-3..10, 10 data sets each: 200 000
// fits with their exact test errors, the drawing of the data included. One thread, double. The
// peers are bench/peers/ridge_sweep_numpy.py and ridge_sweep_sklearn.py.

#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "attica/core/gauss/ensembles.hpp"
#include "attica/core/gauss/mlm.hpp"
#include "attica/sim/gauss/ridge.hpp"

namespace {

using namespace attica;

std::vector<double> log_spaced(double low, double high, int n) {
  std::vector<double> values;
  for (int k = 0; k < n; ++k) values.push_back(low * std::pow(high / low, k / (n - 1.0)));
  return values;
}

void ridge_sweep(benchmark::State& state) {
  constexpr Eigen::Index kSites = 100;
  constexpr std::uint64_t kSeeds = 10;
  const std::vector<double> sizes = log_spaced(10, 1000, 20);
  const std::vector<double> lambdas = log_spaced(1e-3, 10, 10);
  const Eigen::MatrixXd factor = GaussianMlm(ar1_covariance(kSites, 0.7)).factor();
  for (auto _ : state) {
    for (std::size_t point = 0; point < sizes.size(); ++point) {
      for (std::uint64_t replicate = 0; replicate < kSeeds; ++replicate) {
        RandomStream stream({.point = point, .replicate = replicate});
        const RidgeFits fits(gaussian_samples(factor, true, std::lround(sizes[point]), stream),
                             factor);
        for (const double lambda : lambdas) benchmark::DoNotOptimize(fits.fit(lambda));
      }
    }
  }
}
BENCHMARK(ridge_sweep)->Unit(benchmark::kMillisecond);

/// One data set and its fit with one penalty.
void ridge_fit(benchmark::State& state) {
  const Eigen::MatrixXd factor = GaussianMlm(ar1_covariance(state.range(0), 0.7)).factor();
  RandomStream stream({.seed = 1});
  for (auto _ : state) {
    const RidgeFits fits(gaussian_samples(factor, true, state.range(1), stream), factor);
    benchmark::DoNotOptimize(fits.fit(0.1));
  }
}
BENCHMARK(ridge_fit)
    ->Name("growth/ridge_fit/L")
    ->ArgNames({"L", "M"})
    ->Args({50, 50})
    ->Args({100, 100})
    ->Args({200, 200})
    ->Args({400, 400})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(ridge_fit)
    ->Name("growth/ridge_fit/M")
    ->ArgNames({"L", "M"})
    ->ArgsProduct({{50}, {1000, 4000, 16000}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
